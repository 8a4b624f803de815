//===- ShardingRule.cpp - inference of result layouts ---------------------===//
//
// Converts layouts to axes of factors, and axes of factors to layouts.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/ShardingRule.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace dtc;

unsigned ShardingRule::addFactor(int64_t size, FactorKind kind) {
  factors.push_back({size, kind});
  return factors.size() - 1;
}

void ShardingRule::setLinear(Linearity linearity) {
  unsigned count = operands.size();
  auto all = llvm::to_vector(llvm::seq<unsigned>(0, count));
  switch (linearity) {
  case Linearity::None:
    break;
  case Linearity::Jointly:
    linear.push_back(all);
    break;
  case Linearity::Each:
    for (unsigned i : all)
      linear.push_back({i});
    break;
  case Linearity::First:
    linear.push_back({0});
    break;
  case Linearity::Rest:
    linear.emplace_back(llvm::drop_begin(all));
    break;
  }
}

/// Assigns the axes of a dimension, each with its pieces, to its factors, major
/// first. Returns none if they do not divide the factors.
static std::optional<FactorAxes> readDimAxes(const ShardingRule &rule,
                                             const DimFactors &dimFactors,
                                             LayoutAttr layout, int64_t dim) {
  FactorAxes found(dimFactors.size());
  size_t position = 0;
  int64_t left = dimFactors.empty() ? 1 : rule.factors[dimFactors[0]].size;
  for (const AxisLayout &entry : layout.getSplitsOfDim(dim)) {
    int64_t size = layout.getMesh().getSize(entry.axis.getValue());
    int64_t skipped = entry.pieces, pieces = 1;
    while (skipped > 1 || (left == 1 && size > 1)) {
      if (left == 1) {
        if (++position >= dimFactors.size())
          return std::nullopt;
        left = rule.factors[dimFactors[position]].size;
        pieces = 1;
      } else if (skipped % left == 0) {
        skipped /= left;
        left = 1;
      } else if (left % skipped == 0) {
        left /= skipped;
        pieces = skipped;
        skipped = 1;
      } else {
        return std::nullopt;
      }
    }
    if (dimFactors.empty() || left % size != 0)
      return std::nullopt;
    left /= size;
    found[position].push_back({entry.axis, pieces});
  }
  return found;
}

bool dtc::readFactorAxes(const ShardingRule &rule, const TensorFactors &tensor,
                         LayoutAttr layout, FactorAxes &axes) {
  axes.resize(rule.factors.size());
  bool isExpressed = true;
  for (auto [dim, dimFactors] : llvm::enumerate(tensor)) {
    auto found = readDimAxes(rule, dimFactors, layout, dim);
    isExpressed &= found.has_value();
    if (!found)
      continue;
    for (auto [factor, list] : llvm::zip(dimFactors, *found))
      if (axes[factor].empty())
        axes[factor] = list;
  }
  return isExpressed;
}

std::optional<SmallVector<AxisLayout>>
dtc::writeFactorAxes(const ShardingRule &rule, const TensorFactors &tensor,
                     MeshAttr mesh, const FactorAxes &axes) {
  SmallVector<AxisLayout> entries;
  for (auto [dim, dimFactors] : llvm::enumerate(tensor)) {
    int64_t pieces = 1; // not split by an axis since the last one
    for (unsigned factor : dimFactors) {
      int64_t left = rule.factors[factor].size;
      for (const FactorAxis &own : axes[factor]) {
        int64_t size = mesh.getSize(own.axis.getValue());
        if (size == 1) {
          entries.push_back(AxisLayout::split(own.axis, dim));
          continue;
        }
        pieces *= own.pieces;
        if (pieces > 1 && !MeshAttr::isOfBatch(own.axis.getValue()))
          return std::nullopt;
        entries.push_back(AxisLayout::split(own.axis, dim, pieces));
        pieces = 1;
        left /= own.pieces * size;
      }
      pieces *= left;
    }
  }
  return entries;
}

static std::string printAxes(ArrayRef<FactorAxis> axes) {
  if (axes.empty())
    return "not split";
  std::string text = "split by ";
  llvm::raw_string_ostream os(text);
  llvm::interleave(
      axes, os, [&](const FactorAxis &own) { os << own.axis.getValue(); },
      ", ");
  return text;
}

