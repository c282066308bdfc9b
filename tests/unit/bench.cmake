if(TARGET sircl_bench_common)
  sircl_test(bench_values unit SOURCES bench_values.cpp LINK sircl_internal sircl_bench_common)
  target_include_directories(test_bench_values PRIVATE ${PROJECT_SOURCE_DIR}/bench)
endif()
