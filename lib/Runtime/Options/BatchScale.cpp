//===- BatchScale.cpp - a learning rate for another batch -----------------===//

#include "BatchScale.h"

#include "Core/Error.h"

#include <charconv>
#include <cmath>

using namespace dtc::rt;

BatchScale BatchScale::parse(const std::string &text) {
  size_t colon = text.find(':');
  std::string rule = text.substr(0, colon);
  int64_t reference = 0;
  if (colon != std::string::npos) {
    const char *end = text.data() + text.size();
    auto [at, error] = std::from_chars(text.data() + colon + 1, end, reference);
    if (error != std::errc() || at != end)
      reference = 0;
  }
  if ((rule != "linear" && rule != "sqrt") || reference < 1)
    fail("found '%s', expected linear:BATCH or sqrt:BATCH, with the global "
         "batch that the rate was found for",
         text.c_str());
  return {rule == "linear", reference};
}

double BatchScale::factor(int64_t batch) const {
  double ratio = double(batch) / double(reference);
  return isLinear ? ratio : std::sqrt(ratio);
}
