sircl_test(topology_fabric unit SOURCES topology_fabric.cpp LINK sircl_internal)
