//===- FileAgreement.h - files that all ranks must have alike ---*- C++ -*-===//
//
// Each machine may have its own copy of the data, and one copy may be stale.
// Under a pipeline the first stage would then read inputs of one copy, and the
// last stage labels of another. So ranks compare the files before the first
// step.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_AGREEMENT_FILEAGREEMENT_H
#define DTC_LIB_RUNTIME_AGREEMENT_FILEAGREEMENT_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dtc::rt {

class Collectives;

struct ComparedFile {
  std::string name; ///< the same on all ranks, wherever the file is
  std::string_view bytes;
};

/// The bytes that ranks compare.
struct FileCoverage {
  /// Compare all bytes. Otherwise ranks compare all bytes of the smallest
  /// files, up to 256 MiB in total, and of each other file the first block, the
  /// last block, and blocks at random places.
  bool isWhole = false;
  uint64_t seed = 0; ///< of the places; the same on all ranks
};

/// A checksum of each file.
std::vector<uint64_t> checksums(const std::vector<ComparedFile> &files,
                                const FileCoverage &coverage);

/// Throws the same Error on all ranks if a rank has other files than rank 0.
/// The error names the lowest such rank, and the first file that differs. All
/// ranks call this.
void expectSameFiles(const std::vector<ComparedFile> &files,
                     const FileCoverage &coverage, Collectives &collectives);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_AGREEMENT_FILEAGREEMENT_H
