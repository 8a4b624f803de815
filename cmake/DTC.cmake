# Helpers for all folders: compiler libraries, generated headers, tests.

# dtc_llvm_options(TARGET): turns exceptions off as in LLVM; RTTI follows LLVM.
# Executables have the options of libraries, so that all can share precompiled
# headers.
function(dtc_llvm_options name)
  target_compile_options(${name} PRIVATE -fno-exceptions -fPIC)
  if(NOT LLVM_ENABLE_RTTI)
    target_compile_options(${name} PRIVATE -fno-rtti)
  endif()
endfunction()

# dtc_compiler_options(TARGET): the options of sources that include MLIR's headers.
# The build generates headers before it compiles TARGET.
function(dtc_compiler_options name)
  add_dependencies(${name} DTCHeaders)
  dtc_llvm_options(${name})
  target_precompile_headers(${name} REUSE_FROM DTCPrecompiled)
endfunction()

# dtc_add_library(NAME SOURCES... [LINK...]): a static library of the compiler.
function(dtc_add_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  dtc_compiler_options(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR LLVM)
endfunction()

# dtc_add_unit_test(NAME SOURCES... [LINK...]): an executable of GoogleTest that
# links the compiler's libraries.
function(dtc_add_unit_test name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  find_package(GTest REQUIRED CONFIG)
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  dtc_compiler_options(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest_main)
endfunction()

# dtc_tablegen(TARGET FILE.td OUTPUT FLAGS... [OUTPUT FLAGS...]): runs
# mlir-tblgen and adds the result to DTCHeaders.
macro(dtc_tablegen target file)
  set(LLVM_TARGET_DEFINITIONS ${file})
  set(_args ${ARGN})
  while(_args)
    list(POP_FRONT _args _output _flags)
    string(REPLACE " " ";" _flags "${_flags}")
    mlir_tablegen(${_output} ${_flags})
  endwhile()
  add_public_tablegen_target(${target})
  add_dependencies(DTCHeaders ${target})
endmacro()

# dtc_doc(FILE.td OUTPUT.md FLAGS...): generated docs, in docs/ of the build
# folder, made by the target dtc-doc.
macro(dtc_doc file output)
  set(LLVM_TARGET_DEFINITIONS ${file})
  mlir_tablegen(${output} ${ARGN})
  set(TABLEGEN_OUTPUT)
  add_custom_target(dtc-doc-${output}
    COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_CURRENT_BINARY_DIR}/${output} ${PROJECT_BINARY_DIR}/docs/${output}
    DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${output})
  add_dependencies(dtc-doc dtc-doc-${output})
endmacro()

# dtc_add_test(NAME COMMAND ARGUMENTS... [PROCESSORS N] [TIMEOUT SECONDS]): a
# test of ctest. TIMEOUT is for a release build. In a sanitized build the test runs
# before the test that looks for reports.
function(dtc_add_test name)
  cmake_parse_arguments(ARG "" "PROCESSORS;TIMEOUT" "" ${ARGN})
  add_test(NAME ${name} COMMAND ${ARG_UNPARSED_ARGUMENTS})
  if(ARG_PROCESSORS)
    set_tests_properties(${name} PROPERTIES PROCESSORS ${ARG_PROCESSORS})
  endif()
  if(ARG_TIMEOUT)
    math(EXPR timeout "${ARG_TIMEOUT} * ${DTC_TIMEOUT_FACTOR}")
    set_tests_properties(${name} PROPERTIES TIMEOUT ${timeout})
  endif()
  if(DTC_SANITIZE)
    set_tests_properties(${name} PROPERTIES FIXTURES_REQUIRED findings)
  endif()
endfunction()
