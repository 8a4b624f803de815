//===- Tokenizer.cpp - text as tokens -------------------------------------===//

#include "Tokenizer.h"

#include "Core/Error.h"
#include "Core/ForeignJson.h"
#include "Stop.h"
#include "System/MappedFile.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <queue>

using namespace dtc::data;
using dtc::rt::fail;
using nlohmann::json;

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

/// GPT-2's characters for bytes: printable bytes of Latin-1 keep theirs, the
/// others get characters from U+0100 on.
static uint32_t characterOf(int byte) {
  auto isPrintable = [](int b) {
    return (b >= '!' && b <= '~') || (b >= 0xa1 && b <= 0xac) ||
           (b >= 0xae && b <= 0xff);
  };
  if (isPrintable(byte))
    return uint32_t(byte);
  uint32_t next = 256;
  for (int before = 0; before < byte; ++before)
    next += !isPrintable(before);
  return next;
}

namespace {

/// Reads the parts of a tokenizer.json, and refuses unsupported ones.
class Reader {
public:
  explicit Reader(const std::string &path) : path(path) {
    for (int byte = 0; byte < 256; ++byte)
      byteOf[characterOf(byte)] = char(byte);
  }

  json parse() const {
    dtc::rt::MappedFile file(path);
    json root;
    try {
      root = dtc::rt::parseJson<json>(file.bytes());
    } catch (const std::exception &error) {
      fail("'%s' is not a tokenizer.json: %s", path.c_str(),
           dtc::rt::describeJsonError<json>(error).c_str());
    }
    if (!root.is_object() || !root.contains("model"))
      fail(
          "'%s' is not a tokenizer.json, expected a JSON object with a 'model'",
          path.c_str());
    return root;
  }

  [[noreturn]] void refuse(const std::string &what,
                           const std::string &expected) const {
    fail("'%s' has %s, which is not supported; expected %s", path.c_str(),
         what.c_str(), expected.c_str());
  }

  /// Refuses a component that must be absent.
  void expectNull(const json &root, const char *name) const {
    if (root.contains(name) && !root[name].is_null())
      refuse(std::string(name) + " '" + typeOf(root[name]) + "'", "none");
  }
  static std::string typeOf(const json &component) {
    return component.is_object() && component.contains("type") &&
                   component["type"].is_string()
               ? component["type"].get<std::string>()
               : component.dump().substr(0, 40);
  }

  /// The bytes of a token's characters; none if it has other characters.
  std::optional<std::string> bytesOf(const std::string &text) const;

  std::vector<PreTokenizer> readSplitters(const json &component) const;

private:
  void readSplitter(const json &component, std::vector<PreTokenizer> &splitters,
                    bool &bytes) const;

  const std::string &path;
  std::unordered_map<uint32_t, char> byteOf;
};

} // namespace

std::optional<std::string> Reader::bytesOf(const std::string &text) const {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    uint32_t character = (unsigned char)text[i];
    if (character >= 0xc0 && character < 0xe0 && i + 1 < text.size())
      character = (character & 0x1f) << 6 | ((unsigned char)text[++i] & 0x3f);
    auto found = byteOf.find(character);
    if (found == byteOf.end())
      return std::nullopt;
    bytes += found->second;
  }
  return bytes;
}

void Reader::readSplitter(const json &component,
                          std::vector<PreTokenizer> &splitters,
                          bool &bytes) const {
  std::string type = typeOf(component), where = "'" + path + "'";
  if (type == "ByteLevel") {
    if (component.value("add_prefix_space", true))
      refuse("pre_tokenizer 'ByteLevel' with add_prefix_space", "it without");
    if (component.value("use_regex", true))
      splitters.emplace_back(PreTokenizer::gpt2, where);
    bytes = true;
  } else if (type == "Split") {
    const json &pattern = component.value("pattern", json());
    if (!pattern.is_object() || !pattern.contains("Regex") ||
        !pattern["Regex"].is_string())
      refuse("pre_tokenizer 'Split' without a Regex", "one with it");
    if (component.value("behavior", "") != "Isolated" ||
        component.value("invert", false))
      refuse("pre_tokenizer 'Split' with behavior '" +
                 component.value("behavior", "") +
                 (component.value("invert", false) ? "' and invert" : "'"),
             "'Isolated'");
    splitters.emplace_back(pattern["Regex"].get<std::string>(), where);
  } else {
    refuse("pre_tokenizer '" + type + "'", "ByteLevel, or Split before it");
  }
}

