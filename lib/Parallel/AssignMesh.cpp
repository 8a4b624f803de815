//===- AssignMesh.cpp - layouts of the arguments of @step -----------------===//
//
// The strategy enters the IR here. From here on, only layouts describe the
// division of work.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/SignatureEditor.h"
#include "dtc/Dialect/StepFunction.h"
#include "dtc/Parallel/Passes.h"
#include "dtc/Support/Axes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"

namespace dtc {
#define GEN_PASS_DEF_ASSIGNMESH
#include "dtc/Parallel/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

struct AssignMesh : public dtc::impl::AssignMeshBase<AssignMesh> {
  using AssignMeshBase::AssignMeshBase;

  void runOnOperation() override {
    auto step = getOperation().lookupSymbol<func::FuncOp>("step");
    if (!step) {
      getOperation().emitError("expected a function @step");
      return signalPassFailure();
    }
    int64_t inTime, ways;
    if (llvm::MulOverflow<int64_t>(microbatches, accumulate, inTime) ||
        llvm::MulOverflow<int64_t>(workers ? hsdp : dp, inTime, ways)) {
      step.emitError("dp x microbatches x accumulate = ")
          << int64_t(dp) << " x " << int64_t(microbatches) << " x "
          << int64_t(accumulate) << " parts of a batch are too many";
      return signalPassFailure();
    }
    MLIRContext *context = &getContext();
    auto name = [&](StringRef axis) { return StringAttr::get(context, axis); };
    if (hsdp < 1 || dp % hsdp != 0) {
      step.emitError("--hsdp is ")
          << int64_t(hsdp) << ", expected a divisor of --dp, which is "
          << int64_t(dp);
      return signalPassFailure();
    }
    if (ep < 1 || dp / hsdp % ep != 0) {
      step.emitError("--ep is ")
          << int64_t(ep) << ", expected a divisor of --dp, which is "
          << int64_t(dp);
      return signalPassFailure();
    }
    SmallVector<MeshAxis> axes = {{name(stageAxis), pp},
                                  {name(dataAxis), dp / hsdp / ep}};
    if (hsdp > 1)
      axes.push_back({name(shardAxis), hsdp});
    if (ep > 1)
      axes.push_back({name(expertAxis), ep});
    axes.push_back({name(tensorAxis), tp});
    if (failed(reorder(step, axes)))
      return signalPassFailure();
    if (tp == 1)
      llvm::erase_if(
          axes, [](const MeshAxis &axis) { return axis.name == tensorAxis; });
    axes.push_back({name(MeshAttr::timeAxis), inTime});
    auto mesh = MeshAttr::getChecked([&] { return step.emitError(); }, context,
                                     ArrayRef(axes));
    if (!mesh)
      return signalPassFailure();

    SmallVector<AxisLayout> batch = {
        AxisLayout::split(name(MeshAttr::timeAxis), 0)};
    bool haveOwn = workers && mesh.getSize(dataAxis) > 1;
    for (StringRef axis : {dataAxis, shardAxis, expertAxis})
      if (mesh.getSize(axis) > 1)
        batch.push_back(haveOwn && axis == dataAxis
                            ? AxisLayout::each(name(axis))
                            : AxisLayout::split(name(axis), 0));
    llvm::StringMap<unsigned> parameters;
    SignatureEditor signature(step);
    for (unsigned i = 0; i < step.getNumArguments(); ++i) {
      if (auto name = step.getArgAttrOfType<StringAttr>(i, attr::parameter))
        parameters[name.getValue()] = i;
      auto kind = step.getArgAttrOfType<StringAttr>(i, attr::kind);
      bool isBatch = kind && (kind == "input" || kind == "label");
      if (isBatch && failed(checkBatch(step, i, ways)))
        return signalPassFailure();
      SmallVector<AxisLayout> entries =
          isBatch ? batch : getSplits(step, i, parameters);
      // States with dtc.shared have one value for all workers.
      if (haveOwn && isKept(step, i) && !step.getArgAttr(i, attr::shared))
        entries.push_back(AxisLayout::each(name(dataAxis)));
      signature.setArg(i, attr::layout,
                       LayoutAttr::getCanonical(mesh, entries));
      signature.removeArg(i, attr::shared);
      signature.removeArg(i, attr::splitDims);
      if (auto members = step.getArgAttrOfType<ArrayAttr>(i, attr::members))
        signature.setArg(i, attr::members, assignMembers(mesh, members));
    }
    for (unsigned i = 0; i < step.getNumResults(); ++i)
      if (auto members = step.getResultAttrOfType<ArrayAttr>(i, attr::members))
        signature.setResult(i, attr::members, assignMembers(mesh, members));
    signature.write();
  }

