foreach(part parse registry settings)
  sircl_test(config_${part} unit SOURCES config_${part}.cpp LINK sircl_internal)
endforeach()
target_compile_definitions(test_config_registry PRIVATE
  SIRCL_CONFIG_README="${PROJECT_SOURCE_DIR}/lib/config/README.md")
