foreach(part dispatch fuzz rounding values)
  sircl_test(reduce_${part} unit SOURCES reduce_${part}.cpp LINK sircl_internal)
endforeach()
