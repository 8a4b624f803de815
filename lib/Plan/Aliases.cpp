//===- Aliases.cpp - values that share memory -----------------------------===//
//
// A result aliases an operand that is defined before it, so one walk in order
// finds every root.
//
//===----------------------------------------------------------------------===//

#include "dtc/Plan/Aliases.h"
#include "dtc/Dialect/SignatureEditor.h"

using namespace mlir;
using namespace dtc;

std::optional<Alias> dtc::getAlias(OpResult result) {
  Operation *op = result.getOwner();
  if (auto interface = dyn_cast<AliasInterface>(op))
    return interface.getAlias(result.getResultNumber());
  return std::nullopt;
}

bool dtc::isView(Operation *op) {
  // A call's results are new or overwrite an argument, and asking for each
  // takes long. A send also communicates.
  return op->getNumResults() > 0 && !isa<RunOp, LaunchOp, SendOp>(op) &&
         llvm::all_of(op->getResults(), [](OpResult result) {
           std::optional<Alias> alias = getAlias(result);
           return alias && alias->kind == AliasKind::View;
         });
}

bool dtc::overwritesOperand(Operation *op) {
  return llvm::any_of(op->getResults(), [](OpResult result) {
    std::optional<Alias> alias = getAlias(result);
    return alias && alias->kind == AliasKind::Update;
  });
}

SmallVector<Operation *> dtc::getReaders(ValueRange values) {
  llvm::SmallPtrSet<Operation *, 8> readers;
  SmallVector<Value> worklist(values);
  while (!worklist.empty())
    for (Operation *user : worklist.pop_back_val().getUsers())
      if (isView(user))
        llvm::append_range(worklist, user->getResults());
      else
        readers.insert(user);
  SmallVector<Operation *> sorted(readers.begin(), readers.end());
  llvm::sort(sorted,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return sorted;
}

int64_t dtc::getLocalBytes(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  int64_t elements = tensor.getNumElements();
  // A value split on the time axis has memory for all micro-batches.
  if (LayoutAttr layout = getLayout(type))
    for (const AxisLayout &entry : layout.getEntries())
      if (entry.hasDim() && entry.axis.getValue() != MeshAttr::timeAxis)
        elements /= layout.getMesh().getSize(entry.axis.getValue());
  return elements * llvm::divideCeil(tensor.getElementTypeBitWidth(), 8);
}

/// Byte offset of a view in its operand.
static int64_t getViewOffset(OpResult result) {
  if (auto slice = dyn_cast<SliceOp>(result.getOwner())) {
    RankedTensorType type = getLocalType(slice.getY().getType());
    int64_t size = type.getDimSize(slice.getAxis());
    return size == 0 ? 0
                     : slice.getStart() *
                           (getLocalBytes(slice.getY().getType()) / size);
  }
  if (auto rows = dyn_cast<MicrobatchOp>(result.getOwner()))
    return rows.getIndex() * getLocalBytes(result.getType());
  return 0;
}

AliasClasses::AliasClasses(Block &body) : body(body) {
  for (BlockArgument argument : body.getArguments()) {
    places[argument].root = argument;
    members[argument].push_back(argument);
  }
  extend();
}

void AliasClasses::extend() {
  Operation *op = last           ? last->getNextNode()
                  : body.empty() ? nullptr
                                 : &body.front();
  for (; op; op = op->getNextNode()) {
    add(*op);
    last = op;
  }
}

/// Aliases of the function that an op calls; null if it calls none.
const AliasClasses::Aliases *AliasClasses::getAliasesOfCall(Operation &op) {
  auto run = dyn_cast<RunOp>(op);
  auto launch = dyn_cast<LaunchOp>(op);
  if (!run && !launch)
    return nullptr;
  Attribute callee =
      run ? Attribute(run.getCalleeAttr()) : Attribute(launch.getKernelAttr());
  auto [it, isNew] = ofCallees.try_emplace(callee);
  Aliases &aliases = it->second;
  if (!isNew)
    return &aliases;
  aliases.resize(op.getNumResults());
  FunctionOpInterface function = run ? run.getFunction() : launch.getFunction();
  for (unsigned i = 0; function && i < function.getNumArguments(); ++i)
    if (auto update = function.getArgAttrOfType<IntegerAttr>(i, attr::update);
        update && update.getValue().ult(aliases.size()) &&
        !aliases[update.getInt()])
      aliases[update.getInt()] = Alias{i, AliasKind::Update};
  return &aliases;
}

void AliasClasses::add(Operation &op) {
  const Aliases *ofCall = getAliasesOfCall(op);
  for (OpResult result : op.getResults()) {
    std::optional<Alias> alias =
        ofCall ? (*ofCall)[result.getResultNumber()] : getAlias(result);
    Place place;
    place.root = result;
    if (alias) {
      place = places.lookup(op.getOperand(alias->operand));
      place.offset += getViewOffset(result);
      place.updated.reset();
      if (alias->kind == AliasKind::Update)
        place.updated = alias->operand;
    }
    places[result] = place;
    members[place.root].push_back(result);
  }
}

Value AliasClasses::getLast(Value root) const {
  for (Value member : llvm::reverse(getMembers(root)))
    if (isUpdate(member))
      return member;
  return root;
}

BlockArgument dtc::getOverwritten(Value returned, const AliasClasses &classes) {
  auto argument = dyn_cast<BlockArgument>(classes.getRoot(returned));
  if (!argument ||
      getLocalBytes(returned.getType()) != getLocalBytes(argument.getType()))
    return {};
  Value viewed = returned;
  while (Operation *op = viewed.getDefiningOp()) {
    if (!isView(op))
      return viewed == classes.getLast(argument) ? argument : BlockArgument();
    viewed = op->getOperand(getAlias(cast<OpResult>(viewed))->operand);
  }
  return {};
}

void dtc::annotateUpdates(func::FuncOp function) {
  AliasClasses classes(function.front());
  SignatureEditor signature(function);
  Builder builder(function.getContext());
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    signature.removeArg(i, attr::update);
  for (OpOperand &returned : function.front().getTerminator()->getOpOperands())
    if (BlockArgument argument = getOverwritten(returned.get(), classes))
      signature.setArg(argument.getArgNumber(), attr::update,
                       builder.getI64IntegerAttr(returned.getOperandNumber()));
  signature.write();
}
