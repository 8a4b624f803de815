//===- NpyHeader.cpp - header of a .npy file ------------------------------===//
//
// See NpyHeader.h.
//
//===----------------------------------------------------------------------===//

#include "dtc/Support/NpyHeader.h"
#include "dtc/Support/FormatShape.h"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace dtc;

/// The text after `'key':` in the header; null if there is none.
static const char *findValue(const std::string &header, const char *key) {
  size_t at = header.find(std::string("'") + key + "'");
  if (at == std::string::npos)
    return nullptr;
  at = header.find(':', at);
  if (at == std::string::npos)
    return nullptr;
  at = header.find_first_not_of(' ', at + 1);
  return at == std::string::npos ? nullptr : header.c_str() + at;
}

static const ElementType *parseType(const std::string &descr) {
  if (descr.empty() || !strchr("<|=", descr[0]))
    return nullptr;
  return findElementType(&ElementType::npy, descr.substr(1));
}

static std::string describeStart(std::string_view bytes) {
  std::string start;
  for (char c : bytes.substr(0, 6)) {
    char hex[8];
    snprintf(hex, sizeof hex, isprint((unsigned char)c) ? "%c" : "\\x%02x",
             (unsigned char)c);
    start += hex;
  }
  return start;
}

/// Parses the dictionary. Returns an error or an empty string.
static std::string parseDictionary(const std::string &text, NpyHeader &header) {
  const char *descr = findValue(text, "descr");
  const char *order = findValue(text, "fortran_order");
  const char *shape = findValue(text, "shape");
  if (!descr || !order || !shape || *shape != '(')
    return "has a corrupt .npy header: expected 'descr', 'fortran_order' and "
           "'shape'";
  if (*descr != '\'')
    return "holds records, expected plain numbers; save each field as an array "
           "of its own";
  const char *end = strchr(descr + 1, '\'');
  header.descr.assign(descr + 1, end ? end : descr + 1);
  if (header.descr.find('O') != std::string::npos)
    return "holds Python objects, expected numbers; save it with "
           "array.astype(...)";
  header.type = parseType(header.descr);
  if (!header.type)
    return "has element type '" + header.descr +
           "', expected little-endian floats of 2, 4 or 8 bytes, integers or "
           "bool";
  if (strncmp(order, "False", 5) != 0)
    return "is in Fortran order, expected C order; save it with "
           "numpy.ascontiguousarray";
  for (const char *at = shape + 1; *at && *at != ')';) {
    if (isdigit((unsigned char)*at)) {
      char *next;
      header.shape.push_back(strtoll(at, &next, 10));
      at = next;
    } else if (strchr(", L", *at)) { // Python 2 wrote 24L
      ++at;
    } else {
      return "has a corrupt .npy header: expected a shape such as (24, 3)";
    }
  }
  return "";
}

std::string dtc::parseNpyHeader(std::string_view bytes, NpyHeader &header) {
  if (bytes.size() < 10 || bytes.substr(0, 6) != "\x93NUMPY")
    return "is not a .npy file: it starts with '" + describeStart(bytes) +
           "', expected '\\x93NUMPY'";
  // Version 1 has a 16-bit header length, later ones 32 bits.
  unsigned version = (unsigned char)bytes[6];
  if (version < 1 || version > 3)
    return "has .npy version " + std::to_string(version) + ", expected 1 to 3";
  size_t lengthBytes = version == 1 ? 2 : 4, length = 0;
  size_t start = 8 + lengthBytes;
  if (bytes.size() >= start)
    memcpy(&length, bytes.data() + 8, lengthBytes);
  if (bytes.size() < start + length)
    return "is truncated: its header ends at byte " +
           std::to_string(start + length) + ", the file has " +
           std::to_string(bytes.size());
  std::string error =
      parseDictionary(std::string(bytes.substr(start, length)), header);
  if (!error.empty())
    return error;

  header.start = start + length;
  size_t found = bytes.size() - header.start;
  size_t expected = size_t(header.type->bytes);
  bool overflow = false;
  for (int64_t size : header.shape)
    overflow |= __builtin_mul_overflow(expected, size_t(size), &expected);
  if (overflow || found < expected)
    return "is truncated: shape " + formatShape(header.shape) + " of " +
           header.descr + " needs " +
           (overflow ? "2^64 or more" : std::to_string(expected)) +
           " bytes of data, the file has " + std::to_string(found);
  return "";
}
