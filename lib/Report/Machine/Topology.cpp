//===- Topology.cpp - the machines that run a plan ------------------------===//
//
// Reads the file key by key, so that each error names its key.
//
//===----------------------------------------------------------------------===//

#include "dtc/Report/Topology.h"
#include "dtc/Report/Devices.h"
#include "dtc/Support/ParseJson.h"
#include "dtc/Support/ReadFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include <cmath>

using namespace mlir;
using namespace dtc;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

namespace {

/// A key of the file, with the keys of the enclosing objects: "device.flops".
struct Key {
  enum Kind { Count, Positive, NotNegative };
  const char *name;
  Kind kind;
  bool isOptional = false;

  const char *getExpected() const {
    return kind == Count      ? "a whole number of at least 1"
           : kind == Positive ? "a number above 0"
                              : "a number of at least 0";
  }
};

constexpr Key keys[] = {{"nodes", Key::Count},
                        {"devices_per_node", Key::Count},
                        {"device.flops", Key::Positive},
                        {"device.memory_bandwidth", Key::Positive,
                         /*isOptional=*/true},
                        {"device.host_bandwidth", Key::Positive,
                         /*isOptional=*/true},
                        {"links.device.bandwidth", Key::Positive},
                        {"links.device.latency", Key::NotNegative},
                        {"links.node.bandwidth", Key::Positive},
                        {"links.node.latency", Key::NotNegative}};

class Reader {
public:
  Reader(StringRef path, const Device *model, StringRef numbers)
      : path(path), model(model), numbers(numbers) {}
  llvm::Expected<Topology> read();

private:
  llvm::Error fail(const llvm::Twine &message) {
    return llvm::createStringError(path + ": " + message);
  }
  llvm::Error flatten(const json::Object &object, const std::string &prefix);
  llvm::Error check(const Key &key);
  double get(StringRef name) { return values.at(name).getAsNumber().value(); }
  DeviceSpeed getSpeed();

  std::string path;
  const Device *model;
  StringRef numbers;
  llvm::StringMap<json::Value> values;
};

std::string print(const json::Value &value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

/// Stores each value that is not an object under its full name.
llvm::Error Reader::flatten(const json::Object &object,
                            const std::string &prefix) {
  for (auto &[name, value] : object) {
    std::string full = prefix + name.str();
    bool isKey = llvm::any_of(keys, [&](Key key) { return key.name == full; });
    bool isObject = llvm::any_of(keys, [&](Key key) {
      return StringRef(key.name).starts_with(full + ".");
    });
    if (!isKey && !isObject)
      return fail(
          "unknown key '" + full + "', expected only " +
          llvm::join(llvm::map_range(keys, [](Key key) { return key.name; }),
                     ", "));
    if (isKey) {
      values.try_emplace(full, value);
    } else if (const json::Object *inner = value.getAsObject()) {
      if (llvm::Error error = flatten(*inner, full + "."))
        return error;
    } else {
      return fail("'" + full + "' is " + print(value) + ", expected an object");
    }
  }
  return llvm::Error::success();
}

llvm::Error Reader::check(const Key &key) {
  auto found = values.find(key.name);
  bool isOfDevice = StringRef(key.name).starts_with("device.");
  if (found == values.end() && (key.isOptional || (isOfDevice && model)))
    return llvm::Error::success();
  if (isOfDevice && model)
    return fail(llvm::Twine("'") + key.name + "' is given, but --device " +
                model->name +
                " sets the figures of devices; leave out one of them");
  if (found == values.end())
    return fail(llvm::Twine("'") + key.name + "' is missing, expected " +
                key.getExpected());
  std::optional<double> number = found->second.getAsNumber();
  std::optional<int64_t> whole = found->second.getAsInteger();
  if (number && std::isfinite(*number) &&
      (key.kind == Key::Count      ? whole && *whole >= 1
       : key.kind == Key::Positive ? *number > 0
                                   : *number >= 0))
    return llvm::Error::success();
  return fail(llvm::Twine("'") + key.name + "' is " + print(found->second) +
              ", expected " + key.getExpected());
}

/// The file has one rate for all number formats.
DeviceSpeed Reader::getSpeed() {
  double flops = get("device.flops");
  return {flops,
          flops,
          flops,
          flops,
          get("device.memory_bandwidth"),
          values.contains("device.host_bandwidth")
              ? get("device.host_bandwidth")
              : 0};
}

llvm::Expected<Topology> Reader::read() {
  auto file = readFile(path, /*isText=*/true);
  if (!file)
    return fail(llvm::toString(file.takeError()));
  llvm::Expected<json::Value> root = parseJson((*file)->getBuffer());
  if (!root)
    return fail("is not JSON: " + llvm::toString(root.takeError()));
  const json::Object *object = root->getAsObject();
  if (!object)
    return fail("is " + print(*root) + ", expected an object");
  if (llvm::Error error = flatten(*object, ""))
    return std::move(error);
  for (const Key &key : keys)
    if (llvm::Error error = check(key))
      return std::move(error);
  auto getLink = [&](const std::string &name) {
    return Link{get(name + ".bandwidth"), get(name + ".latency")};
  };
  std::optional<DeviceSpeed> speed;
  if (model)
    speed = model->speed;
  else if (values.contains("device.memory_bandwidth"))
    speed = getSpeed();
  return Topology{*values.at("nodes").getAsInteger(),
                  *values.at("devices_per_node").getAsInteger(),
                  model ? speed->getFlops(numbers) : get("device.flops"),
                  getLink("links.device"),
                  getLink("links.node"),
                  speed};
}

} // namespace

llvm::Expected<Topology> Topology::read(StringRef path, const Device *model,
                                        StringRef numbers) {
  return Reader(path, model, numbers).read();
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

Link Topology::getSlowestLink(ArrayRef<int64_t> ranks) const {
  bool leaves = false, stays = false;
  for (size_t i = 0; i + 1 < ranks.size(); ++i)
    (getNode(ranks[i]) == getNode(ranks[i + 1]) ? stays : leaves) = true;
  if (!leaves)
    return device;
  if (!stays)
    return node;
  return {std::min(device.bandwidth, node.bandwidth),
          std::max(device.latency, node.latency)};
}

double Topology::getCollectiveSeconds(CollectiveKind kind,
                                      ArrayRef<int64_t> ranks, int64_t count,
                                      int64_t bytes) const {
  CollectiveSteps own = getSteps(getTraits(kind), ranks.size());
  Link link = getSlowestLink(ranks);
  return own.steps *
         (bytes / own.parts / link.bandwidth + count * link.latency);
}

double Topology::getMessageSeconds(int64_t from, int64_t to, int64_t count,
                                   int64_t bytes) const {
  const Link &link = getNode(from) == getNode(to) ? device : node;
  return bytes / link.bandwidth + count * link.latency;
}
