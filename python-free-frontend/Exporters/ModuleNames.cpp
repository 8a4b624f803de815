//===- ModuleNames.cpp - modules with related names -----------------------===//
//
// See ModuleNames.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/ModuleNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <tuple>

using namespace llvm;

namespace dtc::frontend {

std::pair<StringRef, StringRef> splitName(StringRef name) {
  auto [owner, leaf] = name.rsplit('.');
  return leaf.empty() ? std::pair(StringRef(), owner) : std::pair(owner, leaf);
}

/// Compares the paths of two modules. Returns the number of equal words at the
/// start, of equal letters in the next word (if it is not a number), and of
/// equal words at the end.
static std::tuple<size_t, size_t, size_t> compareModules(StringRef a,
                                                         StringRef b) {
  SmallVector<StringRef> wordsOfA, wordsOfB;
  a.split(wordsOfA, '.');
  b.split(wordsOfB, '.');
  size_t most = std::min(wordsOfA.size(), wordsOfB.size());
  size_t words = 0, letters = 0, last = 0;
  while (words < most && wordsOfA[words] == wordsOfB[words])
    ++words;
  if (words < most && !all_of(wordsOfA[words], isDigit))
    letters = mismatch(wordsOfA[words], wordsOfB[words]).first -
              wordsOfA[words].begin();
  while (last < most - words && wordsOfA[wordsOfA.size() - 1 - last] ==
                                    wordsOfB[wordsOfB.size() - 1 - last])
    ++last;
  return {words, letters, last};
}

std::vector<std::string> findNearestModules(ArrayRef<std::string> modules,
                                            StringRef like) {
  std::vector<std::string> nearest;
  std::tuple<size_t, size_t, size_t> most;
  for (const std::string &module : modules) {
    std::tuple common = compareModules(module, like);
    if (nearest.empty() || common > most) {
      nearest = {module};
      most = common;
    } else if (common == most)
      nearest.push_back(module);
  }
  return nearest;
}

std::pair<StringRef, StringRef> dropCommonEnd(StringRef a, StringRef b) {
  auto lastWord = [](StringRef path) {
    return path.drop_front(path.rfind('.') + 1);
  };
  while (!a.empty() && !b.empty() && lastWord(a) == lastWord(b)) {
    size_t length = lastWord(a).size() + 1;
    a = a.drop_back(std::min(a.size(), length));
    b = b.drop_back(std::min(b.size(), length));
  }
  return {a, b};
}

bool areNamedAlike(StringRef a, StringRef b) {
  SmallVector<StringRef> wordsOfA, wordsOfB;
  a.split(wordsOfA, '.');
  b.split(wordsOfB, '.');
  if (wordsOfA.size() != wordsOfB.size())
    return false;
  unsigned different = 0;
  for (auto [word, other] : zip(wordsOfA, wordsOfB)) {
    if (word == other)
      continue;
    ++different;
    auto isNumber = [](StringRef x) { return all_of(x, isDigit); };
    size_t most = std::min(word.size(), other.size()), same = 0, ending = 0;
    while (same < most && word[same] == other[same])
      ++same;
    while (ending < most - same &&
           word[word.size() - 1 - ending] == other[other.size() - 1 - ending])
      ++ending;
    if (same + ending < 2 && !(isNumber(word) && isNumber(other)))
      return false;
  }
  return different == 1;
}

} // namespace dtc::frontend
