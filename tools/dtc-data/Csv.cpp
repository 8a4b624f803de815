//===- Csv.cpp - tables of numbers ----------------------------------------===//

#include "Converters.h"
#include "Core/Error.h"
#include "Core/MappedFile.h"
#include "Stop.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>

using namespace dtc::data;
using dtc::rt::fail;
using dtc::rt::format;

namespace {

/// The records of RFC 4180.
class CsvReader {
public:
  CsvReader(const std::string &path, std::string_view text)
      : path(path), text(text) {}

  /// The next record, or false at the end. Fields are valid until the next.
  bool next(std::vector<std::string> &fields);
  /// Where the last record started, from 1.
  int64_t line() const { return recordLine; }

private:
  std::string readField();
  std::string readQuoted();

  const std::string &path;
  std::string_view text;
  size_t at = 0;
  int64_t lines = 1, recordLine = 0;
};

} // namespace

std::string CsvReader::readQuoted() {
  std::string field;
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\n')
      ++lines;
    if (text[at] != '"') {
      field += text[at];
    } else if (at + 1 < text.size() && text[at + 1] == '"') {
      field += '"';
      ++at;
    } else {
      ++at;
      if (at < text.size() && !strchr(",\r\n", text[at]))
        fail("'%s' has '%c' after a quoted field in line %lld, expected ','",
             path.c_str(), text[at], (long long)lines);
      return field;
    }
  }
  fail("'%s' has a quoted field that does not end, in the record of line %lld",
       path.c_str(), (long long)recordLine);
}

std::string CsvReader::readField() {
  if (at < text.size() && text[at] == '"')
    return readQuoted();
  size_t end = std::min(text.find_first_of(",\r\n", at), text.size());
  std::string field(text.substr(at, end - at));
  at = end;
  return field;
}

bool CsvReader::next(std::vector<std::string> &fields) {
  fields.clear();
  recordLine = lines;
  if (at == text.size())
    return false;
  while (true) {
    fields.push_back(readField());
    if (at == text.size() || text[at] != ',')
      break;
    ++at;
  }
  if (at < text.size() && text[at] == '\r')
    ++at;
  if (at < text.size() && text[at] == '\n')
    ++at;
  ++lines;
  return true;
}

static double parseNumber(const std::string &text, const std::string &path,
                          int64_t line, const std::string &column) {
  size_t first = text.find_first_not_of(" \t+");
  size_t last = text.find_last_not_of(" \t");
  double value = 0;
  if (first != std::string::npos) {
    auto [end, error] =
        std::from_chars(text.data() + first, text.data() + last + 1, value);
    if (error == std::errc() && end == text.data() + last + 1 &&
        std::isfinite(value) && std::abs(value) <= 3.4e38)
      return value;
  }
  fail("'%s' has '%.40s' in line %lld, column '%s', expected a number",
       path.c_str(), text.c_str(), (long long)line, column.c_str());
}

static bool isWhole(const std::string &text) {
  return !text.empty() && text.size() <= 9 &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

namespace {

/// What the first reading of the file finds.
struct Table {
  std::vector<std::string> header;
  size_t label = 0; ///< column
  int64_t rows = 0;
  bool hasNames = false; ///< labels that are no whole numbers
  std::map<std::string, int32_t> classes;
};

} // namespace

static Table examine(const std::string &path, std::string_view text,
                     const std::string &label) {
  Table table;
  CsvReader reader(path, text);
  if (!reader.next(table.header))
    fail("'%s' is empty, expected a header", path.c_str());
  auto found = std::find(table.header.begin(), table.header.end(), label);
  if (found == table.header.end()) {
    std::string columns;
    for (const std::string &name : table.header)
      columns += (columns.empty() ? "'" : ", '") + name + "'";
    fail("'%s' has no column '%s', expected one of %.500s", path.c_str(),
         label.c_str(), columns.c_str());
  }
  if (table.header.size() < 2)
    fail("'%s' has one column, expected numbers beside the label",
         path.c_str());
  table.label = size_t(found - table.header.begin());
  for (std::vector<std::string> fields; reader.next(fields);) {
    throwIfStopped();
    if (fields.size() != table.header.size())
      fail("'%s' has %zu fields in line %lld, expected %zu as in its header",
           path.c_str(), fields.size(), (long long)reader.line(),
           table.header.size());
    ++table.rows;
    table.classes[fields[table.label]] = 0;
    table.hasNames |= !isWhole(fields[table.label]);
  }
  if (!table.rows)
    fail("'%s' has a header only, expected rows", path.c_str());
  return table;
}

std::string dtc::data::convertCsv(const Settings &settings,
                                  const OutputFolder &folder) {
  const std::string &path = settings.sources[0];
  rt::MappedFile file(path);
  std::string_view text = file.bytes();
  if (text.starts_with("\xef\xbb\xbf")) // a mark of UTF-8
    text.remove_prefix(3);
  Table table = examine(path, text, settings.label);
  std::string names;
  int32_t classes = 0;
  for (auto &[name, number] : table.classes) {
    number = table.hasNames ? classes++
                            : int32_t(isWhole(name) ? std::stol(name) : 0);
    classes = std::max(classes, number + !table.hasNames);
    names += name + "\n";
  }
  if (!settings.regression && table.hasNames)
    folder.writeText("classes.txt", names);

  size_t columns = table.header.size() - 1;
  bool regression = settings.regression;
  SampleWriter writer(folder, settings.input, settings.labels, DTC_F32,
                      {int64_t(columns)}, regression ? DTC_F32 : DTC_I32,
                      regression ? std::vector<int64_t>{1}
                                 : std::vector<int64_t>{});
  Split split(table.rows, settings.valid.value_or(0), settings.seed);
  CsvReader reader(path, text);
  std::vector<std::string> fields;
  std::vector<float> values(columns);
  reader.next(fields);
  for (int64_t row = 0; reader.next(fields); ++row) {
    size_t column = 0;
    float target = 0;
    for (size_t i = 0; i < fields.size(); ++i)
      if (i != table.label)
        values[column++] =
            float(parseNumber(fields[i], path, reader.line(), table.header[i]));
      else if (regression)
        target =
            float(parseNumber(fields[i], path, reader.line(), table.header[i]));
    int32_t number = table.classes[fields[table.label]];
    writer.append(split.isValid(row), values.data(),
                  regression ? static_cast<const void *>(&target) : &number);
  }
  writer.finish();
  std::string what =
      regression ? "labels are numbers" : format("%d classes", classes);
  return format("%s of %zu columns, %s%s\n", writer.describe().c_str(), columns,
                what.c_str(),
                !regression && table.hasNames ? " in classes.txt" : "");
}
