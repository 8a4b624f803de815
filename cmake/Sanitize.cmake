# Sanitizers of clang's -fsanitize=. Programs that dtc links have the runtime's
# sanitizers, by libdtcrt.link. A finding ends the program.
set(DTC_SANITIZE "" CACHE STRING "address,undefined or thread; none if empty")

if(DTC_SANITIZE)
  set(DTC_SANITIZE_FLAGS -fsanitize=${DTC_SANITIZE} -fno-sanitize-recover=all)
  # Every executable contains the options and suppressions.
  set(DTC_SANITIZE_DEFAULTS ${PROJECT_SOURCE_DIR}/cmake/SanitizerDefaults.cpp)
  set(DTC_SANITIZE_NEEDS -Wl,-u,__lsan_default_suppressions)
  add_library(DTCSanitizerDefaults STATIC ${DTC_SANITIZE_DEFAULTS})
  target_link_options(DTCSanitizerDefaults INTERFACE
    $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:${DTC_SANITIZE_NEEDS}>)
endif()

# libFuzzer's instrumentation of everything, for test/Fuzz.
option(DTC_FUZZ "instrument for libFuzzer, and build its targets" OFF)
if(DTC_FUZZ)
  list(APPEND DTC_SANITIZE_FLAGS -fsanitize=fuzzer-no-link)
endif()

# dtc_sanitize(): sanitizes all targets that follow, in this folder and below. It
# does nothing without DTC_SANITIZE.
macro(dtc_sanitize)
  if(DTC_SANITIZE)
    add_compile_options(${DTC_SANITIZE_FLAGS} -fno-omit-frame-pointer -gline-tables-only)
    add_link_options(${DTC_SANITIZE_FLAGS})
    link_libraries(DTCSanitizerDefaults)
  endif()
endmacro()

# dtc_sanitize_runtime(): the same for the folders of the runtime and of the targets
# that link it. ThreadSanitizer is on only there.
macro(dtc_sanitize_runtime)
  if(DTC_SANITIZE STREQUAL "thread")
    dtc_sanitize()
  endif()
endmacro()
