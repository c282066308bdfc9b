sircl_test(comm_settings unit SOURCES comm_settings.cpp comm_settings_pin.cpp LINK sircl_internal)
target_compile_definitions(test_comm_settings PRIVATE SIRCL_README="${PROJECT_SOURCE_DIR}/README.md")
