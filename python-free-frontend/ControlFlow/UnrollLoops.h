//===- UnrollLoops.h - the rounds of Loop and Scan --------------*- C++ -*-===//
//
// A loop whose rounds are counted at import becomes the nodes of its rounds,
// one after another: what a round gives the next is a name.
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

class Unroller {
public:
  static bool isLoop(llvm::StringRef op) {
    return op == "Loop" || op == "Scan";
  }

  /// Reads a Loop or a Scan, whose nodes get names that begin with `prefix`.
  static llvm::Expected<Unroller> read(const Call &call, std::string prefix);

  /// How many rounds there are if no condition ends them before.
  int64_t getMaxRounds() const { return maxRounds; }
  /// The value that says whether another round follows; empty if all do.
  const std::string &getCondition() const { return condition; }
  /// The nodes of the next round.
  std::vector<onnx::NodeProto> makeRound();
  /// The nodes that give the results of the loop their names.
  llvm::Expected<std::vector<onnx::NodeProto>> makeResults() const;

private:
  /// Elements that a Scan reads or writes one by one, and along which axis.
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
  /// Values that go from round to round, by their names now.
  std::vector<std::string> carried;
  std::vector<List> sources, results;
  /// What all rounds so far gave of each result list.
  std::vector<std::vector<std::string>> elements;
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_CONTROLFLOW_UNROLLLOOPS_H
