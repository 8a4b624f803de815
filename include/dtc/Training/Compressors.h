//===- Compressors.h - table of gradient compressors ------------*- C++ -*-===//
//
// A compressor turns a tensor into codes that take fewer bytes. Decoding them
// gives an approximation of the tensor. docs/Architecture/Exchange.md has the
// bound of each error and its source.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TRAINING_COMPRESSORS_H
#define DTC_TRAINING_COMPRESSORS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace dtc {

enum class CompressorKind { TopK, RandK, Sign, Int8, Int4, Qsgd, PowerSgd };

/// The meaning of the number after a compressor's name.
enum class CompressorNumber {
  None,
  Ratio,  ///< the share of elements that are sent, above 0 and at most 1
  Levels, ///< quantisation levels beside zero, of each sign
  Rank,   ///< the rank of both factors
};

struct CompressorTraits {
  CompressorKind kind;
  const char *name;
  CompressorNumber number;
  /// Elements that share a scale; 1: none do. Codes of blocks are exchanged all
  /// to all, so that each rank adds those of its part.
  int64_t block = 1;
  int bits = 0; ///< of an element's code, where each element has one

  bool hasBlocks() const { return block > 1; }
};

/// A compressor with its number, as `--compress` names it.
struct Compressor {
  const CompressorTraits *traits;
  double number = 0;

  /// Parses "topk:0.01", "int8", ...; returns none for "none".
  static llvm::Expected<std::optional<Compressor>> parse(llvm::StringRef text);

  /// Bits of an element's code: those of the table, but no more than QSGD's
  /// levels need.
  int getBits() const;
  /// The number of `size` elements that a sparse compressor sends.
  int64_t getCount(int64_t size) const;
};

/// The use of the errors of codes, as `--error-feedback` names it.
struct ErrorFeedback {
  enum Kind {
    Off,
    Residual, ///< errors are added to the next terms
    Estimate, ///< codes are those of changes of the terms (EF21)
    Momentum, ///< errors are those of a velocity of each rank (DGC)
  };
  Kind kind = Residual;
  double momentum = 0; ///< of the velocity

  /// Parses "on", "ef21", "dgc:0.9" or "off".
  static llvm::Expected<ErrorFeedback> parse(llvm::StringRef text);
};

/// The elements that share a scale in a compressor of this name, 1 if none do
/// or there is no such compressor.
int64_t getBlockSize(llvm::StringRef text);

} // namespace dtc

#endif // DTC_TRAINING_COMPRESSORS_H
