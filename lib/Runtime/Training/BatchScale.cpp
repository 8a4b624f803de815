//===- BatchScale.cpp - a learning rate for another batch -----------------===//

#include "BatchScale.h"

#include "Core/Error.h"

#include <charconv>
#include <cmath>

using namespace dtc::rt;

double dtc::rt::scaleForBatch(const std::string &rule, int64_t batch) {
  size_t colon = rule.find(':');
  std::string name = rule.substr(0, colon);
  int64_t reference = 0;
  if (colon != std::string::npos) {
    const char *end = rule.data() + rule.size();
    auto [at, error] = std::from_chars(rule.data() + colon + 1, end, reference);
    if (error != std::errc() || at != end)
      reference = 0;
  }
  if ((name != "linear" && name != "sqrt") || reference < 1)
    fail("--scale-lr: found '%s', expected linear:BATCH or sqrt:BATCH, with "
         "the global batch that the rate was found for",
         rule.c_str());
  double factor = double(batch) / double(reference);
  return name == "linear" ? factor : std::sqrt(factor);
}
