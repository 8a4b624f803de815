//===- TensorData.h - the bytes of an ONNX tensor ---------------*- C++ -*-===//
//
// Where the elements of an initializer lie: in the protobuf, raw or typed, or
// in an external file, which is memory-mapped.
//
// Support/ has tensors whose values are known and errors that give advice. It
// includes nothing else of the importer.
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

/// Little-endian elements in row-major order; null data when the model states
/// type and shape only.
struct TensorData {
  DType dtype;
  Shape shape;
  llvm::ArrayRef<char> bytes;
  bool hasData = true;
  /// The elements are stored as those of the transpose, a matrix.
  bool transposed = false;
  /// Set when the bytes are those of an external file.
  std::string file;
  uint64_t offset = 0;
};

/// Reads tensors of one model and keeps alive what they point into.
class TensorReader {
public:
  /// External files lie relative to the folder of `modelPath`.
  explicit TensorReader(llvm::StringRef modelPath);

  llvm::Expected<TensorData> read(const onnx::TensorProto &tensor);

  using Owners = std::vector<std::shared_ptr<const void>>;
  const Owners &owners() const { return alive; }

private:
  llvm::Error readExternal(const onnx::TensorProto &tensor, TensorData &data);
  llvm::Error checkInside(llvm::StringRef path) const;
  llvm::Expected<llvm::ArrayRef<char>> mapFile(llvm::StringRef location);
  template <typename T, typename Field>
  void copyTyped(const Field &field, TensorData &data);
  /// Gives elements of fewer bits, or without a sign, those of their `DType`.
  void widen(int onnxType, TensorData &data);
  template <typename From, typename To> void widen(TensorData &data);

  std::string modelPath, folder;
  llvm::StringMap<llvm::ArrayRef<char>> files;
  Owners alive;
};

/// The element type, or nothing when the frontend does not support it. Integers
/// of fewer bits than 32, and those without a sign, become wider ones: they
/// index or are cast, and arithmetic on them does not wrap around. Floats of 16
/// bits become f32: they say how the file was stored, and --precision says how
/// the model is trained.
std::optional<DType> toDType(int onnxType);
bool isFloat16(int onnxType);
/// False for null.
bool isFloatTensor(const onnx::TensorProto *tensor);
llvm::SmallVector<int64_t> dimsOf(const onnx::TensorProto &tensor);
/// The advice where a type is not supported.
inline constexpr llvm::StringLiteral supportedTypes =
    "supported are FLOAT, FLOAT16, BFLOAT16, DOUBLE, BOOL, and integers of up "
    "to 32 bits and INT64; convert the model";
/// "FLOAT16" and the like.
std::string onnxTypeName(int onnxType);

HostTensor toHostTensor(const TensorData &data);

/// The bytes of a tensor that is stored as its transpose, in its own order.
std::vector<char> toOwnOrder(const TensorData &data);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_SUPPORT_TENSORDATA_H
