# The files that `cmake --install` copies (docs/Installation.md). No file names the
# installation folder, so the folder can be moved. lib/Runtime installs the
# runtime's archives.
include(CMakePackageConfigHelpers)

find_program(HELP2MAN help2man REQUIRED)
set(install_sources ${PROJECT_SOURCE_DIR}/cmake/install)

# dtc_install_tool(NAME): installs an executable, its man page and its completion in
# bash and zsh. Both are made from its --help.
function(dtc_install_tool name)
  install(TARGETS ${name} RUNTIME DESTINATION bin)

  set(page ${PROJECT_BINARY_DIR}/man/${name}.1)
  add_custom_command(OUTPUT ${page}
    COMMAND ${CMAKE_COMMAND} -E env HELP2MAN=${HELP2MAN}
      ${install_sources}/man-page.sh $<TARGET_FILE:${name}> ${PROJECT_VERSION} ${page}
    DEPENDS ${name} ${install_sources}/man-page.sh
    COMMENT "Writing ${name}.1")
  add_custom_target(${name}-man ALL DEPENDS ${page})
  install(FILES ${page} DESTINATION share/man/man1)

  file(READ ${install_sources}/options.awk options_awk)
  foreach(shell bash zsh)
    configure_file(${install_sources}/completion.${shell}.in
      ${PROJECT_BINARY_DIR}/completion/${name}.${shell} @ONLY)
  endforeach()
  install(FILES ${PROJECT_BINARY_DIR}/completion/${name}.bash
    DESTINATION share/bash-completion/completions RENAME ${name})
  install(FILES ${PROJECT_BINARY_DIR}/completion/${name}.zsh
    DESTINATION share/zsh/vendor-completions RENAME _${name})
endfunction()

# The functions that generated code may call, and the symbols that an object file
# exports.
install(FILES ${PROJECT_SOURCE_DIR}/include/dtc/Runtime/ABI.h
  ${PROJECT_SOURCE_DIR}/include/dtc/Runtime/DeviceABI.h
  DESTINATION include/dtc/Runtime)

# find_package(dtc)
configure_package_config_file(${install_sources}/dtcConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/dtcConfig.cmake
  INSTALL_DESTINATION lib/cmake/dtc
  NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/dtcConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/dtcConfig.cmake
  ${PROJECT_BINARY_DIR}/package/dtcConfigVersion.cmake
  DESTINATION lib/cmake/dtc)

install(FILES LICENSE README.md CHANGELOG.md DESTINATION share/doc/dtc)
install(DIRECTORY docs DESTINATION share/doc/dtc)
