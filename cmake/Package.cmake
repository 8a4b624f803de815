# `cpack -G DEB` in the build folder makes a Debian package of the files that
# `cmake --install` copies. tools/package-check.sh installs it in a clean root.

set(CPACK_PACKAGE_NAME dtc)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "compiles ONNX models into distributed training programs")
set(CPACK_PACKAGE_DESCRIPTION "dtc makes an executable of an ONNX model that trains it on many ranks, with data, tensor, pipeline and sequence parallelism and ZeRO. Neither compiling nor training needs Python.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The dtc authors <maintainers@dtc.invalid>")
# dpkg-shlibdeps finds the libraries of the tools, but libLLVM not always: the link
# to it in /usr/lib/llvm-22/lib belongs to llvm-22-dev, and dpkg-shlibdeps checks
# one of the two packages by chance. The other dependencies are the libraries in
# libdtcrt.link, and the tools that link and start programs.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS
  "libllvm22, g++ | clang-22, libopenmpi-dev, openmpi-bin, libgloo-dev, libdnnl-dev, libgomp1")
# Programs for GPUs open these when they start.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libcuda1, nvidia-cuda-toolkit")
# device-tree-compiler also has a /usr/bin/dtc.
set(CPACK_DEBIAN_PACKAGE_CONFLICTS device-tree-compiler)
include(CPack)
