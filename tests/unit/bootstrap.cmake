foreach(part agreement group launch protocol root_file strangers)
  sircl_test(bootstrap_${part} unit SOURCES bootstrap_${part}.cpp LINK sircl_internal)
endforeach()
