//===- ParseTransform.cpp - the text of --transform -----------------------===//
//
//   transform ::= step (`,` step)*
//   step      ::= name (`(` argument (`,` argument)* `)`)?
//   argument  ::= number | `[` number (`,` number)* `]`
//   number    ::= decimal (`/` decimal)?
//
//===----------------------------------------------------------------------===//

#include "Core/Error.h"
#include "Transform.h"

#include <cctype>
#include <charconv>
#include <cmath>

using namespace dtc::rt;

namespace {

class Parser {
public:
  explicit Parser(const std::string &text) : text(text) {}

  std::vector<TransformStep> parse() {
    std::vector<TransformStep> steps;
    do
      steps.push_back(parseStep());
    while (accept(','));
    if (at < text.size())
      failAt(at, "expected ',' or the end");
    return steps;
  }

private:
  using Arguments = std::vector<std::vector<double>>;

  [[noreturn]] void failAt(size_t position, const std::string &expected) const {
    std::string found = position < text.size()
                            ? "'" + text.substr(position, 16) + "'"
                            : "its end";
    fail("'%s': found %s at character %zu, %s", text.c_str(), found.c_str(),
         position + 1, expected.c_str());
  }

  void skipSpace() {
    while (at < text.size() && isspace((unsigned char)text[at]))
      ++at;
  }
  bool accept(char c) {
    skipSpace();
    if (at == text.size() || text[at] != c)
      return false;
    ++at;
    skipSpace();
    return true;
  }
  void expect(char c) {
    if (!accept(c))
      failAt(at, std::string("expected '") + c + "'");
  }

  double parseDecimal() {
    skipSpace();
    double value = 0;
    auto [end, error] =
        std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (error != std::errc() || !std::isfinite(value))
      failAt(at, "expected a number");
    at = end - text.data();
    skipSpace();
    return value;
  }
  double parseNumber() {
    double value = parseDecimal();
    size_t slash = at;
    if (!accept('/'))
      return value;
    double divisor = parseDecimal();
    if (divisor == 0)
      failAt(slash, "expected no division by 0");
    return value / divisor;
  }
  std::vector<double> parseArgument() {
    if (!accept('['))
      return {parseNumber()};
    std::vector<double> list;
    do
      list.push_back(parseNumber());
    while (accept(','));
    expect(']');
    return list;
  }

  TransformStep parseStep();
  void setSize(TransformStep &step, const Arguments &arguments, size_t first,
               size_t last, size_t start) const;

  /// Arguments of a size, a padding or a factor are single numbers.
  double single(const Arguments &arguments, size_t index, size_t start) const {
    if (arguments[index].size() != 1)
      failAt(start, "expected numbers, not lists");
    return arguments[index][0];
  }
  int64_t whole(const Arguments &arguments, size_t index, int64_t least,
                size_t start) const {
    double value = single(arguments, index, start);
    if (value != std::floor(value) || value < double(least) || value > 65536)
      failAt(start, format("expected whole numbers from %lld to 65536",
                           (long long)least));
    return int64_t(value);
  }

  const std::string &text;
  size_t at = 0;
};

} // namespace

/// Arguments first .. last - 1 are a height and a width, or both in one.
void Parser::setSize(TransformStep &step, const Arguments &arguments,
                     size_t first, size_t last, size_t start) const {
  step.height = whole(arguments, first, 1, start);
  step.width = whole(arguments, last - 1, 1, start);
}

TransformStep Parser::parseStep() {
  using Kind = TransformStep::Kind;
  skipSpace();
  size_t start = at;
  while (at < text.size() && (isalnum((unsigned char)text[at]) ||
                              text[at] == '-' || text[at] == '_'))
    ++at;
  TransformStep step{};
  step.name = text.substr(start, at - start);
  Arguments arguments;
  if (accept('(') && !accept(')')) {
    do
      arguments.push_back(parseArgument());
    while (accept(','));
    expect(')');
  }
  size_t count = arguments.size();
  auto expectForm = [&](bool isRight, const char *form) {
    if (!isRight)
      failAt(start, std::string("expected ") + form);
  };
  if (step.name == "scale") {
    expectForm(count <= 1, "scale or scale(X)");
    step.kind = Kind::scale;
    step.factor = count ? single(arguments, 0, start) : 1.0 / 255;
  } else if (step.name == "normalize") {
    expectForm(count == 2, "normalize(MEAN,DEVIATION)");
    step.kind = Kind::normalize;
    step.mean = arguments[0];
    step.deviation = arguments[1];
    for (double deviation : step.deviation)
      expectForm(deviation > 0, "deviations above 0");
  } else if (step.name == "crop") {
    expectForm(count == 2 || count == 3,
               "crop(SIZE,PADDING) or crop(HEIGHT,WIDTH,PADDING)");
    step.kind = Kind::crop;
    setSize(step, arguments, 0, count - 1, start);
    step.padding = whole(arguments, count - 1, 0, start);
  } else if (step.name == "flip") {
    expectForm(count == 0, "flip without arguments");
    step.kind = Kind::flip;
  } else if (step.name == "center-crop" || step.name == "resize") {
    expectForm(count == 1 || count == 2, "one size, or height and width");
    step.kind = step.name == "resize" ? Kind::resize : Kind::centerCrop;
    setSize(step, arguments, 0, count, start);
  } else {
    failAt(start, "expected scale, normalize, crop, flip, center-crop or "
                  "resize");
  }
  return step;
}

std::vector<TransformStep> dtc::rt::parseTransform(const std::string &text) {
  return Parser(text).parse();
}
