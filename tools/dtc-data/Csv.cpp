//===- Csv.cpp - tables of numbers ----------------------------------------===//

#include "Converters.h"
#include "Core/Error.h"
#include "Data/Npy.h"
#include "Names.h"
#include "Stop.h"
#include "System/MappedFile.h"

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
  /// The line of the last record's start, from 1.
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

static std::optional<double> readNumber(const std::string &text) {
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
  return std::nullopt;
}

static double parseNumber(const std::string &text, const std::string &path,
                          int64_t line, const std::string &column) {
  if (std::optional<double> value = readNumber(text))
    return *value;
  fail("'%s' has '%.40s' in line %lld, column '%s', expected a number",
       path.c_str(), text.c_str(), (long long)line, column.c_str());
}

static bool isWhole(const std::string &text) {
  return !text.empty() && text.size() <= 9 &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

namespace {

/// The results of the first pass over the file.
struct Table {
  std::vector<std::string> header;
  size_t label = 0;            ///< column
  std::vector<size_t> columns; ///< of the input, in its order
  int64_t rows = 0;
  /// The classes of the label column; none with --regression.
  std::map<std::string, int32_t> classes;
  int32_t classCount = 0;          ///< one above the highest number
  std::optional<Names> classNames; ///< unless all are whole numbers
};

} // namespace

/// Finds the columns by the names in the header.
static void chooseColumns(Table &table, const std::string &path,
                          const Settings &settings) {
  const std::string &label = settings.label;
  auto found = std::find(table.header.begin(), table.header.end(), label);
  if (found == table.header.end()) {
    std::string columns;
    for (const std::string &name : table.header)
      columns += (columns.empty() ? "'" : ", '") + name + "'";
    bool hasValues = std::all_of(
        table.header.begin(), table.header.end(),
        [](const std::string &name) { return readNumber(name).has_value(); });
    fail("'%s' has no column '%s', expected one of %.500s%s", path.c_str(),
         label.c_str(), columns.c_str(),
         hasValues && !settings.noHeader
             ? "; if its first line is no header, give --no-header"
             : "");
  }
  if (std::count(table.header.begin(), table.header.end(), label) > 1)
    fail("'%s' has column '%s' more than once, expected one column of labels",
         path.c_str(), label.c_str());
  if (table.header.size() < 2)
    fail("'%s' has one column, expected numbers beside the label",
         path.c_str());
  table.label = size_t(found - table.header.begin());
  for (size_t i = 0; i < table.header.size(); ++i)
    if (i != table.label)
      table.columns.push_back(i);
  if (settings.like.empty())
    return;
  std::string former = settings.like + "/columns.txt";
  Names names = Names::read(former);
  constexpr size_t none = SIZE_MAX;
  std::vector<size_t> columns(names.size(), none);
  for (size_t i : table.columns) {
    size_t &place = columns[names.find(table.header[i], path)];
    if (place != none)
      fail("'%s' has column '%s' twice, expected unique names of columns for "
           "--like",
           path.c_str(), table.header[i].c_str());
    place = i;
  }
  for (size_t i = 0; i < columns.size(); ++i)
    if (columns[i] == none)
      fail("'%s' has no column '%s', which is in '%s'", path.c_str(),
           names.inOrder()[i].c_str(), former.c_str());
  table.columns = columns;
}

/// The highest label of an earlier conversion that wrote whole numbers, without
/// names of classes.
static int32_t highestLabel(const Settings &settings) {
  int32_t highest = 0;
  for (const char *part : {"/", "/valid/"}) {
    std::string path = settings.like + part + settings.labels + ".npy";
    if (part[1] && !dtc::rt::fileExists(path))
      continue;
    dtc::rt::Npy labels(path);
    if (labels.dtype() != DTC_I32 || labels.shape().size() != 1)
      fail("'%s' has %zu dimensions of %s, expected one of <i4: the number of "
           "each sample's class",
           path.c_str(), labels.shape().size(), labels.descr().c_str());
    auto *data = reinterpret_cast<const int32_t *>(labels.data());
    for (int64_t i = 0; i < labels.shape()[0]; ++i)
      highest = std::max(highest, data[i]);
  }
  return highest;
}

/// A class that is a whole number keeps it. Other classes get numbers in the
/// order of their names, or those of an earlier conversion.
static void numberClasses(Table &table, const std::string &path,
                          const Settings &settings) {
  std::string former = settings.like + "/classes.txt";
  std::vector<std::string> names;
  const std::string *word = nullptr;
  for (const auto &[name, number] : table.classes) {
    names.push_back(name);
    if (!isWhole(name))
      word = &name;
  }
  if (word && word->find('.') != std::string::npos &&
      word->find_first_not_of("0123456789.+-eE") == std::string::npos)
    fprintf(stderr,
            "dtc-data: warning: '%s' has labels such as %s, which are classes; "
            "for numbers, give --regression\n",
            path.c_str(), word->c_str());
  if (!settings.like.empty() && dtc::rt::fileExists(former))
    table.classNames = Names::read(former);
  else if (word && settings.like.empty())
    table.classNames = Names(names);
  else if (word)
    fail("'%s' has the label '%.80s', expected whole numbers, as '%s' has no "
         "classes.txt",
         path.c_str(), word->c_str(), settings.like.c_str());
  for (auto &[name, number] : table.classes) {
    number = table.classNames ? int32_t(table.classNames->find(name, path))
                              : int32_t(std::stol(name));
    table.classCount = std::max(table.classCount, number + 1);
  }
  if (!settings.like.empty() && !table.classNames) {
    int32_t highest = highestLabel(settings);
    if (table.classCount > highest + 1)
      fail("'%s' has the label %d, expected 0 to %d as in '%s'", path.c_str(),
           table.classCount - 1, highest, settings.like.c_str());
    table.classCount = highest + 1;
  }
  if (table.classNames)
    table.classCount = int32_t(table.classNames->size());
}

static Table examine(const std::string &path, std::string_view text,
                     const Settings &settings) {
  Table table;
  CsvReader reader(path, text);
  if (!reader.next(table.header))
    fail("'%s' is empty, expected %s", path.c_str(),
         settings.noHeader ? "rows" : "a header");
  std::vector<std::string> fields = table.header;
  if (settings.noHeader) // columns are named by their numbers
    for (size_t i = 0; i < table.header.size(); ++i)
      table.header[i] = std::to_string(i);
  chooseColumns(table, path, settings);
  bool hasRow = settings.noHeader || reader.next(fields);
  for (; hasRow; hasRow = reader.next(fields)) {
    throwIfStopped();
    if (fields.size() != table.header.size())
      fail("'%s' has %zu fields in line %lld, expected %zu as in its %s",
           path.c_str(), fields.size(), (long long)reader.line(),
           table.header.size(), settings.noHeader ? "first line" : "header");
    ++table.rows;
    const std::string &label = fields[table.label];
    if (label.empty())
      fail("'%s' has no label in line %lld, column '%s', expected one in each",
           path.c_str(), (long long)reader.line(), settings.label.c_str());
    if (!settings.regression)
      table.classes[label] = 0;
  }
  if (!table.rows)
    fail("'%s' has a header only, expected rows", path.c_str());
  if (!settings.regression)
    numberClasses(table, path, settings);
  return table;
}

std::string dtc::data::convertCsv(const Settings &settings,
                                  const OutputFolder &folder) {
  const std::string &path = settings.sources[0];
  rt::MappedFile file(path);
  std::string_view text = file.bytes();
  if (text.starts_with("\xef\xbb\xbf")) // a mark of UTF-8
    text.remove_prefix(3);
  Table table = examine(path, text, settings);
  if (table.classNames)
    table.classNames->write(folder, "classes.txt");
  size_t columns = table.columns.size();
  std::vector<std::string> names;
  names.reserve(columns);
  for (size_t i : table.columns)
    names.push_back(table.header[i]);
  Names(names).write(folder, "columns.txt");

  bool regression = settings.regression;
  SampleWriter writer(folder, settings.input, settings.labels, DTC_F32,
                      {int64_t(columns)}, regression ? DTC_F32 : DTC_I32,
                      regression ? std::vector<int64_t>{1}
                                 : std::vector<int64_t>{});
  Split split(table.rows, settings.valid.value_or(0), settings.seed);
  CsvReader reader(path, text);
  std::vector<std::string> fields;
  std::vector<float> values(columns);
  if (!settings.noHeader)
    reader.next(fields);
  for (int64_t row = 0; reader.next(fields); ++row) {
    auto parse = [&](size_t column) {
      return float(parseNumber(fields[column], path, reader.line(),
                               table.header[column]));
    };
    std::transform(table.columns.begin(), table.columns.end(), values.begin(),
                   parse);
    float target = regression ? parse(table.label) : 0;
    int32_t number = regression ? 0 : table.classes.at(fields[table.label]);
    writer.append(split.isValid(row), values.data(),
                  regression ? static_cast<const void *>(&target) : &number);
  }
  writer.finish();
  std::string what = regression ? "labels are numbers"
                                : format("%d classes", table.classCount);
  return format("%s of %zu column%s, %s%s\n", writer.describe().c_str(),
                columns, columns == 1 ? "" : "s", what.c_str(),
                table.classNames ? " in classes.txt" : "");
}
