//===- ParameterTable.h - the weights beside the IR -------------*- C++ -*-===//
//
// Weights never enter the IR: the importer returns this table with the module,
// one entry per argument with `dtc.parameter`. Elements stay where the model
// has them, memory-mapped or in the parsed protobuf.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_PARAMETERTABLE_H
#define DTC_FRONTEND_PARAMETERTABLE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dtc {

enum class ParameterType { F32, F64 };

struct Parameter {
  /// A tensor of the ONNX model that is this parameter. Tied tensors are
  /// several; a transposed one holds the two dimensions in reverse.
  struct Source {
    std::string name;
    bool transposed = false;
  };

  /// The name in the IR, in checkpoints and on the command line.
  std::string name;
  ParameterType dtype = ParameterType::F32;
  llvm::SmallVector<int64_t, 4> shape;
  /// False when the model states type and shape only: `--init` sets it.
  bool hasData = true;
  /// False if the model says that it requires no gradient.
  bool isTrained = true;
  /// Little-endian elements in row-major order.
  llvm::ArrayRef<char> bytes;
  /// The elements are stored as those of the transpose, a matrix.
  bool transposed = false;
  /// The external file that `bytes` map, and where in it; else empty.
  std::string file;
  uint64_t offset = 0;
  /// The first is the one whose elements `bytes` are.
  llvm::SmallVector<Source, 1> sources;
  /// Other names of it in the state dict of the model, as tied tensors have.
  std::vector<std::string> aliases;

  uint64_t byteSize() const;
  /// Whether an element is NaN or infinite.
  bool hasNotFinite() const;
};

/// A tensor of the model's state dict that is not trained, nor in the IR:
/// programs save it with the weights.
struct Buffer {
  std::string name;
  /// As safetensors names it: "F32", "I64".
  llvm::StringRef dtype;
  llvm::SmallVector<int64_t, 4> shape;
  llvm::ArrayRef<char> bytes;
};

struct ParameterTable {
  std::vector<Parameter> parameters;
  std::vector<Buffer> buffers;
  /// What `bytes` point into.
  std::vector<std::shared_ptr<const void>> owners;

  const Parameter *find(llvm::StringRef name) const;
};

/// Writes the parameters that have data and the buffers as a safetensors file,
/// streaming.
void writeSafetensors(llvm::raw_ostream &os, const ParameterTable &table);

} // namespace dtc

#endif // DTC_FRONTEND_PARAMETERTABLE_H