std::vector<PreTokenizer> Reader::readSplitters(const json &component) const {
  std::vector<PreTokenizer> splitters;
  bool bytes = false;
  if (typeOf(component) == "Sequence" && component.contains("pretokenizers") &&
      component["pretokenizers"].is_array()) {
    for (const json &part : component["pretokenizers"]) {
      if (bytes)
        refuse("pre_tokenizer '" + typeOf(part) + "' after 'ByteLevel'",
               "that last");
      readSplitter(part, splitters, bytes);
    }
  } else {
    readSplitter(component, splitters, bytes);
  }
  if (!bytes)
    refuse("a pre_tokenizer without 'ByteLevel'", "a byte-level BPE");
  return splitters;
}

static void checkModel(const Reader &reader, const json &model) {
  if (Reader::typeOf(model) != "BPE" && model.contains("type"))
    reader.refuse("model '" + Reader::typeOf(model) + "'", "BPE");
  for (const char *name :
       {"dropout", "continuing_subword_prefix", "end_of_word_suffix"})
    if (model.contains(name) && !model[name].is_null() && model[name] != "" &&
        model[name] != 0.0)
      reader.refuse(std::string("model 'BPE' with ") + name, "it without");
  if (model.value("byte_fallback", false))
    reader.refuse("model 'BPE' with byte_fallback", "a byte-level BPE");
  if (!model.contains("vocab") || !model["vocab"].is_object() ||
      !model.contains("merges") || !model["merges"].is_array())
    reader.refuse("a model without vocab and merges", "both");
}

/// Reads both forms: "a b" and ["a", "b"].
static std::pair<std::string, std::string> readMerge(const json &merge) {
  if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
      merge[1].is_string())
    return {merge[0], merge[1]};
  if (!merge.is_string())
    return {};
  const auto &text = merge.get_ref<const std::string &>();
  size_t space = text.find(' ');
  if (space == std::string::npos)
    return {};
  return {text.substr(0, space), text.substr(space + 1)};
}

Tokenizer::Tokenizer(const std::string &file) : path(file) {
  Reader reader(path);
  json root = reader.parse();
  for (const char *name : {"normalizer", "truncation", "padding"})
    reader.expectNull(root, name);
  if (root.contains("post_processor") && !root["post_processor"].is_null() &&
      Reader::typeOf(root["post_processor"]) != "ByteLevel")
    reader.refuse("post_processor '" + Reader::typeOf(root["post_processor"]) +
                      "'",
                  "ByteLevel or none; --end-of-text TOKEN ends documents");
  splitters = reader.readSplitters(root.value("pre_tokenizer", json()));
  const json &model = root["model"];
  checkModel(reader, model);
  ignoreMerges = model.value("ignore_merges", false);

  std::unordered_map<std::string, uint32_t> names; // as in the file
  for (auto &[name, token] : model["vocab"].items()) {
    if (!token.is_number_unsigned() || token.get<uint64_t>() > INT32_MAX)
      fail("'%s' has token %s for '%s', expected a whole number below 2^31",
           path.c_str(), token.dump().c_str(), name.c_str());
    names[name] = token;
    count = std::max(count, token.get<uint32_t>() + 1);
    if (std::optional<std::string> raw = reader.bytesOf(name))
      vocabulary[*raw] = token;
  }
  for (int byte = 0; byte < 256; ++byte) {
    auto found = vocabulary.find(std::string(1, char(byte)));
    if (found == vocabulary.end())
      fail("'%s' has no token for byte %d, expected a byte-level BPE",
           path.c_str(), byte);
    bytes[size_t(byte)] = found->second;
  }
  uint32_t rank = 0;
  for (const json &entry : model["merges"]) {
    auto [left, right] = readMerge(entry);
    auto one = names.find(left), other = names.find(right),
         result = names.find(left + right);
    if (one == names.end() || other == names.end() || result == names.end())
      fail("'%s' has merge %s, expected two tokens that make a third",
           path.c_str(), entry.dump().substr(0, 80).c_str());
    merges.emplace(uint64_t(one->second) << 32 | other->second,
                   Merge{rank++, result->second});
  }
  for (const json &token : root.value("added_tokens", json::array())) {
    for (const char *flag : {"single_word", "lstrip", "rstrip"})
      if (token.value(flag, false))
        reader.refuse("added token '" + token.value("content", "") + "' with " +
                          flag,
                      "it without");
    std::string content = token.value("content", "");
    if (content.empty() || !token.contains("id") ||
        !token["id"].is_number_unsigned() ||
        token["id"].get<uint64_t>() > INT32_MAX)
      fail("'%s' has an added token without content or id", path.c_str());
    added.push_back({content, token["id"]});
    count = std::max(count, added.back().token + 1);
  }
}

