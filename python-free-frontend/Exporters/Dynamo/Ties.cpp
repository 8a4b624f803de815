//===- Ties.cpp - tensors with several names ------------------------------===//
//
// torch.export calls a tied tensor by one of its names; the other is that of
// the module which uses it: 'lm_head.weight' in module 'wte' is 'wte.weight'.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/Rules.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dtc::frontend {

void findTies(const RecordedProgram &program, Findings &findings) {
  auto tie = [&](StringRef name, StringRef alias) {
    if (!program.isUsed(alias) && findings.addAlias(alias))
      findings.tensors.aliases[name].push_back(alias.str());
  };
  for (ArrayRef<std::string> names : program.record.ties) {
    const std::string *present = find_if(
        names, [&](StringRef name) { return program.findTensor(name); });
    if (present != names.end())
      for (const std::string &name : names)
        if (name != *present && !program.findTensor(name))
          tie(*present, name);
  }
  for (int index = 0; index < program.size(); ++index) {
    const NodeRecord &origin = program.origin(index);
    if (!origin.call || origin.modules.empty())
      continue;
    for (const Origin *tensor : program.findTensors(*origin.call)) {
      std::string alias =
          (origin.module() + "." + splitName(tensor->name).second).str();
      const Origin *other = program.record.find(alias);
      if (tensor->kind == Origin::Parameter && other && other != tensor &&
          other->kind == Origin::Parameter)
        tie(tensor->name, alias);
    }
  }
}

void nameTies(RecordedProgram &program, Findings &findings) {
  auto &aliases = findings.tensors.aliases;
  StringSet<> &transposed = findings.tensors.transposed;
  StringMap<std::vector<std::string>> found;
  std::swap(found, aliases);
  for (auto &[name, others] : found) {
    std::vector<std::string> names{name.str()};
    append_range(names, others);
    // Null only for names that the record does not have.
    sort(names, [&](const std::string &a, const std::string &b) {
      return program.record.find(a) < program.record.find(b);
    });
    std::string first = names.front();
    if (first != name) {
      program.renameTensor(name, first);
      if (transposed.erase(name))
        transposed.insert(first);
    }
    names.erase(names.begin());
    aliases[first] = std::move(names);
  }
}

} // namespace dtc::frontend
