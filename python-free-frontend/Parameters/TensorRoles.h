//===- TensorRoles.h - what a graph does with its tensors -------*- C++ -*-===//
//
// Without an exporter's metadata, what a tensor is used for is the evidence of
// what it is: a weight, or a number that a person wrote into the model.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_PARAMETERS_TENSORROLES_H
#define DTC_FRONTEND_PARAMETERS_TENSORROLES_H

#include "llvm/ADT/StringMap.h"

#include <onnx/onnx_pb.h>

namespace dtc::frontend {

/// Tensors keep their role through nodes that only move elements.
struct TensorRole {
  bool isLookup = false;  ///< the table of a lookup
  bool isProduct = false; ///< multiplied as a matrix
  /// Filters, norms' scales and shifts, slopes of PRelu, weights of recurrent
  /// layers.
  bool isLayer = false;
  bool isBias = false; ///< a vector that is added right after a product
  /// The scale or shift, spelled out, of a norm of channels or groups.
  bool isNorm = false;
  bool isStatistic = false; ///< of a batch norm
  /// A function is computed of it alone that PyTorch's exporter with
  /// dynamo=False does not fold: it is no constant of the model.
  bool isArgument = false;

  void add(const TensorRole &other) {
    isLookup |= other.isLookup;
    isProduct |= other.isProduct;
    isLayer |= other.isLayer;
    isBias |= other.isBias;
    isNorm |= other.isNorm;
    isStatistic |= other.isStatistic;
    isArgument |= other.isArgument;
  }
  bool isWeight() const {
    return isLookup || isProduct || isLayer || isBias || isNorm;
  }
};

/// Whether a node gives an initializer the name of an equal tensor.
bool isCopyOfEqual(const onnx::NodeProto &node);

class TensorRoles {
public:
  explicit TensorRoles(const onnx::GraphProto &graph);
  TensorRole find(llvm::StringRef tensor) const { return roles.lookup(tensor); }
  /// Without the uses of its copies by Identity nodes.
  TensorRole findDirect(llvm::StringRef tensor) const {
    return direct.lookup(tensor);
  }

private:
  llvm::StringMap<TensorRole> roles, direct;
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_PARAMETERS_TENSORROLES_H
