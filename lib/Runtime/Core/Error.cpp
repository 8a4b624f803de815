//===- Error.cpp - one-line errors of the training program ----------------===//

#include "Error.h"

#include <cstdarg>
#include <cstdint>
#include <cstdio>

using namespace dtc::rt;

static std::string formatList(const char *pattern, va_list arguments) {
  va_list measured;
  va_copy(measured, arguments);
  int size = vsnprintf(nullptr, 0, pattern, measured);
  va_end(measured);
  std::string text(size, '\0');
  vsnprintf(text.data(), size + 1, pattern, arguments);
  return text;
}

std::string dtc::rt::format(const char *pattern, ...) {
  va_list arguments;
  va_start(arguments, pattern);
  std::string text = formatList(pattern, arguments);
  va_end(arguments);
  return text;
}

void dtc::rt::fail(const char *pattern, ...) {
  va_list arguments;
  va_start(arguments, pattern);
  std::string text = formatList(pattern, arguments);
  va_end(arguments);
  throw Error(text);
}

static std::string prefix;

void dtc::rt::setLinePrefix(std::string text) { prefix = std::move(text); }

const char *dtc::rt::linePrefix() { return prefix.c_str(); }

std::string dtc::rt::formatBytes(double bytes) {
  const char *units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  for (; bytes >= 1024 && unit < 4; ++unit)
    bytes /= 1024;
  return format(unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}
