//===- TensorData.h - bytes of an ONNX tensor -------------------*- C++ -*-===//
//
// Finds the elements of an initializer: in the protobuf (raw or typed), or in
// an external file, which is memory-mapped.
//
// Support/ has constant tensors and errors that give advice. It includes no
// other folder of the importer.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_SUPPORT_TENSORDATA_H
#define DTC_FRONTEND_SUPPORT_TENSORDATA_H

#include "Support/HostTensor.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <onnx/onnx_pb.h>

#include <memory>
#include <optional>
#include <vector>

namespace dtc::frontend {

/// Little-endian elements in row-major order.
struct TensorData {
  DType dtype;
  Shape shape;
  llvm::ArrayRef<char> bytes;
  /// False if the model states only type and shape.
  bool hasData = true;
  /// Whether `bytes` holds the transpose of the tensor, a matrix.
  bool transposed = false;
  /// The external file that `bytes` maps, and the offset in it. Empty if the
  /// elements are inside of the model file.
  std::string file;
  uint64_t offset = 0;
};

/// Reads the tensors of one model, and keeps the memory alive that they point
/// into.
class TensorReader {
public:
  /// Paths of external files are relative to the folder of `modelPath`.
  explicit TensorReader(llvm::StringRef modelPath);

  /// Errors: an element type that dtc does not support, bytes that do not match
  /// the shape, an external file that cannot be read.
  llvm::Expected<TensorData> read(const onnx::TensorProto &tensor);

  using Owners = std::vector<std::shared_ptr<const void>>;
  const Owners &owners() const { return alive; }

private:
  llvm::Error readExternal(const onnx::TensorProto &tensor, TensorData &data);
  llvm::Error checkInside(llvm::StringRef path) const;
  llvm::Expected<llvm::ArrayRef<char>> mapFile(llvm::StringRef location);
  template <typename T, typename Field>
  void copyTyped(const Field &field, TensorData &data);
  /// Converts elements of narrow and unsigned types to those of their `DType`.
  void widen(int onnxType, TensorData &data);
  template <typename From, typename To> void widen(TensorData &data);

  std::string modelPath, folder;
  llvm::StringMap<llvm::ArrayRef<char>> files;
  Owners alive;
};

/// Maps an ONNX element type to that of the frontend; nothing if it is not
/// supported. Integers of less than 32 bits and unsigned integers become wider
/// ones: models use them as indices or cast them, so no arithmetic wraps
/// around. Floats of 16 bits become f32: the file's type says how it was
/// stored, and --precision says how the model is trained.
std::optional<DType> toDType(int onnxType);
bool isFloat16(int onnxType);
/// False if `tensor` is null.
bool isFloatTensor(const onnx::TensorProto *tensor);
llvm::SmallVector<int64_t> dimsOf(const onnx::TensorProto &tensor);
/// The advice of errors about element types.
inline constexpr llvm::StringLiteral supportedTypes =
    "supported are FLOAT, FLOAT16, BFLOAT16, DOUBLE, BOOL, INT64 and integers "
    "of up to 32 bits; convert the model";
/// Name of an ONNX element type: "FLOAT16".
std::string onnxTypeName(int onnxType);

/// Copies the elements. Needs `data.hasData`.
HostTensor toHostTensor(const TensorData &data);

/// Copies the bytes of a tensor that is stored as its transpose into row-major
/// order.
std::vector<char> toOwnOrder(const TensorData &data);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_SUPPORT_TENSORDATA_H