  /// Puts axes in the requested order. Axes that are left out have size 1.
  LogicalResult reorder(func::FuncOp step, SmallVector<MeshAxis> &axes) {
    if (order.empty())
      return success();
    SmallVector<MeshAxis> all = axes, left = axes;
    axes.clear();
    for (const std::string &name : order) {
      auto *found = llvm::find_if(
          left, [&](const MeshAxis &axis) { return axis.name == name; });
      if (found == left.end())
        return emitOrderError(step, all);
      axes.push_back(*found);
      left.erase(found);
    }
    for (const MeshAxis &axis : left)
      if (axis.size > 1)
        return emitOrderError(step, all);
    axes.insert(axes.begin(), left.begin(), left.end());
    return success();
  }

  LogicalResult emitOrderError(func::FuncOp step, ArrayRef<MeshAxis> axes) {
    InFlightDiagnostic diag = step.emitError("order of the mesh's axes is '")
                              << llvm::join(order, ",")
                              << "', expected each of ";
    llvm::interleaveComma(axes, diag, [&](const MeshAxis &axis) {
      diag << axis.name.getValue() << " = " << axis.size;
    });
    return diag << " once; those of size 1 may be left out";
  }

  /// The splits of a parameter, or of the parameter that a state belongs to.
  SmallVector<AxisLayout>
  getSplits(func::FuncOp step, unsigned argument,
            const llvm::StringMap<unsigned> &parameters) {
    auto state = step.getArgAttrOfType<StringAttr>(argument, attr::state);
    if (state && !step.getArgAttr(argument, attr::splitDims))
      if (auto parameter = parameters.find(state.getValue().rsplit('.').first);
          parameter != parameters.end())
        argument = parameter->second;
    return getSplits(
        step.getArgAttrOfType<DictionaryAttr>(argument, attr::splitDims));
  }

  /// The splits in `dtc.split_dims`, which may be null. Major to minor: tp,
  /// shard, dp, ep.
  SmallVector<AxisLayout> getSplits(DictionaryAttr splitDims) {
    SmallVector<AxisLayout> splits;
    if (splitDims)
      for (NamedAttribute entry : splitDims)
        splits.push_back(AxisLayout::split(
            entry.getName(), cast<IntegerAttr>(entry.getValue()).getInt()));
    llvm::stable_sort(splits, [](const AxisLayout &a, const AxisLayout &b) {
      return getPlace(a.axis) < getPlace(b.axis);
    });
    return splits;
  }

  static int getPlace(StringRef axis) {
    return axis == expertAxis ? 2 : axis == dataAxis ? 1 : 0;
  }

  /// The members of a flat parameter, with layouts on their types.
  ArrayAttr assignMembers(MeshAttr mesh, ArrayAttr members) {
    SmallVector<Attribute> list;
    for (auto member : members.getAsRange<DictionaryAttr>()) {
      NamedAttrList entry(member);
      auto splitDims =
          dyn_cast_or_null<DictionaryAttr>(entry.erase(attr::splitDims));
      auto type = cast<TypeAttr>(entry.get("type")).getValue();
      entry.set("type",
                TypeAttr::get(withLayout(
                    cast<RankedTensorType>(type),
                    LayoutAttr::getCanonical(mesh, getSplits(splitDims)))));
      list.push_back(entry.getDictionary(&getContext()));
    }
    return ArrayAttr::get(&getContext(), list);
  }

  LogicalResult checkBatch(func::FuncOp step, unsigned argument, int64_t ways) {
    auto type = cast<RankedTensorType>(step.getArgumentTypes()[argument]);
    auto input = step.getArgAttrOfType<StringAttr>(argument, attr::input);
    if (type.getRank() == 0)
      return step.emitError("input '")
             << input.getValue()
             << "' is a scalar, expected a batch dimension first";
    int64_t batch = type.getDimSize(0);
    if (batch % ways == 0)
      return success();
    int64_t sharing = dp;
    if (workers) { // the user knows the batch of all
      bool isServed = llvm::any_of(step.getArguments(), [&](Value value) {
        unsigned number = cast<BlockArgument>(value).getArgNumber();
        return step.getArgAttr(number, attr::transient) != nullptr;
      });
      int64_t replicas = dp / hsdp - (isServed ? 1 : 0);
      batch *= replicas;
      ways *= replicas;
      sharing = replicas * hsdp;
    }
    int64_t below = batch / ways * ways, above = below + ways;
    InFlightDiagnostic diag =
        step.emitError("batch of ")
        << batch << " samples (input '" << input.getValue()
        << "') does not divide into dp x microbatches"
        << (accumulate > 1 ? " x accumulate" : "") << " = " << sharing << " x "
        << int64_t(microbatches);
    if (accumulate > 1)
      diag << " x " << int64_t(accumulate);
    diag << " parts; a batch of ";
    if (below > 0)
      diag << below << " or ";
    return diag << above << " would";
  }
};

} // namespace
