//===- Text.cpp - a stream of tokens --------------------------------------===//

#include "Converters.h"
#include "Core/Error.h"
#include "Stop.h"
#include "System/MappedFile.h"
#include "Tokenizer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

using namespace dtc::data;
using dtc::rt::fail;
using dtc::rt::format;

/// Writes tokens in the smallest type that holds the whole vocabulary.
static void writeTokens(const std::string &path, uint32_t vocabulary,
                        std::span<const uint32_t> tokens) {
  dtc_dtype type = vocabulary <= 256     ? DTC_U8
                   : vocabulary <= 65536 ? DTC_U16
                                         : DTC_U32;
  ArrayWriter array(path, type, {});
  std::string block;
  while (!tokens.empty()) {
    block.clear();
    auto next = tokens.first(std::min<size_t>(tokens.size(), 1 << 16));
    for (const uint32_t &token : next) // little-endian
      block.append(reinterpret_cast<const char *>(&token),
                   size_t(dtc::sizeOf(type)));
    array.append(block.data(), int64_t(next.size()));
    tokens = tokens.subspan(next.size());
  }
  array.finish();
}

std::string dtc::data::convertText(const Settings &settings,
                                   const OutputFolder &folder) {
  std::optional<Tokenizer> tokenizer;
  if (!settings.tokenizer.empty())
    try {
      tokenizer.emplace(settings.tokenizer);
    } catch (const nlohmann::json::exception &error) {
      fail("'%s' is not a tokenizer.json: %s", settings.tokenizer.c_str(),
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
      for (size_t i = 0; i < text.size(); ++i) {
        if (i % (1 << 20) == 0)
          throwIfStopped();
        tokens.push_back(uint8_t(text[i]));
      }
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
  auto valid = size_t(
      countValid(int64_t(tokens.size()), settings.valid.value_or(0), "tokens"));
  size_t train = tokens.size() - valid;
  std::span<const uint32_t> all = tokens;
  writeTokens(folder.file("tokens.npy"), vocabulary, all.first(train));
  std::string text = format("%zu tokens", train);
  if (valid) {
    writeTokens(folder.file("valid/tokens.npy"), vocabulary, all.last(valid));
    text += format(" and %zu in valid/", valid);
  }
  return text + format(", of a vocabulary of %u\n", vocabulary);
}
