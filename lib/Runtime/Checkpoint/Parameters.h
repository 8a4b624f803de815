//===- Parameters.h - initial values, saved tensors -------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_CHECKPOINT_PARAMETERS_H
#define DTC_LIB_RUNTIME_CHECKPOINT_PARAMETERS_H

#include "Agreement/FileAgreement.h"
#include "Device/Arena.h"
#include "Program/Context.h"
#include "System/ReservedSpace.h"

namespace dtc::rt {

/// The path of the weights, for a program that has them in a file of its own.
std::string pathOfWeights(const Program &program);

/// Throws the same Error on all ranks if a rank starts from other weights than
/// rank 0: the file at `path`, or the program's weights. Does not report a file
/// that cannot be opened, because loading does. All ranks call this.
void expectSameWeights(const Program &program, const std::string &path,
                       const FileCoverage &coverage, Collectives &collectives);

/// Fills the parameters of this rank's stage, and their moving averages, from
/// the weights file or by their rule; if `path` is not empty, from that file.
/// The numbers depend on the seed and the parameter, not on the plan. Throws an
/// Error if a file does not fit.
void loadParameters(const dtc_context &context, Arena &arena, uint64_t seed,
                    const std::string &path = {});

/// `averages` are moving averages of weights, and weights that are frozen.
enum class TensorKind { weights, averages, gradients };

/// Throws an Error if there is no room for such a file. For rank 0.
ReservedSpace reserveTensors(const Program &program, TensorKind kind,
                             const std::string &path);

/// Collects the tensors of all stages on rank 0, which writes them to `path`
/// under the model's names, divided by `divisor`. All ranks call this; throws
/// on rank 0 only.
void saveTensors(const dtc_context &context, const Arena &arena,
                 TensorKind kind, const std::string &path, double divisor = 1);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_CHECKPOINT_PARAMETERS_H
