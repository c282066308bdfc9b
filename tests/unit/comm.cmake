foreach(part metrics notices selection validate)
  sircl_test(comm_${part} unit SOURCES comm_${part}.cpp LINK sircl_internal)
endforeach()
