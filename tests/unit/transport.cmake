foreach(part frame shm)
  sircl_test(transport_${part} unit SOURCES transport_${part}.cpp LINK sircl_internal)
endforeach()
