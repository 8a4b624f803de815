//===- LauncherMessages.h - mpirun's messages about a failed job *- C++ -*-===//
//
// When a rank fails, mpirun prints paragraphs between lines of dashes after the
// rank's error. They only say that a process has failed, so --nproc hides them,
// and the error is the last line.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_LAUNCH_LAUNCHERMESSAGES_H
#define DTC_LIB_RUNTIME_LAUNCH_LAUNCHERMESSAGES_H

#include <string>
#include <string_view>

namespace dtc::rt {

/// Filters the lines of mpirun's standard error.
class LauncherMessages {
public:
  /// Takes the next part of the stream, in any pieces. Returns the text to
  /// show.
  std::string add(std::string_view text);

  /// Returns the rest at the end of the stream. If the job failed and no rank
  /// reported the reason, this is mpirun's last paragraph about it, in one
  /// line.
  std::string finish(const std::string &program, bool failed);

private:
  std::string addLine(const std::string &line);

  std::string rest;      ///< of a line that has not ended
  std::string paragraph; ///< since a line of dashes
  bool isInParagraph = false;
  std::string failure;   ///< the last paragraph that was left out, as a line
  bool hasError = false; ///< some rank said why
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_LAUNCH_LAUNCHERMESSAGES_H
