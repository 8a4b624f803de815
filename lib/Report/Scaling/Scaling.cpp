//===- Scaling.cpp - step time over the number of ranks -------------------===//

#include "dtc/Report/Scaling.h"
#include "dtc/Support/ReadFile.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cmath>

using namespace mlir;
using namespace dtc;

double ScalingPoint::getSpeedUp(const ScalingPoint &reference) const {
  return reference.ranks * (samples / seconds) /
         (reference.samples / reference.seconds);
}

double ScalingPoint::getEfficiency(const ScalingPoint &reference) const {
  return getSpeedUp(reference) / ranks;
}

double ScalingPoint::getIdealSeconds(const ScalingPoint &reference) const {
  return seconds * getEfficiency(reference);
}

bool ScalingPoint::precedes(const ScalingPoint &other) const {
  if (ranks != other.ranks)
    return ranks < other.ranks;
  return samples / seconds > other.samples / other.seconds;
}

std::optional<ScalingPoint>
Scaling::getReference(const ScalingCurve &curve) const {
  std::optional<ScalingPoint> best;
  for (const ScalingCurve &other : curves)
    if (curve.isMeasured ? &other == &curve : !other.isMeasured)
      for (const ScalingPoint &point : other.points)
        if (!best || point.precedes(*best))
          best = point;
  return best;
}

llvm::Expected<std::vector<ScalingPoint>> dtc::readMeasuredSteps(StringRef path,
                                                                 bool isWeak) {
  auto fail = [&](const llvm::Twine &message) {
    return llvm::createStringError("--measured: '" + path + "' " + message);
  };
  auto file = readFile(path, /*isText=*/true);
  if (!file)
    return fail(llvm::toString(file.takeError()));
  std::vector<ScalingPoint> points;
  size_t number = 0; // of the line
  for (StringRef line : llvm::split((*file)->getBuffer(), '\n')) {
    ++number;
    SmallVector<StringRef> words;
    llvm::SplitString(line.split('#').first, words);
    if (words.empty())
      continue;
    int64_t ranks;
    double milliseconds;
    if (words.size() != 2 || words[0].getAsInteger(10, ranks) || ranks < 1 ||
        words[1].getAsDouble(milliseconds) || !std::isfinite(milliseconds) ||
        milliseconds <= 0)
      return fail("has '" + line.trim() + "' in line " + llvm::Twine(number) +
                  ", expected a number of ranks and the milliseconds of a "
                  "step, such as '4 12.5'");
    if (llvm::any_of(points, [ranks = ranks](const ScalingPoint &point) {
          return point.ranks == ranks;
        }))
      return fail("has " + llvm::Twine(ranks) +
                  " ranks a second time in line " + llvm::Twine(number) +
                  ", expected one line for each number of ranks");
    points.push_back(
        {ranks, milliseconds / 1000, isWeak ? double(ranks) : 1.0});
  }
  if (points.empty())
    return fail("has no times, expected lines such as '4 12.5': a number of "
                "ranks and the milliseconds of a step");
  llvm::sort(points, [](const ScalingPoint &a, const ScalingPoint &b) {
    return a.ranks < b.ranks;
  });
  return points;
}
