# One object library per folder of lib/; sircl (shared) and sircl_internal (static, for tests) are made of them.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

add_library(sircl_flags INTERFACE)
target_compile_options(sircl_flags INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor
  $<$<BOOL:${SIRCL_WERROR}>:-Werror>)
if(SIRCL_SANITIZE)
  target_compile_options(sircl_flags INTERFACE -fsanitize=${SIRCL_SANITIZE} -fno-omit-frame-pointer -g1
    -fno-sanitize-recover=all)
  target_link_options(sircl_flags INTERFACE -fsanitize=${SIRCL_SANITIZE})
  # Compilers do not agree on how to ask which sanitizer is there: SIRCL_SANITIZED_THREAD, ...
  string(REPLACE "," ";" sanitizers ${SIRCL_SANITIZE})
  foreach(sanitizer ${sanitizers})
    string(TOUPPER ${sanitizer} sanitizer)
    target_compile_definitions(sircl_flags INTERFACE SIRCL_SANITIZED SIRCL_SANITIZED_${sanitizer})
  endforeach()
endif()

# sircl_layer(NAME SOURCES... [LINK libs...])
function(sircl_layer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(sircl_${name} OBJECT ${ARG_SOURCES})
  set_target_properties(sircl_${name} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(sircl_${name} PRIVATE ${PROJECT_SOURCE_DIR}/lib ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(sircl_${name} PRIVATE sircl_flags Threads::Threads fmt::fmt ${ARG_LINK})
  set_property(GLOBAL APPEND PROPERTY SIRCL_LAYERS sircl_${name})
endfunction()
