//===- BrokenModels.cpp - files that no importer may accept ---------------===//
//
// Other files passed by mistake, damaged graphs, damaged data.
//
//===----------------------------------------------------------------------===//

#include "Models.h"

namespace dtc::test {

namespace {
/// y = relu(x w) with dynamic batch.
ModelBuilder linear() {
  ModelBuilder m;
  m.input("x", {"batch", 4});
  m.weight("w", {4, 4});
  m.node("MatMul", "product", {"x", "w"}, {"h"});
  m.node("Relu", "activation", {"h"}, {"y"});
  m.output("y");
  return m;
}

File empty() { return std::string(); }
File html() {
  return std::string("<!DOCTYPE html>\n<html><body>404</body></html>\n");
}
File gitLfs() {
  return std::string("version https://git-lfs.github.com/spec/v1\noid "
                     "sha256:0\nsize 3613511\n");
}
File zip() { return std::string("PK\3\4 archive/data.pkl"); }
File garbage() { return std::string(1000, '\xff'); }
File text() { return std::string("this is not a model\n"); }
File truncated() {
  File file = linear();
  file.bytes.resize(file.bytes.size() / 2);
  return file;
}
File noGraph() {
  ModelBuilder m;
  m.model.clear_graph();
  return m;
}

File cyclic() {
  ModelBuilder m;
  m.input("x", {"batch", 4});
  m.node("Add", "first", {"x", "c"}, {"a"});
  m.node("Relu", "second", {"a"}, {"b"});
  m.node("Neg", "third", {"b"}, {"c"});
  m.output("c");
  return m;
}
File selfCycle() {
  ModelBuilder m;
  m.input("x", {"batch", 4});
  m.node("Add", "loop", {"x", "y"}, {"y"});
  m.output("y");
  return m;
}
File unsorted() {
  ModelBuilder m;
  m.input("x", {"batch", 4});
  m.node("Relu", "late", {"h"}, {"y"});
  m.node("Neg", "early", {"x"}, {"h"});
  m.output("y");
  return m;
}
File dangling() {
  ModelBuilder m;
  m.input("x", {"batch", 4});
  m.node("Add", "sum", {"x", "nowhere"}, {"y"});
  m.output("y");
  return m;
}
File danglingOutput() {
  ModelBuilder m = linear();
  m.output("z");
  return m;
}
File noOutputs() {
  ModelBuilder m = linear();
  m.graph().clear_output();
  return m;
}
File duplicateValue() {
  ModelBuilder m = linear();
  m.node("Neg", "", {"x"}, {"h"});
  return m;
}
File duplicateInput() {
  ModelBuilder m = linear();
  m.input("x", {"batch", 4});
  return m;
}
File duplicateInitializer() {
  ModelBuilder m = linear();
  m.weight("w", {4, 4});
  return m;
}
File overwrittenInput() {
  ModelBuilder m = linear();
  m.node("Neg", "inPlace", {"x"}, {"x"});
  return m;
}
File noOperator() {
  ModelBuilder m = linear();
  m.node("", "nothing", {"x"}, {"z"});
  return m;
}

File shortData() {
  ModelBuilder m = linear();
  m.graph().mutable_initializer(0)->mutable_raw_data()->resize(60);
  return m;
}
File negativeShape() {
  ModelBuilder m = linear();
  m.graph().mutable_initializer(0)->set_dims(0, -4);
  return m;
}
File externalMissing() {
  ModelBuilder m = linear();
  m.makeExternal(*m.graph().mutable_initializer(0), "missing.bin", 0, 64);
  return m;
}
File externalTruncated() {
  ModelBuilder m = linear();
  m.makeExternal(*m.graph().mutable_initializer(0), "truncated.bin", 32, 64);
  File file = m;
  file.externalName = "truncated.bin";
  file.externalBytes.assign(80, '\0');
  return file;
}
File externalOutside() {
  ModelBuilder m = linear();
  m.makeExternal(*m.graph().mutable_initializer(0), "../secret.bin", 0, 64);
  return m;
}
File externalOverflow() {
  ModelBuilder m = linear();
  // A length that overflows when the offset is added.
  m.makeExternal(*m.graph().mutable_initializer(0), "overflow.bin", 8, 0);
  m.graph().mutable_initializer(0)->mutable_external_data(2)->set_value(
      "18446744073709551612");
  File file = m;
  file.externalName = "overflow.bin";
  file.externalBytes.assign(80, '\0');
  return file;
}
File externalNul() {
  ModelBuilder m = linear();
  m.makeExternal(*m.graph().mutable_initializer(0),
                 std::string("weights.bin\0.old", 16), 0, 64);
  File file = m;
  file.externalName = "weights.bin";
  file.externalBytes.assign(64, '\0');
  return file;
}
/// A weight whose name has these bytes.
File named(const std::string &name) {
  ModelBuilder m = linear();
  m.graph().mutable_initializer(0)->set_name(name);
  m.graph().mutable_node(0)->set_input(1, name);
  return m;
}
File notUtf8() { return named("w\xff\xfe"); }
File nulName() { return named(std::string("w\0x", 3)); }
File longName() { return named(std::string(5000, 'w') + "\xff"); }

/// A model with this record of tools/export.py.
File recorded(const std::string &record) {
  ModelBuilder m = linear();
  auto &entry = *m.model.add_metadata_props();
  entry.set_key("dtc.tensors");
  entry.set_value(record);
  return m;
}
File recordTruncated() { return recorded(R"({"parameters": {"w": {"tra)"); }
File recordNumber() { return recorded("1"); }
File recordList() { return recorded(R"({"parameters": ["w"]})"); }
File recordFlag() {
  return recorded(R"({"parameters": {"w": {"trained": "no"}}})");
}
File recordTie() {
  return recorded(R"({"parameters": {"w": {}}, "ties": [["w", 1]]})");
}
} // namespace

void addBrokenModels(ModelTable &table) {
  table["empty"] = empty;
  table["html"] = html;
  table["git-lfs"] = gitLfs;
  table["zip"] = zip;
  table["garbage"] = garbage;
  table["text"] = text;
  table["truncated"] = truncated;
  table["no-graph"] = noGraph;
  table["cyclic"] = cyclic;
  table["self-cycle"] = selfCycle;
  table["unsorted"] = unsorted;
  table["dangling"] = dangling;
  table["dangling-output"] = danglingOutput;
  table["no-outputs"] = noOutputs;
  table["duplicate-value"] = duplicateValue;
  table["duplicate-input"] = duplicateInput;
  table["duplicate-initializer"] = duplicateInitializer;
  table["overwritten-input"] = overwrittenInput;
  table["no-operator"] = noOperator;
  table["short-data"] = shortData;
  table["negative-shape"] = negativeShape;
  table["external-missing"] = externalMissing;
  table["external-truncated"] = externalTruncated;
  table["external-outside"] = externalOutside;
  table["external-overflow"] = externalOverflow;
  table["external-nul"] = externalNul;
  table["name-not-utf8"] = notUtf8;
  table["name-nul"] = nulName;
  table["name-long"] = longName;
  table["record-truncated"] = recordTruncated;
  table["record-number"] = recordNumber;
  table["record-list"] = recordList;
  table["record-flag"] = recordFlag;
  table["record-tie"] = recordTie;
}

} // namespace dtc::test
