//===- Units.cpp - numbers for people -------------------------------------===//

#include "Units.h"

#include <cstdio>

using namespace dtc::rt;

std::string dtc::rt::formatCount(double value, const char *space) {
  const char *units[] = {"", "k", "M", "G", "T", "P"};
  int unit = 0;
  for (; value >= 999.5 && unit < 5; ++unit)
    value /= 1000;
  int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  char text[32];
  snprintf(text, sizeof text, "%.*f%s%s", decimals, value, space, units[unit]);
  return text;
}

std::string dtc::rt::formatTime(double seconds) {
  const char *units[] = {"us", "ms", "s"};
  int unit = 0;
  double value = seconds * 1e6;
  for (; value >= 999.95 && unit < 2; ++unit)
    value /= 1000;
  int decimals = value >= 99.995 ? 1 : value >= 9.9995 ? 2 : 3;
  char text[32];
  snprintf(text, sizeof text, "%5.*f %s", decimals, value, units[unit]);
  return text;
}
