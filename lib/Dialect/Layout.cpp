//===- Layout.cpp - mesh and layout attributes ----------------------------===//
//
// Printing, parsing, canonical order and constraints of #dtc.mesh and
// #dtc.layout.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Layout.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Support/Axes.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dtc;

#define GET_ATTRDEF_CLASSES
#include "dtc/Dialect/Attributes.cpp.inc"

void DTCDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dtc/Dialect/Attributes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// MeshAttr
//===----------------------------------------------------------------------===//

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SmallVector<MeshAxis> axes;
  auto parseAxis = [&]() -> ParseResult {
    StringRef name;
    int64_t size;
    if (parser.parseKeyword(&name) || parser.parseEqual() ||
        parser.parseInteger(size))
      return failure();
    axes.push_back({StringAttr::get(parser.getContext(), name), size});
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseAxis))
    return {};
  return parser.getChecked<MeshAttr>(parser.getContext(), axes);
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleaveComma(getAxes(), printer, [&](const MeshAxis &axis) {
    printer << axis.name.getValue() << "=" << axis.size;
  });
  printer << ">";
}

LogicalResult MeshAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<MeshAxis> axes) {
  if (axes.empty())
    return emitError() << "a mesh needs at least one axis";
  llvm::SmallPtrSet<const void *, 8> names;
  for (const MeshAxis &axis : axes) {
    if (!names.insert(axis.name.getAsOpaquePointer()).second)
      return emitError() << "mesh axis '" << axis.name.getValue()
                         << "' is listed twice";
    if (axis.size < 1)
      return emitError() << "mesh axis '" << axis.name.getValue()
                         << "' has size " << axis.size
                         << ", expected at least 1";
  }
  return success();
}

int64_t MeshAttr::getIndex(StringRef name) const {
  for (auto [i, axis] : llvm::enumerate(getAxes()))
    if (axis.name.getValue() == name)
      return i;
  return -1;
}

int64_t MeshAttr::getSize(StringRef name) const {
  int64_t index = getIndex(name);
  return index < 0 ? 1 : getAxes()[index].size;
}

bool MeshAttr::isOfBatch(StringRef axis) {
  return axis == timeAxis || axis == dataAxis || axis == shardAxis ||
         axis == expertAxis;
}

int64_t MeshAttr::getNumRanks() const {
  int64_t ranks = 1;
  for (const MeshAxis &axis : getAxes())
    if (axis.name.getValue() != timeAxis)
      ranks *= axis.size;
  return ranks;
}

//===----------------------------------------------------------------------===//
// LayoutAttr
//===----------------------------------------------------------------------===//

/// Sorts splits by dimension, without changing the order on one dimension,
/// except that axes of size 1 come first; then partials by mesh order.
static void sortCanonically(MeshAttr mesh,
                            SmallVectorImpl<AxisLayout> &entries) {
  using Key = std::tuple<bool, int64_t, bool, int64_t>;
  SmallVector<std::pair<Key, AxisLayout>> keyed;
  for (auto [i, entry] : llvm::enumerate(entries)) {
    int64_t position = mesh.getIndex(entry.axis.getValue());
    bool isUnit = mesh.getSize(entry.axis.getValue()) == 1;
    keyed.push_back({{entry.isPartial(), entry.isSplit() ? entry.dim : position,
                      !isUnit, isUnit ? position : static_cast<int64_t>(i)},
                     entry});
  }
  llvm::sort(keyed, llvm::less_first());
  for (auto [entry, pair] : llvm::zip(entries, keyed))
    entry = pair.second;
}

LayoutAttr LayoutAttr::getCanonical(MeshAttr mesh,
                                    SmallVector<AxisLayout> entries) {
  sortCanonically(mesh, entries);
  return get(mesh.getContext(), mesh, entries);
}

