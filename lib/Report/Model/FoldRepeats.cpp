//===- FoldRepeats.cpp - merge equal layers and stages --------------------===//
//
// The drawing of a model shows repeated parts once.
//
//===----------------------------------------------------------------------===//

#include "FoldRepeats.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dtc;

bool ModelGraph::Parameter::operator==(const Parameter &other) const {
  return name == other.name && shape == other.shape && layout == other.layout &&
         count == other.count;
}

bool ModelGraph::Row::operator==(const Row &other) const {
  return name == other.name && ops == other.ops &&
         parameters == other.parameters && forward == other.forward &&
         backward == other.backward;
}

std::pair<StringRef, int64_t> dtc::splitNumber(StringRef name) {
  auto [base, number] = name.rsplit('.');
  int64_t value;
  if (number.empty() || number.getAsInteger(10, value))
    return {name, -1};
  return {base, value};
}

/// Whether `b` equals `a` except for numbers in names.
static bool isAlike(const ModelGraph::Block &a, const ModelGraph::Block &b) {
  auto [base, number] = splitNumber(a.name);
  auto [otherBase, otherNumber] = splitNumber(b.name);
  return base == otherBase && (number < 0) == (otherNumber < 0) &&
         a.count == b.count && a.inputs == b.inputs && a.rows == b.rows;
}

void dtc::foldBlocks(ModelGraph::Stage &stage) {
  std::vector<ModelGraph::Block> folded;
  std::vector<size_t> places; // index of each block in `folded`
  for (auto [i, block] : llvm::enumerate(stage.blocks)) {
    bool follows = false;
    if (!folded.empty()) {
      auto [base, number] = splitNumber(folded.back().last);
      ModelGraph::Block before = folded.back();
      before.count = 1;
      follows = number >= 0 && splitNumber(block.name).second == number + 1 &&
                isAlike(before, block) &&
                block.operands == std::set<size_t>{i - 1};
    }
    if (follows) {
      folded.back().last = block.name;
      ++folded.back().count;
    } else {
      folded.push_back(block);
    }
    places.push_back(folded.size() - 1);
  }
  for (auto [i, block] : llvm::enumerate(folded)) {
    std::set<size_t> operands;
    for (size_t operand : block.operands)
      if (places[operand] != i)
        operands.insert(places[operand]);
    block.operands = std::move(operands);
  }
  stage.blocks = std::move(folded);
}

static bool isAlike(const ModelGraph::Stage &a, const ModelGraph::Stage &b) {
  return a.shards == b.shards && a.once == b.once && a.sends == b.sends &&
         a.gradients == b.gradients && a.blocks.size() == b.blocks.size() &&
         llvm::all_of(llvm::zip(a.blocks, b.blocks), [](auto pair) {
           auto &[x, y] = pair;
           return isAlike(x, y) && x.operands == y.operands;
         });
}

void dtc::foldStages(std::vector<ModelGraph::Stage> &stages) {
  std::vector<ModelGraph::Stage> folded;
  for (ModelGraph::Stage &stage : stages) {
    if (folded.empty() || stage.chunk || !isAlike(folded.back(), stage)) {
      folded.push_back(std::move(stage));
      continue;
    }
    folded.back().last = stage.last;
  }
  stages = std::move(folded);
}
