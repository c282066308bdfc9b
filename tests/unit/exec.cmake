foreach(part board_plan operation placed point_to_point waiter)
  sircl_test(exec_${part} unit SOURCES exec_${part}.cpp LINK sircl_internal)
endforeach()
