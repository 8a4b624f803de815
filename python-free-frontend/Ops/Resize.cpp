//===- Resize.cpp - import of Resize and Upsample -------------------------===//
//
// Resizes each dimension separately. Nearest elements are a lookup. Weighted
// ones are a product with a constant matrix, so gradients follow from it.
//
//===----------------------------------------------------------------------===//

#include "Ops/MatMul.h"
#include "Ops/Operators.h"
#include "Ops/Take.h"
#include "Shapes/ShapeRules.h"

#include <cmath>

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

namespace {
/// The resizing of one dimension.
struct Resizing {
  int64_t axis, from, to;
  double scale;
};

class Resizer {
public:
  explicit Resizer(NodeBuilder &node) : node(node), call(node.call) {}
  Error run();

private:
  Error readModes();
  Error readDims();
  double findSource(const Resizing &dim, int64_t i) const;
  int64_t findNearest(const Resizing &dim, int64_t i) const;
  double weigh(double distance) const;
  SmallVector<std::pair<int64_t, double>> findWeights(const Resizing &dim,
                                                      int64_t i) const;
  Value repeat(Value x, const Resizing &dim);
  Value average(Value x, const Resizing &dim);

  NodeBuilder &node;
  const Call &call;
  SmallVector<Resizing> dims;
  StringRef mode, coordinates, nearestMode;
  double cubic = -0.75;
  bool antialias = false, excludesOutside = false;
};
} // namespace

