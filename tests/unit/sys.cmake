foreach(part host netlink shared_memory socket)
  sircl_test(sys_${part} unit SOURCES sys_${part}.cpp LINK sircl_internal)
endforeach()
