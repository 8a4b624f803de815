//===- BatchScale.h - a learning rate for another batch ---------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_TRAINING_BATCHSCALE_H
#define DTC_LIB_RUNTIME_TRAINING_BATCHSCALE_H

#include <cstdint>
#include <string>

namespace dtc::rt {

/// What a learning rate that was found for one global batch is multiplied by
/// for another, by a rule "linear:256" or "sqrt:256", with k = batch / 256:
///   linear  k        of SGD (Goyal et al., arXiv 1706.02677)
///   sqrt    sqrt(k)  of Adam and its kin (Malladi et al., arXiv 2205.10287)
/// Throws an Error for another rule.
double scaleForBatch(const std::string &rule, int64_t batch);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_TRAINING_BATCHSCALE_H
