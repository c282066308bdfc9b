sircl_test(topology_fabric unit SOURCES unit/topology_fabric.cpp LINK sircl_internal)
