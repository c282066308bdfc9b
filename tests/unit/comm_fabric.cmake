sircl_test(comm_fabric_state unit SOURCES comm_fabric_state.cpp LINK sircl_internal)
