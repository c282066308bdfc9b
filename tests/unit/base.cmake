foreach(part bytes log)
  sircl_test(base_${part} unit SOURCES base_${part}.cpp LINK sircl_internal)
endforeach()
