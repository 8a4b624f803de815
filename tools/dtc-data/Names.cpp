//===- Names.cpp - names of classes and columns ---------------------------===//

#include "Names.h"

#include "Core/Error.h"
#include "System/MappedFile.h"

#include <algorithm>

using namespace dtc::data;
using dtc::rt::fail;

Names::Names(std::vector<std::string> all) : names(std::move(all)) {
  for (size_t i = 0; i < names.size(); ++i)
    numbers.emplace(names[i], i);
}

Names Names::read(const std::string &path) {
  rt::MappedFile file(path);
  std::string_view text = file.bytes();
  std::vector<std::string> lines;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  Names names(std::move(lines));
  names.path = path;
  return names;
}

void Names::write(const OutputFolder &folder, const std::string &file) const {
  std::string text;
  for (const std::string &name : names) {
    if (size_t end = name.find('\n'); end != std::string::npos)
      fail("a name begins with '%.80s' and continues in another line, expected "
           "names of one line for '%s'",
           name.substr(0, end).c_str(), file.c_str());
    text += name + "\n";
  }
  folder.writeText(file, text);
}

size_t Names::find(const std::string &name, const std::string &source) const {
  auto found = numbers.find(name);
  if (found == numbers.end())
    fail("'%s' has '%.80s', which is not in '%s'", source.c_str(), name.c_str(),
         path.c_str());
  return found->second;
}
