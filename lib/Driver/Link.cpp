//===- Link.cpp - from object file to executable --------------------------===//
//
// Calls the system's compiler driver with the runtime's link line.
//
//===----------------------------------------------------------------------===//

#include "Fail.h"
#include "dtc/Driver/Driver.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace mlir;
using namespace dtc;

LogicalResult dtc::linkProgram(StringRef object, const Target &target,
                               StringRef runtimeDir, StringRef output) {
  llvm::SmallString<128> archive(runtimeDir), line(runtimeDir);
  llvm::sys::path::append(archive, target.getRuntimeArchive());
  llvm::sys::path::append(line, target.getRuntimeArchive());
  llvm::sys::path::replace_extension(line, ".link");
  for (StringRef file : {line.str(), archive.str()})
    if (!llvm::sys::fs::exists(file))
      return fail("found no " + file +
                  "; build dtc with all of its runtimes (DTC_CUDA=ON for "
                  "GPUs), or say where it is with "
                  "--runtime-dir");
  llvm::ErrorOr<std::string> linker =
      std::make_error_code(std::errc::no_such_file_or_directory);
  for (StringRef name : {"clang++-22", "clang++", "g++", "c++"})
    if (!linker)
      linker = llvm::sys::findProgramByName(name);
  if (!linker)
    return fail("found no compiler driver to link with (clang++-22, clang++, "
                "g++ or c++); install one");

  std::string response = ("@" + line).str();
  SmallVector<StringRef> arguments = {*linker,  object, archive,
                                      response, "-o",   output};
  // The linker's own messages are many lines, of which the first says why.
  llvm::SmallString<128> log;
  if (std::error_code error =
          llvm::sys::fs::createTemporaryFile("dtc-link", "log", log))
    return fail("cannot write a temporary file: " + error.message());
  llvm::FileRemover remover(log);
  std::string message;
  int code = llvm::sys::ExecuteAndWait(*linker, arguments, std::nullopt,
                                       {std::nullopt, StringRef(log), log}, 0,
                                       0, &message);
  auto text = llvm::MemoryBuffer::getFile(log);
  StringRef said = text ? (*text)->getBuffer() : StringRef();
  if (code == 0) {
    llvm::errs() << said; // warnings
    return success();
  }
  if (message.empty())
    message = said.split('\n').first.str();
  return fail("linking " + output + " failed: " + *linker +
              " exited with code " + llvm::Twine(code) +
              (message.empty() ? "" : " (" + message + ")"));
}
