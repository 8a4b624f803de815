//===- Npy.cpp - NumPy's array file, memory-mapped ------------------------===//

#include "Npy.h"

#include "Core/Error.h"

#include <cctype>
#include <cstdlib>
#include <cstring>

using namespace dtc::rt;

/// The text after `'key':` in the header, a Python dictionary.
static const char *findValue(const std::string &header, const char *key) {
  size_t at = header.find(std::string("'") + key + "'");
  if (at == std::string::npos)
    return nullptr;
  at = header.find(':', at);
  if (at == std::string::npos)
    return nullptr;
  return header.c_str() + header.find_first_not_of(' ', at + 1);
}

static const dtc::ElementType *parseType(const std::string &descr) {
  if (descr.empty() || !strchr("<|=", descr[0]))
    return nullptr;
  return dtc::findElementType(&dtc::ElementType::npy, descr.substr(1));
}

Npy::Npy(std::string path) : name(std::move(path)), file(name) {
  std::string_view bytes = file.bytes();
  if (bytes.size() < 10 || bytes.substr(0, 6) != "\x93NUMPY") {
    std::string start;
    for (char c : bytes.substr(0, 6))
      start += isprint((unsigned char)c) ? std::string(1, c)
                                         : format("\\x%02x", (unsigned char)c);
    fail("'%s' is not a .npy file: it starts with '%s', expected '\\x93NUMPY'",
         name.c_str(), start.c_str());
  }
  // Version 1 has a 16-bit header length, later ones 32 bits.
  unsigned version = (unsigned char)bytes[6];
  size_t lengthBytes = version == 1 ? 2 : 4, length = 0;
  size_t start = 8 + lengthBytes;
  if (version < 1 || version > 3)
    fail("'%s' has .npy version %u, expected 1 to 3", name.c_str(), version);
  if (bytes.size() >= start)
    memcpy(&length, bytes.data() + 8, lengthBytes);
  if (bytes.size() < start + length)
    fail("'%s' is truncated: its header ends at byte %zu, the file has %zu",
         name.c_str(), start + length, bytes.size());
  parseHeader(std::string(bytes.substr(start, length)));

  elements = bytes.data() + start + length;
  size_t found = bytes.size() - start - length, expected = sizeOf(type);
  bool overflow = false;
  for (int64_t size : dimensions)
    overflow |= __builtin_mul_overflow(expected, size_t(size), &expected);
  if (overflow || found < expected)
    fail("'%s' is truncated: shape %s of %s needs %zu bytes of data, the file "
         "has %zu",
         name.c_str(), formatShape(dimensions).c_str(), description.c_str(),
         expected, found);
}

void Npy::parseHeader(const std::string &header) {
  const char *descr = findValue(header, "descr");
  const char *order = findValue(header, "fortran_order");
  const char *shape = findValue(header, "shape");
  if (!descr || !order || !shape || *shape != '(')
    fail("'%s' has a corrupt .npy header: expected 'descr', 'fortran_order' "
         "and 'shape'",
         name.c_str());
  if (*descr != '\'')
    fail("'%s' holds records, expected plain numbers; save each field as an "
         "array of its own",
         name.c_str());
  const char *end = strchr(descr + 1, '\'');
  description.assign(descr + 1, end ? end : descr + 1);
  if (description.find('O') != std::string::npos)
    fail("'%s' holds Python objects, expected numbers; save it with "
         "array.astype(...)",
         name.c_str());
  if (const dtc::ElementType *known = parseType(description))
    type = known->code;
  else
    fail("'%s' has element type '%s', expected little-endian floats of 2, 4 "
         "or 8 bytes, integers or bool",
         name.c_str(), description.c_str());
  if (strncmp(order, "False", 5) != 0)
    fail("'%s' is in Fortran order, expected C order; save it with "
         "numpy.ascontiguousarray",
         name.c_str());
  for (const char *at = shape + 1; *at && *at != ')';) {
    if (isdigit((unsigned char)*at)) {
      char *next;
      dimensions.push_back(strtoll(at, &next, 10));
      at = next;
    } else {
      ++at;
    }
  }
}
