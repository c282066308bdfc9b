# The benchmark under each launcher; needs the benchmark and nothing that only its tests know.
if(TARGET ring_allreduce_bench AND NOT CMAKE_CROSSCOMPILING)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  foreach(way openmpi mpich torchrun slurm root_file root_port tcp)
    add_test(NAME launch_${way} COMMAND ${Python3_EXECUTABLE}
      ${CMAKE_CURRENT_SOURCE_DIR}/launchers.py ${way} $<TARGET_FILE:ring_allreduce_bench>)
    set_tests_properties(launch_${way} PROPERTIES LABELS multiprocess TIMEOUT 120 SKIP_RETURN_CODE 77)
  endforeach()
endif()
