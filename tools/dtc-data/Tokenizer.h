//===- Tokenizer.h - text as tokens -----------------------------*- C++ -*-===//
//
// Byte-level BPE (Radford et al., 2019), read from a tokenizer.json of Hugging
// Face's tokenizers library.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TOOLS_DTC_DATA_TOKENIZER_H
#define DTC_TOOLS_DTC_DATA_TOKENIZER_H

#include "PreTokenizer.h"

#include <array>
#include <optional>
#include <unordered_map>

namespace dtc::data {

class Tokenizer {
public:
  /// Throws if the file is not such JSON, or names an unsupported component.
  explicit Tokenizer(const std::string &path);

  /// Appends the tokens of a text, like the library's `encode` without
  /// additional special tokens. Throws if the text is not UTF-8.
  void encode(std::string_view text, std::vector<uint32_t> &tokens);

  /// The token of this text, if there is one.
  std::optional<uint32_t> find(const std::string &token) const;
  /// One above the highest token.
  uint32_t size() const { return count; }

private:
  struct Merge {
    uint32_t rank, result;
  };
  struct Added {
    std::string text;
    uint32_t token;
  };

  void encodePlain(std::string_view text, std::vector<uint32_t> &tokens);
  void encodeWord(std::string_view word, std::vector<uint32_t> &tokens);
  std::vector<uint32_t> merge(std::string_view word) const;
  const Merge *findMerge(uint32_t left, uint32_t right) const;

  std::string path;
  std::array<uint32_t, 256> bytes; ///< the token of each byte
  std::unordered_map<std::string, uint32_t> vocabulary; ///< of raw bytes
  std::unordered_map<uint64_t, Merge> merges;           ///< by left and right
  bool ignoreMerges = false; ///< if a word is a token
  std::vector<Added> added;
  std::vector<PreTokenizer> splitters; ///< one after the other
  std::unordered_map<std::string, std::vector<uint32_t>> cache;
  uint32_t count = 0;
};

} // namespace dtc::data

#endif // DTC_TOOLS_DTC_DATA_TOKENIZER_H
