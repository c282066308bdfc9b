foreach(part functions message state loopback)
  sircl_test(probe_${part} unit SOURCES probe_${part}.cpp LINK sircl_internal)
endforeach()
