//===- UnrollLoops.h - iterations of Loop and Scan --------------*- C++ -*-===//
//
// A loop whose number of iterations is known at import becomes the nodes of its
// iterations, one after another. An iteration reads the values of the one
// before it by name.
//
// ControlFlow/ replaces loops and sequences by plain nodes. May include Ops/,
// Shapes/, File/ and Support/.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_CONTROLFLOW_UNROLLLOOPS_H
#define DTC_FRONTEND_CONTROLFLOW_UNROLLLOOPS_H

#include "Shapes/Call.h"

#include <string>
#include <vector>

namespace dtc::frontend {

/// Writes the nodes of a loop, one iteration at a time.
class Unroller {
public:
  static bool isLoop(llvm::StringRef op) {
    return op == "Loop" || op == "Scan";
  }

  /// Reads a Loop or a Scan. The names of new nodes begin with `prefix`.
  static llvm::Expected<Unroller> read(const Call &call, std::string prefix);

  /// Number of iterations if no condition ends the loop earlier.
  int64_t getMaxRounds() const { return maxRounds; }
  /// The value that says whether another iteration follows; empty if all do.
  const std::string &getCondition() const { return condition; }
  /// Returns the nodes of the next iteration.
  std::vector<onnx::NodeProto> makeRound();
  /// Returns nodes that give the results of the loop their names.
  llvm::Expected<std::vector<onnx::NodeProto>> makeResults() const;

private:
  /// A list that a Scan reads or writes element by element, along `axis`.
  struct List {
    int64_t axis = 0;
    bool isReversed = false;
  };

  Unroller(const Call &call, std::string prefix)
      : call(call), prefix(std::move(prefix)),
        isScan(call.node.op_type() == "Scan") {}
  llvm::Error readLoop();
  llvm::Error readScan();
  llvm::Error readBody();
  llvm::Expected<std::vector<List>> readLists(llvm::StringRef direction,
                                              size_t count) const;

  const Call &call;
  std::string prefix;
  bool isScan;
  const onnx::GraphProto *body = nullptr;
  int64_t maxRounds = 0, rounds = 0;
  std::string condition;
  /// Names of the values that the next iteration reads.
  std::vector<std::string> carried;
  std::vector<List> sources, results;
  /// Values of all iterations so far, for each result list.
  std::vector<std::vector<std::string>> elements;
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_CONTROLFLOW_UNROLLLOOPS_H