/// Checks that on each axis the partial operands are a set of rule.linear.
static LogicalResult inferPartials(const ShardingRule &rule, MeshAttr mesh,
                                   ArrayRef<LayoutAttr> operands,
                                   SmallVectorImpl<AxisLayout> &partials,
                                   std::string &error) {
  for (const MeshAxis &axis : mesh.getAxes()) {
    SmallVector<unsigned> partial;
    Reduction reduction = Reduction::sum;
    for (auto [i, layout] : llvm::enumerate(operands))
      if (auto entry = layout.getEntry(axis.name);
          entry && entry->isPartial()) {
        partial.push_back(i);
        reduction = entry->reduction;
      }
    if (partial.empty())
      continue;
    if (reduction != Reduction::sum ||
        !llvm::is_contained(rule.linear, partial)) {
      error = ("operand " + Twine(partial.front()) + " is partial on " +
               axis.name.getValue() + ", and the op is not linear in it alone")
                  .str();
      if (partial.size() < operands.size() && reduction == Reduction::sum)
        error += "; the operands that are partial together must be those of "
                 "one sum";
      return failure();
    }
    partials.push_back(AxisLayout::partial(axis.name, reduction));
  }
  return success();
}

FailureOr<SmallVector<LayoutAttr>>
dtc::inferExactly(const ShardingRule &rule, MeshAttr mesh,
                  ArrayRef<LayoutAttr> operands, std::string &error,
                  ArrayRef<LayoutAttr> given) {
  FactorAxes axes(rule.factors.size());
  for (auto [i, layout] : llvm::enumerate(operands))
    if (!readFactorAxes(rule, rule.operands[i], layout, axes)) {
      error = ("operand " + Twine(i) +
               " is split along a dimension where this op needs it whole")
                  .str();
      return failure();
    }
  // All operands with a factor must agree on its axes. Axes that can split a
  // factor of size 1 have size 1, and make no difference.
  for (auto [i, layout] : llvm::enumerate(operands)) {
    FactorAxes own;
    readFactorAxes(rule, rule.operands[i], layout, own);
    for (const DimFactors &dimFactors : rule.operands[i])
      for (unsigned factor : dimFactors)
        if (own[factor] != axes[factor] && rule.factors[factor].size != 1) {
          error = ("operand " + Twine(i) + " is " + printAxes(own[factor]) +
                   " where another operand is " + printAxes(axes[factor]))
                      .str();
          return failure();
        }
  }

  // Factors that no operand has are free.
  llvm::BitVector bound(rule.factors.size());
  for (const TensorFactors &tensor : rule.operands)
    for (const DimFactors &dimFactors : tensor)
      for (unsigned factor : dimFactors)
        bound.set(factor);
  for (auto [tensor, layout] : llvm::zip(rule.results, given)) {
    FactorAxes wanted;
    if (!readFactorAxes(rule, tensor, layout, wanted))
      continue;
    for (unsigned factor = 0; factor < wanted.size(); ++factor)
      if (!bound[factor])
        axes[factor] = wanted[factor];
  }

  SmallVector<AxisLayout> partials;
  if (failed(inferPartials(rule, mesh, operands, partials, error)))
    return failure();
  llvm::SmallVector<StringAttr> used, summed;
  for (auto [factor, list] : llvm::zip(rule.factors, axes))
    for (const FactorAxis &own : list) {
      StringAttr axis = own.axis;
      if (factor.kind == FactorKind::Replicated &&
          mesh.getSize(axis.getValue()) > 1) {
        error = ("axis " + axis.getValue() +
                 " splits a dimension that this op needs whole")
                    .str();
        return failure();
      }
      if (llvm::is_contained(used, axis)) {
        error = ("axis " + axis.getValue() + " splits two dimensions").str();
        return failure();
      }
      used.push_back(axis);
      if (factor.kind == FactorKind::Sum) {
        partials.push_back(AxisLayout::partial(axis, Reduction::sum));
        summed.push_back(axis);
      } else if (factor.kind == FactorKind::Max)
        partials.push_back(AxisLayout::partial(axis, Reduction::max));
    }

  for (const AxisLayout &partial : partials)
    if (llvm::count_if(partials, [&](const AxisLayout &other) {
          return other.axis == partial.axis;
        }) > 1) {
      error =
          ("results would be partial on " + partial.axis.getValue() + " twice")
              .str();
      return failure();
    }

  SmallVector<LayoutAttr> results;
  for (const TensorFactors &tensor : rule.results) {
    std::optional<SmallVector<AxisLayout>> entries =
        writeFactorAxes(rule, tensor, mesh, axes);
    if (!entries) {
      error = "a result's dimension would be split inside, not at its major "
              "factor";
      return failure();
    }
    for (const AxisLayout &partial : partials)
      if (llvm::none_of(*entries, [&](const AxisLayout &entry) {
            return entry.axis == partial.axis;
          }))
        entries->push_back(partial);
      else if (!llvm::is_contained(summed, partial.axis)) {
        error = ("a result would be both split and partial on " +
                 partial.axis.getValue())
                    .str();
        return failure();
      }
    results.push_back(LayoutAttr::getCanonical(mesh, *entries));
  }
  return results;
}

