# The code of README.md. A sanitized library does not link into programs that are not.
if(TARGET ring_allreduce_bench AND NOT SIRCL_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  add_test(NAME readme_examples COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/examples.py
    ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/include $<TARGET_FILE:sircl>
    $<TARGET_FILE_DIR:ring_allreduce_bench> ${CMAKE_C_COMPILER} ${CMAKE_CXX_COMPILER})
  set_tests_properties(readme_examples PROPERTIES LABELS "multiprocess;install" TIMEOUT 300)
endif()
