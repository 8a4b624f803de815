//===- ForeignJson.h - JSON that anybody may have written -------*- C++ -*-===//
//
// The JSON library converts any number to any type: converting 1e30 to an
// integer is undefined, and 1.5 is rounded. These functions check the number.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_CORE_FOREIGNJSON_H
#define DTC_LIB_RUNTIME_CORE_FOREIGNJSON_H

#include "Error.h"
#include "dtc/Support/JsonDepth.h"

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dtc::rt {

/// Describes an error of reading JSON. Errors of the library name its
/// functions, so this rewords them.
template <typename Json>
std::string describeJsonError(const std::exception &error) {
  if (auto *syntax = dynamic_cast<const typename Json::parse_error *>(&error))
    return format("it is no JSON, at byte %zu", syntax->byte);
  if (!dynamic_cast<const typename Json::exception *>(&error))
    return error.what();
  std::string text = error.what();
  // "[...] key 'step' not found", "[...] type must be string, but is number".
  size_t key = text.find("key '"), end = text.rfind("' not found");
  if (key != std::string::npos && end != std::string::npos)
    return "it has no " + text.substr(key + 4, end + 1 - (key + 4));
  size_t expected = text.find("type must be "), found = text.find(", but is ");
  if (expected != std::string::npos && found != std::string::npos)
    return "found " + text.substr(found + 9) + ", expected " +
           text.substr(expected + 13, found - (expected + 13));
  return "an entry has another type than expected";
}

/// Throws an Error if the text is not JSON, or nests too deep for the parser
/// and the destructor.
template <typename Json> Json parseJson(std::string_view text) {
  if (dtc::isJsonTooDeep(text))
    fail("it nests deeper than %d arrays and objects", dtc::maxJsonDepth);
  return Json::parse(text);
}

/// Reads a whole number that fits into T; throws an Error for other numbers.
template <typename T = int64_t, typename Json> T readWhole(const Json &json) {
  if (json.is_number_unsigned()
          ? std::in_range<T>(json.template get<uint64_t>())
          : json.is_number_integer() &&
                std::in_range<T>(json.template get<int64_t>()))
    return json.template get<T>();
  fail("found %s, expected a whole number of %zu bits", json.dump().c_str(),
       8 * sizeof(T));
}

/// An array of such numbers.
template <typename T = int64_t, typename Json>
std::vector<T> readWholes(const Json &json) {
  std::vector<T> result;
  if (!json.is_array())
    fail("found %s, expected an array", json.dump().c_str());
  for (const Json &entry : json)
    result.push_back(readWhole<T>(entry));
  return result;
}

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_CORE_FOREIGNJSON_H
