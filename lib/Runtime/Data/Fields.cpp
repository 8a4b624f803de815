//===- Fields.cpp - data of a program's inputs, from files ----------------===//

#include "Fields.h"

#include "Core/Error.h"

#include <algorithm>

using namespace dtc::rt;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// The whole numbers that an input takes; of a float type, those that it holds
/// exactly.
static IntegerRange acceptedBy(const InputInfo &input) {
  if (isFloat(input.dtype)) {
    int digits = input.dtype == DTC_F64   ? 53
                 : input.dtype == DTC_F32 ? 24
                 : input.dtype == DTC_F16 ? 11
                                          : 8;
    int64_t limit = int64_t(1) << digits;
    return {-limit, limit, 0};
  }
  IntegerRange range = rangeOf(input.dtype);
  range.except = input.ignoreIndex.value_or(0);
  range.ends = input.bounds;
  return range;
}

/// "expected 0 to 9 for input 'x'".
static std::string describeAccepted(const InputInfo &input,
                                    const IntegerRange &range,
                                    int64_t element) {
  IntegerRange accepted = range.at(element);
  std::string place;
  if (range.ends.size() > 1)
    place = format("element %lld of ",
                   (long long)(element % int64_t(range.ends.size())));
  return format("expected %lld to %lld for %sinput '%s'",
                (long long)accepted.low, (long long)accepted.high,
                place.c_str(), input.name.c_str());
}

void Field::checkValues(int rank, int ranks) const {
  const ShardedArray &array = this->array();
  if (isFloat(array.dtype()) ||
      (isFloat(input.dtype) && sizeOf(array.dtype()) < sizeOf(input.dtype)))
    return;
  IntegerRange range = acceptedBy(input);
  int64_t tightest = 0;
  if (isStream() && range.ends.size() > 1) { // any token may be in any place
    for (int64_t end : range.ends)
      if (end && (!tightest || end < tightest))
        tightest = end;
    range.ends = {&tightest, 1};
  }
  int64_t count = array.shape()[0];
  int64_t perItem = count ? elementCount(array.shape()) / count : 0;
  int64_t first = count * rank / ranks * perItem;
  int64_t last = count * (rank + 1) / ranks * perItem;
  std::string value;
  int64_t at = array.findOutside(first, last - first, range, value);
  if (at < 0)
    return;
  std::string hint;
  if (input.kind == InputKind::label && value.front() == '-' &&
      !input.ignoreIndex)
    hint = format("; compiled with --ignore-index %s, a program leaves such "
                  "labels out",
                  value.c_str());
  fail("'%s' has value %s in %s %lld, %s%s", array.fileOf(at).path().c_str(),
       value.c_str(), isStream() ? "token" : "sample",
       (long long)(array.offsetInFile(at) / perItem),
       describeAccepted(input, range, at).c_str(), hint.c_str());
}

std::string Field::describe(int64_t sample) const {
  int64_t element = sample * sampleElements;
  return format("sample %lld of '%s'",
                (long long)(array().offsetInFile(element) / sampleElements),
                array().fileOf(element).path().c_str());
}

void Field::checkLoaded(int64_t sample, const void *values) const {
  if (isFloat(input.dtype))
    return;
  IntegerRange range = acceptedBy(input);
  std::string value;
  int64_t at = findOutside(input.dtype, values, loadedElements, range, value);
  if (at >= 0)
    fail("'%s' was changed while the program trained: it has value %s in %s, "
         "%s",
         array().path().c_str(), value.c_str(), describe(sample).c_str(),
         describeAccepted(input, range, at).c_str());
}

//===----------------------------------------------------------------------===//
// Arrays of the input's shape
//===----------------------------------------------------------------------===//

namespace {

class PlainField : public Field {
public:
  PlainField(const InputInfo &input, ShardedArray values)
      : Field(input, elementCount(input.sampleShape())),
        values(std::move(values)) {}

  const ShardedArray &array() const override { return values; }
  void load(int64_t sample, int64_t, void *target) override {
    values.read(sample * sampleElements, sampleElements, input.dtype, target);
    checkLoaded(sample, target);
  }

private:
  ShardedArray values;
};

} // namespace

static void checkType(const InputInfo &input, const ShardedArray &array) {
  if (!isConvertible(array.dtype(), input.dtype))
    fail("'%s' has element type '%s', expected whole numbers for input '%s' "
         "(%s)",
         array.path().c_str(), array.descr().c_str(), input.name.c_str(),
         nameOf(input.dtype));
}

static std::unique_ptr<Field> makeField(const InputInfo &input,
                                        ShardedArray array,
                                        const DataOptions &options) {
  const std::vector<int64_t> &shape = array.shape();
  std::vector<int64_t> sample = input.sampleShape();
  checkType(input, array);
  if (!shape.empty() && takesImages(input))
    if (std::unique_ptr<Field> images = makeImageField(input, array, options))
      return images;
  if (shape.empty() ||
      !std::equal(shape.begin() + 1, shape.end(), sample.begin(), sample.end()))
    fail("'%s' has shape %s, expected samples of shape %s after the first "
         "dimension, as input '%s' has",
         array.path().c_str(), formatShape(shape).c_str(),
         formatShape(sample).c_str(), input.name.c_str());
  return std::make_unique<PlainField>(input, std::move(array));
}

