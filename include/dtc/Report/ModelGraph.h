//===- ModelGraph.h - a graph of the model for people -----------*- C++ -*-===//
//
// The forward pass after layouts are known: modules instead of ops, grouped
// into blocks (layers) and stages, with parameters, their layouts and the
// communication. Repeated blocks and stages are merged into one.
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
    std::string name;   ///< without the module's name
    std::string shape;  ///< shape of the whole: "128 x 384"
    std::string layout; ///< "tp: split(1)"; empty: replicated
    int64_t count = 1;  ///< number of tensors merged into this one

    bool operator==(const Parameter &other) const;
  };
  /// Number of collectives by name, such as "all_reduce tp".
  using Collectives = std::map<std::string, int64_t>;

  /// A module of a block.
  struct Row {
    std::string name; ///< without the block's; empty: the block's own ops
    std::vector<std::string> ops;
    std::vector<Parameter> parameters;
    Collectives forward, backward;

    bool operator==(const Row &other) const;
  };

  /// A layer, or a module outside layers. Ops outside modules form blocks named
  /// after their first op.
  struct Block {
    std::string name;
    std::string last; ///< name of the last merged block
    int64_t count = 1;
    std::vector<std::string> inputs; ///< of the model: "input_ids 32 x 128"
    std::vector<Row> rows;
    std::set<size_t> operands; ///< blocks of the stage that it reads
  };

  /// A stage, or a chunk of a stage with several virtual stages.
  struct Stage {
    int64_t first, last; ///< range of merged stages
    std::optional<int64_t> chunk;
    std::vector<Block> blocks;
    Collectives shards; ///< gathers of parameters, scatters of gradients
    Collectives once;   ///< once a step: gradients, norm, loss
    /// Messages to and from later stages, with the shapes of one rank.
    Collectives sends, gradients;

    /// "stage 0", "stage 0, chunk 1" or "stages 1 to 4, each like 1".
    std::string getName() const;
  };

  std::string name;
  std::string mesh; ///< "pp 2 x dp 2"
  int64_t ranksPerStage = 1;
  std::vector<Stage> stages; ///< in the order of the forward pass

  /// Builds the graph of a module after the parallel phase. Fails with a
  /// diagnostic.
  static mlir::FailureOr<ModelGraph> build(mlir::ModuleOp module);

  void printSvg(llvm::raw_ostream &os) const;
};

} // namespace dtc

#endif // DTC_REPORT_MODELGRAPH_H