Error Resizer::readModes() {
  bool isUpsample = call.node.op_type() == "Upsample";
  // Before opset 11 positions are multiples of the scale.
  bool isOld = isUpsample || call.opset < 11;
  mode = call.getString("mode", "nearest");
  coordinates = call.getString("coordinate_transformation_mode",
                               isOld ? "asymmetric" : "half_pixel");
  nearestMode =
      call.getString("nearest_mode", isOld ? "floor" : "round_prefer_floor");
  cubic = call.getFloat("cubic_coeff_a", -0.75);
  if (!is_contained({"nearest", "linear", "bilinear", "cubic"}, mode))
    return problem("mode '" + mode + "' is not supported",
                   "supported are nearest, linear and cubic");
  if (!is_contained(
          {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"},
          coordinates))
    return problem("coordinate_transformation_mode '" + coordinates +
                       "' is not supported",
                   "supported are half_pixel, pytorch_half_pixel, "
                   "align_corners and asymmetric");
  antialias = call.getInt("antialias", 0) != 0;
  excludesOutside = call.getInt("exclude_outside", 0) != 0;
  return Error::success();
}

Error Resizer::readDims() {
  // Upsample and old Resize have scales as operand 1 or as an attribute.
  bool isNew = call.node.op_type() == "Resize" && call.opset >= 11;
  unsigned scalesAt = isNew ? 2 : 1;
  std::vector<double> scales;
  std::vector<int64_t> sizes;
  if (const auto *given = call.attribute("scales"))
    scales.assign(given->floats().begin(), given->floats().end());
  if (call.hasOperand(scalesAt)) {
    auto given = call.constant(scalesAt, "scales");
    if (!given)
      return given.takeError();
    for (int64_t i = 0; i < (*given)->size(); ++i)
      scales.push_back((*given)->getFloat(i));
  }
  if (call.hasOperand(3)) {
    auto given = call.constant(3, "sizes");
    if (!given)
      return given.takeError();
    sizes = (*given)->toInts();
  }
  size_t count = std::max(scales.size(), sizes.size());
  if (!scales.empty() && !sizes.empty() && scales.size() != sizes.size())
    return problem("has " + Twine(scales.size()) + " scales and " +
                       Twine(sizes.size()) + " sizes, expected equal numbers",
                   "the model is not valid ONNX; export it again");
  std::vector<int64_t> axes(count);
  for (size_t i = 0; i < count; ++i)
    axes[i] = i;
  if (auto given = call.getInts("axes"))
    axes = *given;
  if (axes.size() != count ||
      (count != size_t(call.rank(0)) && !call.attribute("axes")))
    return problem("has " + Twine(count) + " scales or sizes for " +
                   toString(call.shape(0)));
  if (call.getString("keep_aspect_ratio_policy", "stretch") != "stretch")
    return problem("keeps the aspect ratio", "give the sizes of the result");
  for (auto [i, given] : enumerate(axes)) {
    auto axis = normalizeAxis(given, call.rank(0));
    if (!axis)
      return axis.takeError();
    int64_t from = call.shape(0)[*axis];
    double size = sizes.empty() ? std::floor(from * scales[i]) : sizes[i];
    if (from < 1 || !(size >= 1))
      return problem("dimension " + Twine(*axis) + " of " +
                     toString(call.shape(0)) +
                     " is empty, or has an empty result");
    auto to = int64_t(std::min(size, 0x1p60));
    double scale = sizes.empty() ? scales[i] : size / from;
    // Checks the size of the constant of a dimension: indices or a matrix.
    if (Error error = mode == "nearest" ? requireFoldable({to})
                                        : requireFoldable({to, from}))
      return error;
    if (from != to || scale != 1)
      dims.push_back({*axis, from, to, scale});
  }
  return Error::success();
}

/// The position in the operand for element `i` of the result.
double Resizer::findSource(const Resizing &dim, int64_t i) const {
  double resized = dim.from * dim.scale;
  if (coordinates == "align_corners")
    return resized == 1 ? 0 : i * (dim.from - 1) / (resized - 1);
  if (coordinates == "asymmetric")
    return i / dim.scale;
  if (coordinates == "pytorch_half_pixel" && dim.to == 1)
    return 0;
  return (i + 0.5) / dim.scale - 0.5;
}

int64_t Resizer::findNearest(const Resizing &dim, int64_t i) const {
  double x = findSource(dim, i);
  double nearest = nearestMode == "floor"               ? std::floor(x)
                   : nearestMode == "ceil"              ? std::ceil(x)
                   : nearestMode == "round_prefer_ceil" ? std::floor(x + 0.5)
                                                        : std::ceil(x - 0.5);
  return std::clamp<int64_t>(int64_t(nearest), 0, dim.from - 1);
}

/// The weight of an element at a distance: linear, or Keys' cubic kernel.
double Resizer::weigh(double distance) const {
  double s = std::fabs(distance), a = cubic;
  if (mode != "cubic")
    return std::max(1 - s, 0.0);
  if (s <= 1)
    return ((a + 2) * s - (a + 3)) * s * s + 1;
  return s < 2 ? ((a * s - 5 * a) * s + 8 * a) * s - 4 * a : 0;
}

/// The elements and weights for element `i` of the result. Elements beyond the
/// ends are the last ones, or do not count. With antialias, smaller results use
/// more elements.
SmallVector<std::pair<int64_t, double>>
Resizer::findWeights(const Resizing &dim, int64_t i) const {
  double x = findSource(dim, i);
  double spread = antialias && dim.scale < 1 ? 1 / dim.scale : 1;
  double reach = (mode == "cubic" ? 2 : 1) * spread, sum = 0;
  SmallVector<std::pair<int64_t, double>> result;
  for (auto j = int64_t(std::ceil(x - reach)); j <= x + reach; ++j) {
    double weight = weigh((j - x) / spread);
    if (excludesOutside && (j < 0 || j >= dim.from))
      continue;
    result.push_back({std::clamp<int64_t>(j, 0, dim.from - 1), weight});
    sum += weight;
  }
  if (antialias || excludesOutside)
    for (auto &[j, weight] : result)
      weight /= sum;
  return result;
}

/// Looks up the nearest elements. If the scale is an integer, repeats elements
/// instead.
Value Resizer::repeat(Value x, const Resizing &dim) {
  Shape indices;
  bool isEven = dim.to % dim.from == 0;
  int64_t times = dim.to / dim.from;
  for (int64_t i = 0; i < dim.to; ++i) {
    indices.push_back(findNearest(dim, i));
    isEven = isEven && indices.back() == i / times;
  }
  if (!isEven)
    return take(node, x, dim.axis, indices);
  Shape shape(node.shapeOf(x)), single = shape, result = shape;
  single.insert(single.begin() + dim.axis + 1, 1);
  Shape repeated = single;
  repeated[dim.axis + 1] = times;
  result[dim.axis] = dim.to;
  return node.reshape(node.broadcast(node.reshape(x, single), repeated),
                      result);
}

Value Resizer::average(Value x, const Resizing &dim) {
  HostTensor matrix(fromType(node.elementType(x)), {dim.to, dim.from});
  for (int64_t i = 0; i < dim.to; ++i)
    for (auto [j, weight] : findWeights(dim, i))
      matrix.setFloat(i * dim.from + j,
                      matrix.getFloat(i * dim.from + j) + weight);
  int64_t last = node.shapeOf(x).size() - 1;
  Shape shape(node.shapeOf(node.swapDims(x, dim.axis, last)));
  Value rows = node.reshape(node.swapDims(x, dim.axis, last),
                            {numElements(shape) / dim.from, dim.from});
  Value result = buildProduct(node, rows, false, node.constant(matrix), true);
  shape.back() = dim.to;
  return node.swapDims(node.reshape(result, shape), dim.axis, last);
}

Error Resizer::run() {
  if (Error error = node.requireFloat(0))
    return error;
  if (Error error = readModes())
    return error;
  if (Error error = readDims())
    return error;
  Value x = node.operand(0);
  for (const Resizing &dim : dims)
    x = mode == "nearest" ? repeat(x, dim) : average(x, dim);
  node.setResult(0, x);
  return Error::success();
}

static Error importResize(NodeBuilder &node) { return Resizer(node).run(); }

void addResizeOperators(OperatorTable &table) {
  table.add({
      {"Resize", 10, 1, 4,
       "antialias axes coordinate_transformation_mode cubic_coeff_a "
       "exclude_outside extrapolation_value keep_aspect_ratio_policy mode "
       "nearest_mode",
       importResize, afterFirst},
      {"Upsample", 7, 1, 2, "mode scales", importResize, second},
  });
}

} // namespace dtc::frontend
