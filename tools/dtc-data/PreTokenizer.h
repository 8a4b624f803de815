//===- PreTokenizer.h - division of a text into words -----------*- C++ -*-===//

#ifndef DTC_TOOLS_DTC_DATA_PRETOKENIZER_H
#define DTC_TOOLS_DTC_DATA_PRETOKENIZER_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dtc::data {

/// Cuts a text at the matches of a regular expression. A match is a piece, and
/// so is the text between two matches ("Isolated" in tokenizers).
class PreTokenizer {
public:
  /// The pre-tokenizer of GPT-2.
  static const char *const gpt2;

  /// Throws if the expression is wrong. `name` is for messages.
  PreTokenizer(const std::string &pattern, std::string name);

  /// Throws if the text is not UTF-8.
  void split(std::string_view text,
             const std::function<void(std::string_view)> &use) const;

private:
  std::string name;
  std::shared_ptr<void> code, match; ///< PCRE2's
};

} // namespace dtc::data

#endif // DTC_TOOLS_DTC_DATA_PRETOKENIZER_H
