sircl_test(relay_network unit SOURCES relay_network.cpp LINK sircl_internal)
