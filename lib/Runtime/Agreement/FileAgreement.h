//===- FileAgreement.h - what all ranks must read alike ---------*- C++ -*-===//
//
// Machines may have copies of the data of their own, one of them stale. Under a
// pipeline the first stage would then read inputs of one copy, and the last
// labels of another. So ranks compare what they read before the first step.
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

/// Which bytes are compared.
struct FileCoverage {
  /// All. Otherwise those of the smallest files, up to 256 MiB together; of
  /// each other file the first, the last, and blocks at random places.
  bool isWhole = false;
  uint64_t seed = 0; ///< of the places; the same on all ranks
};

/// A checksum of each file.
std::vector<uint64_t> checksums(const std::vector<ComparedFile> &files,
                                const FileCoverage &coverage);

/// Throws the same Error on all ranks if some have other files than rank 0: it
/// names the lowest of them, and the first file that differs. Met by all ranks.
void expectSameFiles(const std::vector<ComparedFile> &files,
                     const FileCoverage &coverage, Collectives &collectives);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_AGREEMENT_FILEAGREEMENT_H
