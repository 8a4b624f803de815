//===- ModuleCopy.h - calls as another module makes them --------*- C++ -*-===//
//
// What a graph computes with the parameters of one module, computed with those
// of another that begins equal:
//
//   %linear = linear(%x, %p_net_0_weight); %relu = relu(%linear)
//
// of `net` and `old` has these copies:
//
//   %linear_1 = linear(%x, %p_old_0_weight); %relu_1 = relu(%linear_1)
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_DYNAMO_MODULECOPY_H
#define DTC_FRONTEND_EXPORTERS_DYNAMO_MODULECOPY_H

#include "Exporters/Dynamo/RecordedProgram.h"

namespace dtc::frontend {

class ModuleCopy {
public:
  /// With those tensors that nothing uses and whose names begin with `to` where
  /// others begin with `from`. Adds them to `taken` when copies read them.
  ModuleCopy(RecordedProgram &program, llvm::StringSet<> &taken,
             llvm::StringRef from, llvm::StringRef to);

  /// The module that copies of a module's calls are in.
  std::string getModule(llvm::StringRef module) const;
  /// The copy of a value, made with all that it is computed of when it is first
  /// asked for. Of a call's result, or a part of one, `call` is the name that
  /// the copy then gets. "" if nothing that it is computed of is replaced.
  std::string get(llvm::StringRef value, llvm::StringRef call);
  /// Returns the name of the copy in calls, if calls name the value itself.
  std::string getCallName(llvm::StringRef value) const {
    return renamed.lookup(value);
  }

private:
  bool isReplaced(int index) const;
  void copyNode(int index, llvm::StringRef suffix);

  RecordedProgram &program;
  llvm::StringSet<> &taken;
  std::string from, to;
  llvm::StringMap<std::string> arguments; ///< of calls
  llvm::StringMap<std::string> results;   ///< of nodes
  llvm::StringMap<std::string> renamed;   ///< arguments, and results of calls
};

/// Adds a copy of a node; `results` are the copies of results, to read and to
/// add to.
onnx::NodeProto &copyNode(RecordedProgram &program, int index,
                          llvm::StringRef suffix,
                          llvm::StringMap<std::string> &results);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DYNAMO_MODULECOPY_H
