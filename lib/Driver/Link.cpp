//===- Link.cpp - from object files to executable -------------------------===//
//
// Calls the system's compiler driver with the runtime's link line.
//
//===----------------------------------------------------------------------===//

#include "Fail.h"
#include "dtc/Driver/Driver.h"
#include "dtc/Support/RunTool.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace mlir;
using namespace dtc;

LogicalResult dtc::linkProgram(ArrayRef<std::string> objects,
                               const Target &target, StringRef runtimeDir,
                               OutputFile &output) {
  // An absolute path cannot be taken for an option or a response file.
  llvm::SmallString<128> archive(runtimeDir);
  if (std::error_code error = llvm::sys::fs::make_absolute(archive))
    return fail("--runtime-dir: " + error.message());
  llvm::sys::path::append(archive, target.getRuntimeArchive());
  llvm::SmallString<128> line(archive);
  llvm::sys::path::replace_extension(line, ".link");
  for (StringRef file : {line.str(), archive.str()})
    if (!llvm::sys::fs::exists(file))
      return fail("found no " + file +
                  "; build dtc with all of its runtimes (DTC_CUDA=ON for "
                  "GPUs), or say where it is with "
                  "--runtime-dir");
  llvm::ErrorOr<std::string> driver =
      std::make_error_code(std::errc::no_such_file_or_directory);
  for (StringRef name : {"clang++-22", "clang++", "g++", "c++"})
    if (!driver)
      driver = llvm::sys::findProgramByName(name);
  if (!driver)
    return fail("found no compiler driver to link with (clang++-22, clang++, "
                "g++ or c++); install one");

  std::string response = ("@" + line).str();
  SmallVector<StringRef> command = {*driver};
  // gold takes less than half the time of ld. lld is as fast, but when the disk
  // is full it crashes and leaves files behind.
  if (llvm::sys::findProgramByName("ld.gold"))
    command.push_back("-fuse-ld=gold");
  llvm::append_range(command, objects);
  command.append({archive, response, "-o", output.getTemporary()});
  llvm::Expected<ToolResult> result = runTool(command);
  if (!result)
    return fail(llvm::toString(result.takeError()));
  if (result->code == 0) {
    llvm::errs() << result->said; // warnings
    return success();
  }
  return fail("linking " + output.getPath() + " failed: " + *driver +
              " exited with code " + llvm::Twine(result->code) +
              (result->problem.empty() ? "" : " (" + result->problem + ")"));
}