LayoutAttr LayoutAttr::getReplicated(MeshAttr mesh) {
  return get(mesh.getContext(), mesh, ArrayRef<AxisLayout>());
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  MeshAttr mesh;
  SmallVector<AxisLayout> entries;
  if (parser.parseLess() || parser.parseAttribute(mesh))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef axis, kind;
    if (parser.parseKeyword(&axis) || parser.parseColon() ||
        parser.parseKeyword(&kind))
      return {};
    auto name = StringAttr::get(parser.getContext(), axis);
    if (kind == "each") {
      entries.push_back(AxisLayout::each(name));
    } else if (kind == "split") {
      int64_t dim, pieces = 1;
      if (parser.parseLParen() || parser.parseInteger(dim) ||
          (succeeded(parser.parseOptionalKeyword("in")) &&
           parser.parseInteger(pieces)) ||
          parser.parseRParen())
        return {};
      entries.push_back(AxisLayout::split(name, dim, pieces));
    } else if (kind == "partial") {
      StringRef reduction = "sum";
      if (succeeded(parser.parseOptionalLParen()) &&
          (parser.parseKeyword(&reduction) || parser.parseRParen()))
        return {};
      std::optional<Reduction> value = symbolizeReduction(reduction);
      if (!value) {
        parser.emitError(parser.getCurrentLocation())
            << "unknown reduction '" << reduction << "', expected sum or max";
        return {};
      }
      entries.push_back(AxisLayout::partial(name, *value));
    } else {
      parser.emitError(parser.getCurrentLocation())
          << "unknown layout '" << kind << "', expected split, partial or each";
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  sortCanonically(mesh, entries);
  return parser.getChecked<LayoutAttr>(parser.getContext(), mesh, entries);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printAttribute(getMesh());
  for (const AxisLayout &entry : getEntries()) {
    printer << ", " << entry.axis.getValue() << ": ";
    if (entry.isSplit() && !entry.hasDim())
      printer << "each";
    else if (entry.isSplit() && entry.pieces > 1)
      printer << "split(" << entry.dim << " in " << entry.pieces << ")";
    else if (entry.isSplit())
      printer << "split(" << entry.dim << ")";
    else
      printer << "partial(" << stringifyReduction(entry.reduction) << ")";
  }
  printer << ">";
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 MeshAttr mesh, ArrayRef<AxisLayout> entries) {
  llvm::SmallPtrSet<const void *, 8> axes;
  for (const AxisLayout &entry : entries) {
    StringRef axis = entry.axis.getValue();
    if (mesh.getIndex(axis) < 0)
      return emitError() << "layout names axis '" << axis
                         << "', which is not in the mesh " << mesh;
    if (!axes.insert(entry.axis.getAsOpaquePointer()).second)
      return emitError() << "layout uses axis '" << axis << "' twice";
    if (!entry.isSplit())
      continue;
    if (entry.hasDim() && entry.dim < 0)
      return emitError() << "layout splits dimension " << entry.dim;
    if (entry.pieces < 1)
      return emitError() << "layout splits a dimension in " << entry.pieces
                         << " pieces, expected at least 1";
  }
  return success();
}

LogicalResult
LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                           function_ref<InFlightDiagnostic()> emitError) const {
  for (auto [dim, size] : llvm::enumerate(shape)) {
    int64_t ways = 1;
    for (const AxisLayout &entry : getSplitsOfDim(dim))
      ways *= getMesh().getSize(entry.axis.getValue()) * entry.pieces;
    if (size % ways != 0)
      return emitError() << "dimension " << dim << " of size " << size
                         << " does not divide into " << ways
                         << " parts as its layout says";
  }
  for (const AxisLayout &entry : getEntries())
    if (entry.isSplit() && entry.dim >= static_cast<int64_t>(shape.size()))
      return emitError() << "layout splits dimension " << entry.dim
                         << " of a tensor of rank " << shape.size();
  return success();
}

std::optional<AxisLayout> LayoutAttr::getEntry(StringRef axis) const {
  for (const AxisLayout &entry : getEntries())
    if (entry.axis.getValue() == axis)
      return entry;
  return std::nullopt;
}

bool LayoutAttr::isSplit(StringRef axis) const {
  std::optional<AxisLayout> entry = getEntry(axis);
  return entry && entry->isSplit();
}

bool LayoutAttr::isPartial(StringRef axis) const {
  std::optional<AxisLayout> entry = getEntry(axis);
  return entry && entry->isPartial();
}

bool LayoutAttr::hasPartial() const {
  return llvm::any_of(
      getEntries(), [](const AxisLayout &entry) { return entry.isPartial(); });
}

LayoutAttr LayoutAttr::without(ArrayRef<StringRef> axes) const {
  SmallVector<AxisLayout> entries;
  llvm::DenseMap<int64_t, int64_t> pieces; // of removed axes, by dimension
  for (AxisLayout entry : getEntries()) {
    if (entry.isSplit() && entry.hasDim()) {
      int64_t &before = pieces.try_emplace(entry.dim, 1).first->second;
      before = entry.pieces *= before;
    }
    if (llvm::is_contained(axes, entry.axis.getValue()))
      continue;
    if (entry.isSplit() && entry.hasDim())
      pieces[entry.dim] = 1;
    entries.push_back(entry);
  }
  return get(getContext(), getMesh(), entries);
}

LayoutAttr LayoutAttr::withoutPartials() const {
  SmallVector<AxisLayout> entries;
  for (const AxisLayout &entry : getEntries())
    if (entry.isSplit())
      entries.push_back(entry);
  return get(getContext(), getMesh(), entries);
}

SmallVector<AxisLayout> LayoutAttr::getSplitsOfDim(int64_t dim) const {
  SmallVector<AxisLayout> splits;
  for (const AxisLayout &entry : getEntries())
    if (entry.isSplit() && entry.dim == dim)
      splits.push_back(entry);
  return splits;
}

SmallVector<StringAttr> LayoutAttr::getAxesOfDim(int64_t dim) const {
  return llvm::map_to_vector(
      getSplitsOfDim(dim), [](const AxisLayout &entry) { return entry.axis; });
}

SmallVector<int64_t> LayoutAttr::getLocalShape(ArrayRef<int64_t> shape) const {
  SmallVector<int64_t> local(shape);
  for (const AxisLayout &entry : getEntries())
    if (entry.isSplit() && entry.hasDim())
      local[entry.dim] /= getMesh().getSize(entry.axis.getValue());
  return local;
}

//===----------------------------------------------------------------------===//
// Layouts of types
//===----------------------------------------------------------------------===//

LayoutAttr dtc::getLayout(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<LayoutAttr>(tensor.getEncoding())
                : LayoutAttr();
}

RankedTensorType dtc::withLayout(Type type, LayoutAttr layout) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor.getShape(), tensor.getElementType(),
                               layout);
}

RankedTensorType dtc::getLocalType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  LayoutAttr layout = getLayout(type);
  return RankedTensorType::get(layout ? layout.getLocalShape(tensor.getShape())
                                      : SmallVector<int64_t>(tensor.getShape()),
                               tensor.getElementType());
}
