//===- TensorRoles.h - uses of tensors in a graph ---------------*- C++ -*-===//
//
// Without an exporter's metadata, only the use of a tensor tells whether it is
// a weight, or a number that a person wrote into the model.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_PARAMETERS_TENSORROLES_H
#define DTC_FRONTEND_PARAMETERS_TENSORROLES_H

#include "llvm/ADT/StringMap.h"

#include <onnx/onnx_pb.h>

namespace dtc::frontend {

/// The uses of a tensor. Nodes that only move elements pass the role on.
struct TensorRole {
  bool isLookup = false;  ///< table of a lookup
  bool isProduct = false; ///< operand of a matrix product
  /// Filters, scales and shifts of norms, slopes of PRelu, weights of recurrent
  /// layers.
  bool isLayer = false;
  bool isBias = false; ///< vector that is added right after a product
  /// Scale or shift of a group or instance norm that is written as Mul and Add.
  bool isNorm = false;
  bool isStatistic = false; ///< running statistic of a batch norm
  /// Operand of a function (exp, log, ...) that PyTorch's exporter with
  /// dynamo=False does not fold. Such a tensor is not a constant of the model.
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

/// Whether a node gives an initializer the name of another, equal tensor.
bool isCopyOfEqual(const onnx::NodeProto &node);

class TensorRoles {
public:
  /// Finds the roles of all tensors of a graph.
  explicit TensorRoles(const onnx::GraphProto &graph);
  TensorRole find(llvm::StringRef tensor) const { return roles.lookup(tensor); }
  /// The role without the uses of its copies by Identity nodes.
  TensorRole findDirect(llvm::StringRef tensor) const {
    return direct.lookup(tensor);
  }

private:
  llvm::StringMap<TensorRole> roles, direct;
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_PARAMETERS_TENSORROLES_H
