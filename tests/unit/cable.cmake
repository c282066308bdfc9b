sircl_test(cable_channel unit SOURCES cable_channel.cpp LINK sircl_internal)
sircl_test(cable_hostile unit SOURCES cable_hostile.cpp LINK sircl_internal)
