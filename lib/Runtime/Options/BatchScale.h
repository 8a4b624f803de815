//===- BatchScale.h - a learning rate for another batch ---------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_OPTIONS_BATCHSCALE_H
#define DTC_LIB_RUNTIME_OPTIONS_BATCHSCALE_H

#include <cstdint>
#include <string>

namespace dtc::rt {

/// The factor of a learning rate that was found for one global batch and is
/// used for another, with k = batch / reference:
///   linear  k        for SGD (Goyal et al., arXiv 1706.02677)
///   sqrt    sqrt(k)  for Adam and its kin (Malladi et al., arXiv 2205.10287)
struct BatchScale {
  bool isLinear;     ///< or by the square root
  int64_t reference; ///< the batch that the rate was found for

  /// Parses "linear:256" or "sqrt:256". Throws an Error for other text.
  static BatchScale parse(const std::string &text);
  double factor(int64_t batch) const;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_OPTIONS_BATCHSCALE_H
