//===- Text.cpp - a stream of tokens --------------------------------------===//

#include "Converters.h"
#include "Core/Error.h"
#include "Core/MappedFile.h"
#include "Tokenizer.h"

#include <nlohmann/json.hpp>

using namespace dtc::data;
using dtc::rt::fail;
using dtc::rt::format;

namespace {

/// Writes tokens in the smallest type that holds all of a vocabulary.
class TokenWriter {
public:
  TokenWriter(const std::string &path, uint32_t vocabulary)
      : type(vocabulary <= 256     ? DTC_U8
             : vocabulary <= 65536 ? DTC_U16
                                   : DTC_U32),
        array(path, type, {}) {}

  void append(const uint32_t *tokens, size_t count) {
    buffer.clear();
    for (size_t i = 0; i < count; ++i) // little-endian
      buffer.append(reinterpret_cast<const char *>(tokens + i),
                    size_t(dtc::sizeOf(type)));
    array.append(buffer.data(), buffer.size());
  }
  void finish() { array.finish(); }

private:
  dtc_dtype type;
  ArrayWriter array;
  std::string buffer;
};

} // namespace

std::string dtc::data::convertText(const Settings &settings,
                                   const OutputFolder &folder) {
  std::optional<Tokenizer> tokenizer;
  if (!settings.tokenizer.empty())
    try {
      tokenizer.emplace(settings.tokenizer);
    } catch (const nlohmann::json::exception &error) {
      fail("'%s' is no tokenizer.json: %s", settings.tokenizer.c_str(),
           error.what());
    }
  std::optional<uint32_t> end;
  if (!settings.endOfText.empty()) {
    if (!tokenizer)
      fail("found --end-of-text, expected --tokenizer FILE with it");
    end = tokenizer->find(settings.endOfText);
    if (!end)
      fail("'%s' has no token '%s'", settings.tokenizer.c_str(),
           settings.endOfText.c_str());
  }
  std::vector<uint32_t> tokens;
  for (const std::string &source : settings.sources) {
    rt::MappedFile file(source);
    std::string_view text = file.bytes();
    if (!tokenizer)
      tokens.insert(
          tokens.end(), reinterpret_cast<const uint8_t *>(text.data()),
          reinterpret_cast<const uint8_t *>(text.data()) + text.size());
    else
      try {
        tokenizer->encode(text, tokens);
      } catch (const rt::Error &error) {
        fail("cannot tokenize '%s': %s", source.c_str(), error.what());
      }
    if (end)
      tokens.push_back(*end);
  }
  if (tokens.empty())
    fail("found no text");
  uint32_t vocabulary = tokenizer ? tokenizer->size() : 256;
  size_t valid = size_t(double(tokens.size()) * settings.valid.value_or(0));
  size_t train = tokens.size() - valid;
  TokenWriter writer(folder.file("tokens.npy"), vocabulary);
  writer.append(tokens.data(), train);
  writer.finish();
  std::string text = format("%zu tokens", train);
  if (valid) {
    TokenWriter rest(folder.file("valid/tokens.npy"), vocabulary);
    rest.append(tokens.data() + train, valid);
    rest.finish();
    text += format(" and %zu in valid/", valid);
  }
  return text + format(", of a vocabulary of %u\n", vocabulary);
}
