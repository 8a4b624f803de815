# Helpers shared by all folders: a compiler library, and TableGen'd headers.

# dtc_add_library(NAME SOURCES... [DEPENDS...] [LINK...]): a static library of
# the compiler. Generated headers are built before it; exceptions are off as in
# LLVM, RTTI follows LLVM.
function(dtc_add_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  set(_present)  # BRINGUP: sources being written by several hands
  foreach(_source ${ARG_UNPARSED_ARGUMENTS})
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${_source})
      list(APPEND _present ${_source})
    endif()
  endforeach()
  if(NOT _present)
    file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/empty.cpp "")
    list(APPEND _present ${CMAKE_CURRENT_BINARY_DIR}/empty.cpp)
  endif()
  add_library(${name} STATIC ${_present})
  add_dependencies(${name} DTCHeaders ${ARG_DEPENDS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR LLVM)
  target_compile_options(${name} PRIVATE -fno-exceptions)
  if(NOT LLVM_ENABLE_RTTI)
    target_compile_options(${name} PRIVATE -fno-rtti)
  endif()
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
