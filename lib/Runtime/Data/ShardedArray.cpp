//===- ShardedArray.cpp - one array in one or more files ------------------===//

#include "ShardedArray.h"

#include "Core/Error.h"

#include <algorithm>
#include <filesystem>

using namespace dtc::rt;
namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static int64_t countElements(const Npy &file) {
  return elementCount(file.shape());
}

ShardedArray::ShardedArray(std::vector<Npy> files)
    : shards(std::move(files)), starts{0}, fullShape(shards[0].shape()) {
  for (const Npy &shard : shards) {
    const std::vector<int64_t> &shape = shard.shape();
    if (&shard != shards.data()) {
      if (shard.dtype() != dtype())
        fail("'%s' has element type '%s', but '%s' has '%s'; expected shards "
             "of one type",
             shard.path().c_str(), shard.descr().c_str(), path().c_str(),
             descr().c_str());
      if (shape.empty() || fullShape.empty() ||
          !std::equal(shape.begin() + 1, shape.end(), fullShape.begin() + 1,
                      fullShape.end()))
        fail("'%s' has shape %s, but '%s' has %s; expected shards of one shape "
             "but for the first dimension",
             shard.path().c_str(), formatShape(shape).c_str(), path().c_str(),
             formatShape(shards[0].shape()).c_str());
      fullShape[0] += shape[0];
    }
    starts.push_back(starts.back() + countElements(shard));
  }
}

size_t ShardedArray::shardOf(int64_t element) const {
  return std::upper_bound(starts.begin(), starts.end(), element) -
         starts.begin() - 1;
}

template <typename Body>
void ShardedArray::forShards(int64_t first, int64_t count, Body body) const {
  for (size_t shard = shardOf(first); count > 0; ++shard) {
    int64_t here = std::min(count, starts[shard + 1] - first);
    if (here > 0)
      body(shards[shard], (first - starts[shard]) * sizeOf(dtype()), here);
    first += here;
    count -= here;
  }
}

void ShardedArray::read(int64_t first, int64_t count, dtc_dtype type,
                        void *target) const {
  char *to = static_cast<char *>(target);
  forShards(first, count, [&](const Npy &shard, int64_t offset, int64_t here) {
    convert(dtype(), shard.data() + offset, type, to, here);
    to += here * sizeOf(type);
  });
}

void ShardedArray::willNeed(int64_t first, int64_t count) const {
  forShards(first, count, [&](const Npy &shard, int64_t offset, int64_t here) {
    shard.willNeed(size_t(offset), size_t(here * sizeOf(dtype())));
  });
}

int64_t ShardedArray::findOutside(int64_t first, int64_t count,
                                  const IntegerRange &range,
                                  std::string &value) const {
  int64_t found = -1, start = first;
  forShards(first, count, [&](const Npy &shard, int64_t offset, int64_t here) {
    int64_t at = found >= 0
                     ? -1
                     : dtc::rt::findOutside(dtype(), shard.data() + offset,
                                            here, range, value);
    if (at >= 0)
      found = start + at;
    start += here;
  });
  return found;
}

//===----------------------------------------------------------------------===//
// Finding the files
//===----------------------------------------------------------------------===//

namespace {

using Paths = std::vector<std::string>;

/// Endings of the names of shards, and their contents.
struct Ending {
  const char *text;
  std::optional<dtc_dtype> raw; ///< nothing: NumPy's format
};

const Ending npyEnding = {".npy", {}};
const Ending u16Ending = {".bin", DTC_U16};
const Ending u32Ending = {".u32.bin", DTC_U32};

} // namespace

/// The number N of `name-N<ending>`, or -1.
static int64_t shardNumber(const std::string &file, const std::string &name,
                           const std::string &ending) {
  if (file.size() <= name.size() + 1 + ending.size() ||
      !file.starts_with(name + "-") || !file.ends_with(ending))
    return -1;
  std::string digits = file.substr(name.size() + 1, file.size() - name.size() -
                                                        1 - ending.size());
  if (digits.size() > 9 ||
      digits.find_first_not_of("0123456789") != std::string::npos)
    return -1;
  return std::stoll(digits);
}

static std::vector<std::string> listFiles(const std::string &directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error))
    names.push_back(it->path().filename().string());
  if (error)
    fail("cannot read folder '%s': %s", directory.c_str(),
         error.message().c_str());
  std::sort(names.begin(), names.end());
  return names;
}

static Paths findNumbered(const std::string &directory, const std::string &name,
                          const Ending &ending) {
  std::vector<std::pair<int64_t, std::string>> found;
  for (const std::string &file : listFiles(directory))
    if (int64_t number = shardNumber(file, name, ending.text); number >= 0)
      found.emplace_back(number, directory + "/" + file);
  std::sort(found.begin(), found.end());
  Paths paths;
  for (size_t i = 0; i < found.size(); ++i) {
    auto &[number, path] = found[i];
    if (number == int64_t(i) + (found[0].first == 1)) {
      paths.push_back(path);
      continue;
    }
    std::string before =
        i ? format(" after '%s'", found[i - 1].second.c_str()) : "";
    fail("found shard '%s'%s, expected number %lld: shards are numbered from 0 "
         "or 1 without a gap",
         path.c_str(), before.c_str(),
         (long long)(i ? int64_t(i) + (found[0].first == 1) : 0));
  }
  return paths;
}

static Paths findFolder(const std::string &folder, const Ending &ending) {
  Paths paths;
  if (fs::is_directory(folder))
    for (const std::string &file : listFiles(folder))
      if (file.ends_with(ending.text) &&
          (ending.raw != DTC_U16 || !file.ends_with(u32Ending.text)))
        paths.push_back(folder + "/" + file);
  return paths;
}

static std::optional<ShardedArray>
findArray(const std::string &directory, const std::string &name,
          std::initializer_list<Ending> endings) {
  Paths chosen;
  std::optional<dtc_dtype> raw;
  for (const Ending &ending : endings) {
    Paths whole;
    std::string path = directory + "/" + name + ending.text;
    if (fileExists(path))
      whole.push_back(path);
    for (const Paths &paths : {whole, findNumbered(directory, name, ending),
                               findFolder(directory + "/" + name, ending)}) {
      if (paths.empty())
        continue;
      if (!chosen.empty())
        fail("found both '%s' and '%s', expected one of them with all of '%s'",
             chosen[0].c_str(), paths[0].c_str(), name.c_str());
      chosen = paths;
      raw = ending.raw;
    }
  }
  if (chosen.empty())
    return std::nullopt;
  std::vector<Npy> shards;
  for (const std::string &path : chosen)
    if (raw)
      shards.emplace_back(path, *raw);
    else
      shards.emplace_back(path);
  return ShardedArray(std::move(shards));
}

std::optional<ShardedArray> dtc::rt::findArray(const std::string &directory,
                                               const std::string &name) {
  return ::findArray(directory, name, {npyEnding});
}

std::optional<ShardedArray> dtc::rt::findTokens(const std::string &directory) {
  return ::findArray(directory, "tokens", {npyEnding, u16Ending, u32Ending});
}
