# Finds NVIDIA's headers, for the runtime of GPU programs. DTC_CUDA is ON if all of
# them exist; tools/setup.sh --cuda downloads them into the build folder.

# NVIDIA's assembler: with it, programs have machine code in addition to PTX.
find_program(DTC_PTXAS ptxas HINTS $ENV{CUDA_HOME}/bin
  PATHS ${PROJECT_SOURCE_DIR}/build/cuda/bin /usr/local/cuda/bin)
mark_as_advanced(DTC_PTXAS)

option(DTC_CUDA "build the runtime of programs for NVIDIA GPUs" ON)

set(DTC_CUDA_INCLUDE_DIRS)
if(DTC_CUDA)
  set(missing)
  foreach(header cuda cublasLt cudnn nccl)
    find_path(DTC_${header}_INCLUDE_DIR ${header}.h
      HINTS $ENV{CUDA_HOME}/include
      PATHS ${PROJECT_SOURCE_DIR}/build/cuda/include /usr/local/cuda/include)
    mark_as_advanced(DTC_${header}_INCLUDE_DIR)
    if(DTC_${header}_INCLUDE_DIR)
      list(APPEND DTC_CUDA_INCLUDE_DIRS ${DTC_${header}_INCLUDE_DIR})
    else()
      list(APPEND missing ${header}.h)
    endif()
  endforeach()
  list(REMOVE_DUPLICATES DTC_CUDA_INCLUDE_DIRS)
  # Earlier versions compute wrong attention.
  if(DTC_cudnn_INCLUDE_DIR)
    file(STRINGS ${DTC_cudnn_INCLUDE_DIR}/cudnn_version.h version REGEX "define CUDNN_(MAJOR|MINOR)")
    string(REGEX REPLACE ".*MAJOR ([0-9]+).*MINOR ([0-9]+).*" "\\1.\\2" version "${version}")
    if(version VERSION_LESS 9.16)
      list(APPEND missing "cudnn.h of 9.16 or later")
    endif()
  endif()
  if(missing)
    list(JOIN missing ", " missing)
    message(STATUS "No programs for GPUs: found no ${missing}; tools/setup.sh --cuda brings them")
    set(DTC_CUDA OFF)
  endif()
endif()
