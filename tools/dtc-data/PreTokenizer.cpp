//===- PreTokenizer.cpp - where words begin and end -----------------------===//

#include "PreTokenizer.h"

#include "Core/Error.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

using namespace dtc::data;
using dtc::rt::fail;

const char *const PreTokenizer::gpt2 =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|"
    "\\s+(?!\\S)|\\s+";

static std::string describeError(int code) {
  unsigned char text[256];
  pcre2_get_error_message(code, text, sizeof text);
  return reinterpret_cast<char *>(text);
}

PreTokenizer::PreTokenizer(const std::string &pattern, std::string source)
    : name(std::move(source)) {
  int error;
  size_t place;
  pcre2_code *compiled = pcre2_compile(
      reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
      PCRE2_UTF | PCRE2_UCP, &error, &place, nullptr);
  if (!compiled)
    fail("%s has the expression '%.200s', which is wrong at character %zu: %s",
         name.c_str(), pattern.c_str(), place, describeError(error).c_str());
  code.reset(compiled, [](pcre2_code *code) { pcre2_code_free(code); });
  pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE); // faster where it can be
  match.reset(pcre2_match_data_create_from_pattern(compiled, nullptr),
              [](pcre2_match_data *data) { pcre2_match_data_free(data); });
}

void PreTokenizer::split(
    std::string_view text,
    const std::function<void(std::string_view)> &use) const {
  auto *data = static_cast<pcre2_match_data *>(match.get());
  size_t last = 0, from = 0;
  uint32_t options = 0; // the first match checks that the text is UTF-8
  while (last < text.size()) {
    int found = pcre2_match(static_cast<pcre2_code *>(code.get()),
                            reinterpret_cast<PCRE2_SPTR>(text.data()),
                            text.size(), from, options, data, nullptr);
    if (found == PCRE2_ERROR_NOMATCH)
      break;
    if (found < 0 && options == 0 && found <= PCRE2_ERROR_UTF8_ERR1 &&
        found >= PCRE2_ERROR_UTF8_ERR21)
      fail("the text is not UTF-8 at byte %zu",
           size_t(pcre2_get_startchar(data)));
    if (found < 0)
      fail("cannot match the expression of %s: %s", name.c_str(),
           describeError(found).c_str());
    options = PCRE2_NO_UTF_CHECK;
    const size_t *range = pcre2_get_ovector_pointer(data);
    if (range[1] <= range[0]) { // empty match: continues one character later
      from = std::max(from, range[0]) + 1;
      while (from < text.size() && (text[from] & 0xc0) == 0x80)
        ++from;
      if (from >= text.size())
        break;
      continue;
    }
    if (range[0] > last)
      use(text.substr(last, range[0] - last));
    use(text.substr(range[0], range[1] - range[0]));
    last = from = range[1];
  }
  if (last < text.size())
    use(text.substr(last));
}
