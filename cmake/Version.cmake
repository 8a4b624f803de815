# dtc-version: an object library with the version that tools and training
# programs print. The number is the project's. A git checkout adds the commit at
# which the build folder was configured.

set(version ${PROJECT_VERSION})
find_package(Git QUIET)
if(GIT_FOUND AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
  execute_process(
    COMMAND ${GIT_EXECUTABLE} describe --always --abbrev=12 --tags
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET)
  if(commit AND NOT commit STREQUAL "v${version}")
    string(APPEND version " (${commit})")
  endif()
endif()

add_library(dtc-version OBJECT ${PROJECT_SOURCE_DIR}/lib/Support/Version.cpp)
target_include_directories(dtc-version PUBLIC ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(dtc-version PRIVATE "DTC_VERSION=\"${version}\"")
