sircl_test(placement unit SOURCES placement.cpp LINK sircl_internal)