//===----------------------------------------------------------------------===//
// Streams of tokens
//===----------------------------------------------------------------------===//

namespace {

/// Windows of a stream: sample i is elements i x length + shift and on.
class TokenField : public Field {
public:
  TokenField(const InputInfo &input, std::shared_ptr<const ShardedArray> tokens,
             int64_t shift)
      : Field(input, input.shape[1]), tokens(std::move(tokens)), shift(shift) {}

  const ShardedArray &array() const override { return *tokens; }
  bool isStream() const override { return true; }
  int64_t samples() const override {
    return std::max<int64_t>(0, tokens->shape()[0] - shift) / sampleElements;
  }
  void load(int64_t sample, int64_t, void *target) override {
    tokens->read(sample * sampleElements + shift, sampleElements, input.dtype,
                 target);
    checkLoaded(sample, target);
  }

private:
  std::shared_ptr<const ShardedArray> tokens;
  int64_t shift;
};

} // namespace

static bool takesTokens(const InputInfo &input) {
  return input.isData() && input.shape.size() == 2 && !isFloat(input.dtype) &&
         input.dtype != DTC_BOOL;
}

/// The number of tokens by which the window of an input is shifted; empty if
/// the input's name is not one of tokens.
static std::optional<int64_t> shiftOf(const Program &program,
                                      const InputInfo &input) {
  if (!takesTokens(input))
    return std::nullopt;
  if (input.kind == InputKind::label || input.name == "targets")
    return 1;
  for (const char *name : {"input_ids", "idx", "tokens", "labels"})
    if (input.name == name)
      return 0;
  for (const InputInfo &other : program.inputs)
    if (other.kind == InputKind::input && other.name != input.name)
      return std::nullopt;
  return 0;
}

/// The stream of tokens; null if there is none.
static std::shared_ptr<const ShardedArray>
openTokens(const Program &program, const std::string &directory) {
  std::optional<ShardedArray> tokens = findTokens(directory);
  if (!tokens)
    return nullptr;
  if (tokens->shape().size() != 1) {
    // An input of this name may have an array of samples.
    if (std::any_of(
            program.inputs.begin(), program.inputs.end(),
            [](const InputInfo &input) { return input.name == "tokens"; }))
      return nullptr;
    fail("'%s' has shape %s, expected one dimension: a stream of tokens",
         tokens->path().c_str(), formatShape(tokens->shape()).c_str());
  }
  return std::make_shared<const ShardedArray>(std::move(*tokens));
}

//===----------------------------------------------------------------------===//
// All inputs
//===----------------------------------------------------------------------===//

[[noreturn]] static void failMissing(const InputInfo &input,
                                     const std::string &directory,
                                     bool hasTokens) {
  std::vector<int64_t> sample = input.sampleShape();
  std::string path = directory + "/" + input.name + ".npy";
  std::string labels = directory + "/labels.npy";
  const char *tokens =
      hasTokens ? "; it is not among those that read tokens" : "";
  if (input.kind == InputKind::label) {
    std::string other =
        path == labels ? "" : format(" (or '%s')", path.c_str());
    fail("found no file '%s'%s with the labels, expected %s of shape "
         "[samples%s%s",
         labels.c_str(), other.c_str(), nameOf(input.dtype),
         sample.empty() ? "]" : formatShape(sample).replace(0, 1, ", ").c_str(),
         tokens);
  }
  fail("found no file '%s', expected one with input '%s', %s of shape "
       "[samples, ...] with samples of %s%s",
       path.c_str(), input.name.c_str(), nameOf(input.dtype),
       formatShape(sample).c_str(), tokens);
}

static std::unique_ptr<Field>
openField(const Program &program, const InputInfo &input,
          const DataOptions &options,
          const std::shared_ptr<const ShardedArray> &tokens) {
  const std::string &directory = options.directory;
  std::optional<ShardedArray> own = findArray(directory, input.name);
  // Named `tokens`, its array may be the stream.
  if (own && tokens && own->path() == tokens->path() && shiftOf(program, input))
    own.reset();
  if (!own && input.kind == InputKind::label)
    own = findArray(directory, "labels");
  if (own)
    return makeField(input, std::move(*own), options);
  std::optional<int64_t> shift = shiftOf(program, input);
  if (!tokens || !shift)
    failMissing(input, directory, tokens != nullptr);
  checkType(input, *tokens);
  return std::make_unique<TokenField>(input, tokens, *shift);
}

std::vector<std::unique_ptr<Field>>
dtc::rt::openFields(const Program &program, const DataOptions &options) {
  auto isImage = [](const InputInfo &input) { return takesImages(input); };
  if (!options.transform.empty() &&
      std::none_of(program.inputs.begin(), program.inputs.end(), isImage))
    fail("found --transform, expected it with a program that has images: a "
         "float input of shape [batch, channels, height, width]");
  bool mayHaveTokens = false;
  for (const InputInfo &input : program.inputs)
    mayHaveTokens |= shiftOf(program, input).has_value();
  std::shared_ptr<const ShardedArray> tokens;
  if (mayHaveTokens)
    tokens = openTokens(program, options.directory);
  std::vector<std::unique_ptr<Field>> fields;
  fields.reserve(program.inputs.size());
  for (const InputInfo &input : program.inputs)
    fields.push_back(input.isData() ? openField(program, input, options, tokens)
                                    : nullptr);
  return fields;
}
