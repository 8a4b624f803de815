//===- ModelGraph.h - a model as people draw it -----------------*- C++ -*-===//
//
// The forward pass after layouts are known: modules instead of ops, grouped
// into blocks (layers) and stages, with parameters, their layouts and what is
// communicated. Blocks and stages that repeat are one.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_REPORT_MODELGRAPH_H
#define DTC_REPORT_MODELGRAPH_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace dtc {

struct ModelGraph {
  struct Parameter {
    std::string name;   ///< without the module's
    std::string shape;  ///< "128 x 384", of the whole
    std::string layout; ///< "tp: split(1)"; empty: replicated
    int64_t count = 1;  ///< parts of a tensor that are alike

    bool operator==(const Parameter &other) const;
  };
  /// Collectives by name, such as "all_reduce tp", and how many there are.
  using Collectives = std::map<std::string, int64_t>;

  /// A module of a block.
  struct Row {
    std::string name; ///< without the block's; empty: the block's own ops
    std::vector<std::string> ops;
    std::vector<Parameter> parameters;
    Collectives forward, backward;

    bool operator==(const Row &other) const;
  };

  /// A layer, or a module that is in none; or ops that are in no module, which
  /// have the name of the first of them.
  struct Block {
    std::string name;
    std::string last; ///< of the blocks that this one stands for
    int64_t count = 1;
    std::vector<std::string> inputs; ///< of the model: "input_ids 32 x 128"
    std::vector<Row> rows;
    std::set<size_t> operands; ///< blocks of the stage that it reads from
  };

  /// A stage; if it has several virtual ones, a chunk of it.
  struct Stage {
    int64_t first, last; ///< stages that this one stands for
    std::optional<int64_t> chunk;
    std::vector<Block> blocks;
    Collectives shards; ///< that gather parameters and scatter gradients
    Collectives once;   ///< of a step: gradients, norm, loss
    /// Messages to and from later stages; shapes are those of a rank.
    Collectives sends, gradients;

    /// "stage 0", "stage 0, chunk 1" or "stages 1 to 4, each like 1".
    std::string getName() const;
  };

  std::string name;
  std::string mesh; ///< "pp 2 x dp 2"
  int64_t ranksPerStage = 1;
  std::vector<Stage> stages; ///< in the order of the forward pass

  /// Builds the graph of a module after the parallel phase.
  static mlir::FailureOr<ModelGraph> build(mlir::ModuleOp module);

  void printSvg(llvm::raw_ostream &os) const;
};

} // namespace dtc

#endif // DTC_REPORT_MODELGRAPH_H