/// The layout of results on a free axis by the rule alone: split along the only
/// factor that all operands have, partial, or `each`.
static SmallVector<AxisLayout> inferFree(const ShardingRule &rule,
                                         StringAttr axis,
                                         ArrayRef<LayoutAttr> operands) {
  std::optional<unsigned> factor;
  SmallVector<unsigned> partial;
  bool holds = true;
  for (auto [i, layout] : llvm::enumerate(operands)) {
    std::optional<AxisLayout> entry = layout.getEntry(axis);
    if (!entry)
      continue;
    if (entry->isPartial()) {
      partial.push_back(i);
      holds &= entry->reduction == Reduction::sum;
    } else if (entry->hasDim()) {
      const DimFactors &factors = rule.operands[i][entry->dim];
      holds &= !factors.empty() && factor.value_or(factors[0]) == factors[0];
      if (!factors.empty())
        factor = factors[0];
    }
  }
  bool isPartial = holds && !factor && llvm::is_contained(rule.linear, partial);
  if (holds && factor && partial.empty())
    isPartial = rule.factors[*factor].kind == FactorKind::Sum;
  SmallVector<AxisLayout> entries;
  for (const TensorFactors &tensor : rule.results) {
    AxisLayout entry = isPartial ? AxisLayout::partial(axis, Reduction::sum)
                                 : AxisLayout::each(axis);
    if (holds && factor && partial.empty())
      for (auto [dim, factors] : llvm::enumerate(tensor))
        if (llvm::is_contained(factors, *factor))
          entry = AxisLayout::split(axis, dim);
    entries.push_back(entry);
  }
  return entries;
}

/// Whether an axis has size 1 or each of its positions has values of its own,
/// if an operand depends on it. Fails if other operands are divided among the
/// positions.
static FailureOr<bool> isFree(const MeshAxis &axis,
                              ArrayRef<LayoutAttr> operands,
                              std::string &error) {
  bool depends = false, isEach = false, isDivided = false;
  for (LayoutAttr layout : operands)
    if (std::optional<AxisLayout> entry = layout.getEntry(axis.name)) {
      depends = true;
      (entry->isEach() ? isEach : isDivided) = true;
    }
  if (axis.size == 1)
    return depends;
  if (isEach && isDivided) {
    error = ("each position of axis " + axis.name.getValue() +
             " has an operand of its own, and another operand is divided "
             "among them")
                .str();
    return failure();
  }
  return isEach;
}

FailureOr<SmallVector<LayoutAttr>>
dtc::inferResultLayouts(const ShardingRule &rule, MeshAttr mesh,
                        ArrayRef<LayoutAttr> operands, std::string &error,
                        ArrayRef<LayoutAttr> given) {
  // Axes that an operand depends on, and that constrain nothing.
  SmallVector<StringAttr> free;
  SmallVector<StringRef> names;
  for (const MeshAxis &axis : mesh.getAxes()) {
    FailureOr<bool> found = isFree(axis, operands, error);
    if (failed(found))
      return failure();
    if (*found) {
      free.push_back(axis.name);
      names.push_back(axis.name.getValue());
    }
  }
  auto withoutFree = [&](ArrayRef<LayoutAttr> layouts) {
    return llvm::map_to_vector(
        layouts, [&](LayoutAttr layout) { return layout.without(names); });
  };
  FailureOr<SmallVector<LayoutAttr>> results = inferExactly(
      rule, mesh, withoutFree(operands), error, withoutFree(given));
  if (failed(results))
    return failure();
  for (StringAttr axis : free) {
    SmallVector<AxisLayout> inferred = inferFree(rule, axis, operands);
    for (auto [i, layout] : llvm::enumerate(*results)) {
      std::optional<AxisLayout> wanted;
      if (!given.empty())
        wanted = given[i].getEntry(axis);
      SmallVector<AxisLayout> entries(layout.getEntries());
      entries.push_back(wanted.value_or(inferred[i]));
      layout = LayoutAttr::getCanonical(mesh, entries);
    }
  }
  return results;
}