std::optional<uint32_t> Tokenizer::find(const std::string &token) const {
  for (const Added &entry : added)
    if (entry.text == token)
      return entry.token;
  auto found = vocabulary.find(token);
  if (found == vocabulary.end())
    return std::nullopt;
  return found->second;
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

const Tokenizer::Merge *Tokenizer::findMerge(uint32_t left,
                                             uint32_t right) const {
  auto found = merges.find(uint64_t(left) << 32 | right);
  return found == merges.end() ? nullptr : &found->second;
}

namespace {

/// Two neighbours that may be merged. The lowest rank comes first, then the
/// leftmost.
struct Candidate {
  uint32_t rank, result;
  size_t left;
  uint32_t leftToken, rightToken; ///< at the time of the search

  bool operator<(const Candidate &other) const {
    return std::tie(rank, left) > std::tie(other.rank, other.left);
  }
};

/// Tokens of a word, linked, because merging removes some.
struct Symbol {
  uint32_t token;
  size_t before, after;
  bool isMerged = false; ///< into the one before
};

} // namespace

std::vector<uint32_t> Tokenizer::merge(std::string_view word) const {
  constexpr size_t none = SIZE_MAX;
  std::vector<Symbol> symbols;
  symbols.reserve(word.size());
  for (size_t i = 0; i < word.size(); ++i)
    symbols.push_back({bytes[(unsigned char)word[i]], i ? i - 1 : none,
                       i + 1 < word.size() ? i + 1 : none});
  std::priority_queue<Candidate> candidates;
  auto consider = [&](size_t left) {
    if (left == none || symbols[left].after == none)
      return;
    uint32_t one = symbols[left].token,
             other = symbols[symbols[left].after].token;
    if (const Merge *merge = findMerge(one, other))
      candidates.push({merge->rank, merge->result, left, one, other});
  };
  for (size_t i = 0; i < symbols.size(); ++i)
    consider(i);
  while (!candidates.empty()) {
    throwIfStopped(); // a word may be a whole text
    Candidate best = candidates.top();
    candidates.pop();
    Symbol &left = symbols[best.left];
    // The neighbours may have been merged meanwhile.
    if (left.isMerged || left.after == none || left.token != best.leftToken ||
        symbols[left.after].token != best.rightToken)
      continue;
    Symbol &right = symbols[left.after];
    right.isMerged = true;
    left.token = best.result;
    left.after = right.after;
    if (left.after != none)
      symbols[left.after].before = best.left;
    consider(left.before);
    consider(best.left);
  }
  std::vector<uint32_t> tokens;
  for (const Symbol &symbol : symbols)
    if (!symbol.isMerged)
      tokens.push_back(symbol.token);
  return tokens;
}

void Tokenizer::encodeWord(std::string_view word,
                           std::vector<uint32_t> &tokens) {
  throwIfStopped();
  constexpr size_t mostCached = 1 << 20, longestCached = 64;
  std::string key(word);
  auto found = cache.find(key);
  if (found != cache.end()) {
    tokens.insert(tokens.end(), found->second.begin(), found->second.end());
    return;
  }
  std::vector<uint32_t> merged;
  auto whole = ignoreMerges ? vocabulary.find(key) : vocabulary.end();
  if (whole != vocabulary.end())
    merged = {whole->second};
  else
    merged = merge(word);
  tokens.insert(tokens.end(), merged.begin(), merged.end());
  if (key.size() <= longestCached && cache.size() < mostCached)
    cache.emplace(std::move(key), std::move(merged));
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

void Tokenizer::encodePlain(std::string_view text,
                            std::vector<uint32_t> &tokens) {
  std::function<void(std::string_view, size_t)> cut =
      [&](std::string_view piece, size_t splitter) {
        if (splitter == splitters.size())
          return encodeWord(piece, tokens);
        splitters[splitter].split(
            piece, [&](std::string_view part) { cut(part, splitter + 1); });
      };
  cut(text, 0);
}

void Tokenizer::encode(std::string_view text, std::vector<uint32_t> &tokens) {
  // The next occurrence of each added token. The leftmost is taken, and among
  // these the longest.
  std::vector<size_t> next;
  next.reserve(added.size());
  for (const Added &entry : added)
    next.push_back(text.find(entry.text));
  for (size_t at = 0; at < text.size();) {
    size_t best = added.size(), place = std::string_view::npos;
    for (size_t i = 0; i < added.size(); ++i) {
      if (next[i] < at)
        next[i] = text.find(added[i].text, at);
      if (next[i] < place ||
          (next[i] == place && place != std::string_view::npos &&
           added[i].text.size() > added[best].text.size())) {
        best = i;
        place = next[i];
      }
    }
    encodePlain(text.substr(at, std::min(place, text.size()) - at), tokens);
    if (best == added.size())
      return;
    tokens.push_back(added[best].token);
    at = place + added[best].text.size();
  }
}
