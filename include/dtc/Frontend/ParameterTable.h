//===- ParameterTable.h - weights beside the IR -----------------*- C++ -*-===//
//
// Weights never enter the IR. The importer returns this table with the module:
// one entry for each argument that has `dtc.parameter`. The elements are not
// copied: they stay in the memory-mapped file or in the parsed protobuf.
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
  /// A tensor of the ONNX model that holds this parameter. A tied parameter has
  /// several. `transposed`: the tensor has the two dimensions in reverse order.
  struct Source {
    std::string name;
    bool transposed = false;
  };

  /// The name in the IR, in checkpoints and on the command line.
  std::string name;
  ParameterType dtype = ParameterType::F32;
  llvm::SmallVector<int64_t, 4> shape;
  /// False if the model states only type and shape. `--init` sets it.
  bool hasData = true;
  /// False if the model says that the parameter needs no gradient.
  bool isTrained = true;
  /// Little-endian elements in row-major order.
  llvm::ArrayRef<char> bytes;
  /// Whether `bytes` holds the transpose of the parameter, a matrix.
  bool transposed = false;
  /// The external file that `bytes` maps, and the offset in it. Empty if the
  /// elements are inside of the model file.
  std::string file;
  uint64_t offset = 0;
  /// `bytes` holds the elements of the first one.
  llvm::SmallVector<Source, 1> sources;
  /// Other names of the parameter in the model's state dict. Tied tensors have
  /// several names.
  std::vector<std::string> aliases;

  /// Size of all elements in bytes.
  uint64_t byteSize() const;
  /// Whether an element is NaN or infinite.
  bool hasNotFinite() const;
};

/// A tensor of the model's state dict that is neither trained nor in the IR.
/// Programs save it together with the weights.
struct Buffer {
  std::string name;
  /// Name of the element type in safetensors: "F32", "I64".
  llvm::StringRef dtype;
  llvm::SmallVector<int64_t, 4> shape;
  llvm::ArrayRef<char> bytes;
};

struct ParameterTable {
  std::vector<Parameter> parameters;
  std::vector<Buffer> buffers;
  /// Memory that `bytes` point into.
  std::vector<std::shared_ptr<const void>> owners;

  /// The parameter of this name; null if there is none.
  const Parameter *find(llvm::StringRef name) const;
};

/// Streams a safetensors file with the buffers and all parameters that have
/// data.
void writeSafetensors(llvm::raw_ostream &os, const ParameterTable &table);

} // namespace dtc

#endif // DTC_FRONTEND_PARAMETERTABLE_H
