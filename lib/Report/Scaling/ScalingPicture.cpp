//===- ScalingPicture.cpp - step time over the number of ranks as SVG -----===//
//
// Three plots share the axis of ranks. The axes of ranks, times and speed-ups
// are logarithmic, so that ideal strong scaling is a straight line.
//
//===----------------------------------------------------------------------===//

#include "dtc/Report/Report.h"
#include "dtc/Report/Scaling.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <algorithm>
#include <cmath>
#include <set>

using namespace mlir;
using namespace dtc;
using llvm::format;

namespace {

/// Lengths in pixels.
constexpr double margin = 20, titleHeight = 60;
constexpr double plotWidth = 300, plotHeight = 260;
constexpr double leftOfPlot = 58, rightOfPlot = 22, axisHeight = 52;
constexpr double pitch = leftOfPlot + plotWidth + rightOfPlot; ///< of plots
constexpr double lineHeight = 19, noteGap = 6;
constexpr double minTickGap = 24, markSize = 3.5;
/// Texts of notes are cut here, in characters, and notes there.
constexpr size_t longestNote = 175, mostNotes = 8;

/// Okabe and Ito's colors, which color-blind readers can tell apart.
constexpr const char *colors[] = {"#0072b2", "#d55e00", "#009e73",
                                  "#cc79a7", "#e69f00", "#56b4e9"};
constexpr const char *measuredColor = "#222222", *gray = "#707070";
constexpr const char *dashes = " stroke-dasharray=\"6 4\"";

/// A range of values and the pixels that show it.
struct Axis {
  double first, last; ///< values
  double start, end;  ///< pixels
  bool isLogarithmic;

  double getPixel(double value) const {
    auto scale = [&](double x) { return isLogarithmic ? std::log(x) : x; };
    return start + (scale(value) - scale(first)) /
                       (scale(last) - scale(first)) * (end - start);
  }
};

struct Tick {
  double value;
  std::string text;
};

/// The value of a point in a plot, given the reference of its curve.
using GetValue = double (*)(const ScalingPoint &point,
                            const ScalingPoint &reference);

double getSeconds(const ScalingPoint &point, const ScalingPoint &) {
  return point.seconds;
}
double getIdealSeconds(const ScalingPoint &point,
                       const ScalingPoint &reference) {
  return point.getIdealSeconds(reference);
}
double getSpeedUp(const ScalingPoint &point, const ScalingPoint &reference) {
  return point.getSpeedUp(reference);
}
double getRanks(const ScalingPoint &point, const ScalingPoint &) {
  return double(point.ranks);
}
double getPercent(const ScalingPoint &point, const ScalingPoint &reference) {
  return 100 * point.getEfficiency(reference);
}
double getFull(const ScalingPoint &, const ScalingPoint &) { return 100; }

class Picture {
public:
  Picture(const Scaling &scaling, llvm::raw_ostream &os)
      : scaling(scaling), os(os) {}
  void draw();

private:
  struct Plot {
    std::string name;
    std::vector<Tick> ticks; ///< of y
    GetValue getValue, getIdeal;
    Axis x, y;
  };

  void drawText(double x, double y, const char *anchor, const llvm::Twine &text,
                int size = 12, const char *color = "#222222",
                const char *more = "");
  /// The pixels of a point, as a path has them.
  std::string printPoint(const Plot &plot, const ScalingCurve &curve,
                         const ScalingPoint &point, GetValue getValue) const;
  void drawIdeal(const Plot &plot);
  void drawCurve(const Plot &plot, const ScalingCurve &curve,
                 const char *color);
  void drawMark(double x, double y, const char *color, bool isMeasured);
  void drawFrame(const Plot &plot);
  void drawPlot(const Plot &plot);
  void drawLegend(double y);

  /// The smallest and the largest of the values of all points.
  std::pair<double, double> getRange(ArrayRef<GetValue> functions) const;
  void collectRanks();
  std::vector<Plot> makePlots(double bottom) const;
  const char *getColor(size_t curve) const {
    return scaling.curves[curve].isMeasured ? measuredColor
                                            : colors[curve % std::size(colors)];
  }
  Axis getRankAxis(double left) const;

  const Scaling &scaling;
  llvm::raw_ostream &os;
  std::vector<int64_t> ranks; ///< of all points, ascending
};

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

/// Values at 1, 2 and 5 times powers of ten, from the last that is not above
/// `smallest` to the first that is not below `largest`.
std::vector<Tick> makeTicks(double smallest, double largest, double unit) {
  std::vector<Tick> ticks;
  double power = std::pow(10, std::floor(std::log10(smallest / unit)));
  while (true) {
    for (double factor : {1.0, 2.0, 5.0}) {
      double value = factor * power;
      // Rounding must not add a tick on either side.
      if (value * unit <= smallest * (1 + 1e-9))
        ticks.clear();
      std::string text;
      llvm::raw_string_ostream(text) << format("%g", value);
      ticks.push_back({value * unit, text});
      if (value * unit >= largest * (1 - 1e-9) && ticks.size() > 1)
        return ticks;
    }
    power *= 10;
  }
}

/// The unit in which times are easy to read.
std::pair<double, const char *> getUnit(double seconds) {
  if (seconds >= 1)
    return {1, "s"};
  return seconds >= 1e-3 ? std::pair(1e-3, "ms") : std::pair(1e-6, "us");
}

void Picture::collectRanks() {
  for (const ScalingCurve &curve : scaling.curves)
    for (const ScalingPoint &point : curve.points)
      ranks.push_back(point.ranks);
  llvm::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
}

std::pair<double, double>
Picture::getRange(ArrayRef<GetValue> functions) const {
  std::pair<double, double> range(HUGE_VAL, 0);
  for (const ScalingCurve &curve : scaling.curves)
    for (const ScalingPoint &point : curve.points)
      for (GetValue getValue : functions) {
        double value = getValue(point, *scaling.getReference(curve));
        range.first = std::min(range.first, value);
        range.second = std::max(range.second, value);
      }
  return range;
}

Axis Picture::getRankAxis(double left) const {
  double first = double(ranks.front()), last = double(ranks.back());
  if (first == last) {
    first /= 2;
    last *= 2;
  }
  return {first, last, left, left + plotWidth, /*isLogarithmic=*/true};
}

//===----------------------------------------------------------------------===//
// Drawing
//===----------------------------------------------------------------------===//

void Picture::drawText(double x, double y, const char *anchor,
                       const llvm::Twine &text, int size, const char *color,
                       const char *more) {
  os << format("<text x=\"%.1f\" y=\"%.1f\" font-size=\"%d\" ", x, y, size)
     << "text-anchor=\"" << anchor << "\" fill=\"" << color << "\"" << more
     << ">";
  llvm::printHTMLEscaped(text.str(), os);
  os << "</text>\n";
}

std::string Picture::printPoint(const Plot &plot, const ScalingCurve &curve,
                                const ScalingPoint &point,
                                GetValue getValue) const {
  std::string text;
  llvm::raw_string_ostream(text)
      << format("%.1f %.1f", plot.x.getPixel(double(point.ranks)),
                plot.y.getPixel(getValue(point, *scaling.getReference(curve))));
  return text;
}

/// Draws each segment once: overlapping dashes would look like a solid line.
void Picture::drawIdeal(const Plot &plot) {
  std::set<std::string> drawn;
  for (const ScalingCurve &curve : scaling.curves)
    for (size_t i = 1; i < curve.points.size(); ++i) {
      std::string from =
          printPoint(plot, curve, curve.points[i - 1], plot.getIdeal);
      std::string to = printPoint(plot, curve, curve.points[i], plot.getIdeal);
      std::string segment = ("M" + from + "L" + to);
      if (drawn.insert(segment).second)
        os << "<path d=\"" << segment << "\" stroke=\"" << gray << "\""
           << dashes << "/>\n";
    }
}

void Picture::drawCurve(const Plot &plot, const ScalingCurve &curve,
                        const char *color) {
  os << "<polyline fill=\"none\" stroke=\"" << color
     << "\" stroke-width=\"1.8\" points=\"";
  for (const ScalingPoint &point : curve.points)
    os << printPoint(plot, curve, point, plot.getValue) << " ";
  os << "\"/>\n";
}

/// Measured points are squares.
void Picture::drawMark(double x, double y, const char *color, bool isMeasured) {
  if (isMeasured)
    os << format("<rect x=\"%.1f\" y=\"%.1f\" width=\"%g\" height=\"%g\"",
                 x - markSize, y - markSize, 2 * markSize, 2 * markSize);
  else
    os << format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\"", x, y, markSize);
  os << " fill=\"" << color << "\"/>";
}

void Picture::drawFrame(const Plot &plot) {
  double left = plot.x.start, right = plot.x.end;
  double bottom = plot.y.start, top = plot.y.end;
  drawText((left + right) / 2, top - 10, "middle", plot.name, 13, "#222222",
           " font-weight=\"bold\"");
  for (const Tick &tick : plot.ticks) {
    double y = plot.y.getPixel(tick.value);
    os << format("<path d=\"M%.1f %.1fH%.1f\" stroke=\"#e4e4e4\"/>\n", left, y,
                 right);
    drawText(left - 7, y + 4, "end", tick.text, 11);
  }
  double used = -HUGE_VAL; // the place of the last label
  for (int64_t rank : ranks) {
    double x = plot.x.getPixel(double(rank));
    os << format("<path d=\"M%.1f %.1fv5\" stroke=\"#555555\"/>\n", x, bottom);
    if (x - used < minTickGap)
      continue;
    drawText(x, bottom + 19, "middle", llvm::Twine(rank), 11);
    used = x;
  }
  os << format("<path d=\"M%.1f %.1fV%.1fH%.1f\" stroke=\"#555555\" "
               "fill=\"none\"/>\n",
               left, top, bottom, right);
  drawText((left + right) / 2, bottom + 38, "middle", "ranks");
}

void Picture::drawPlot(const Plot &plot) {
  drawFrame(plot);
  drawIdeal(plot);
  for (auto [i, curve] : llvm::enumerate(scaling.curves)) {
    drawCurve(plot, curve, getColor(i));
    for (const ScalingPoint &point : curve.points) {
      ScalingPoint reference = *scaling.getReference(curve);
      os << "<g><title>";
      llvm::printHTMLEscaped(curve.name, os);
      os << " on " << formatCount(point.ranks, "rank") << ": "
         << formatSeconds(point.seconds)
         << format(", speed-up %.2f, efficiency %.1f %%</title>",
                   point.getSpeedUp(reference),
                   100 * point.getEfficiency(reference));
      drawMark(plot.x.getPixel(double(point.ranks)),
               plot.y.getPixel(plot.getValue(point, reference)), getColor(i),
               curve.isMeasured);
      os << "</g>\n";
    }
  }
}

void Picture::drawLegend(double y) {
  double x = margin + leftOfPlot;
  auto drawSample = [&](const char *color, const char *more) {
    os << format("<path d=\"M%.1f %.1fh30\" stroke=\"%s\" stroke-width=\"2\"%s"
                 "/>",
                 x, y - 4, color, more);
  };
  for (auto [i, curve] : llvm::enumerate(scaling.curves)) {
    drawSample(getColor(i), "");
    drawMark(x + 15, y - 4, getColor(i), curve.isMeasured);
    drawText(x + 40, y, "start",
             curve.points.empty() ? curve.name + " (not possible)"
                                  : curve.name);
    y += lineHeight;
  }
  drawSample(gray, dashes);
  drawText(x + 40, y, "start", "ideal: the speed-up is the number of ranks");
  y += noteGap;
  for (auto [i, note] : llvm::enumerate(scaling.notes)) {
    y += lineHeight;
    if (i == mostNotes) {
      drawText(x, y, "start",
               "and " + llvm::Twine(scaling.notes.size() - i) + " more", 11,
               gray);
      return;
    }
    std::string text = note.substr(0, longestNote);
    drawText(x, y, "start", text + (text == note ? "" : " ..."), 11, gray);
  }
}

std::vector<Picture::Plot> Picture::makePlots(double bottom) const {
  auto [fastest, slowest] = getRange({getSeconds, getIdealSeconds});
  auto [unit, unitName] = getUnit(slowest);
  auto [least, most] = getRange({getSpeedUp, getRanks});
  double highest = getRange({getPercent, getFull}).second;
  int64_t step = 20;
  while (highest / double(step) > 10)
    step *= 5;
  std::vector<Tick> percents;
  for (int64_t i = 0, last = std::ceil(highest / double(step)); i <= last; ++i)
    percents.push_back({double(i * step), std::to_string(i * step)});

  std::vector<Plot> plots;
  auto add = [&](std::string name, std::vector<Tick> ticks, GetValue getValue,
                 GetValue getIdeal, bool isLogarithmic) {
    double left = margin + leftOfPlot + double(plots.size()) * pitch;
    Axis y = {ticks.front().value, ticks.back().value, bottom, titleHeight,
              isLogarithmic};
    plots.push_back({std::move(name), std::move(ticks), getValue, getIdeal,
                     getRankAxis(left), y});
  };
  add(std::string("step time, ") + unitName, makeTicks(fastest, slowest, unit),
      getSeconds, getIdealSeconds,
      /*isLogarithmic=*/true);
  add("speed-up", makeTicks(least, most, 1), getSpeedUp, getRanks,
      /*isLogarithmic=*/true);
  add("efficiency, %", percents, getPercent, getFull, /*isLogarithmic=*/false);
  return plots;
}

void Picture::draw() {
  collectRanks();
  double width = 2 * margin + 3 * pitch;
  double bottom = titleHeight + plotHeight;
  size_t lines =
      scaling.curves.size() + 1 + std::min(scaling.notes.size(), mostNotes + 1);
  double height =
      bottom + axisHeight + double(lines) * lineHeight + noteGap + margin;
  os << "<svg xmlns=\"http://www.w3.org/2000/svg\" "
     << format("width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" ",
               width, height, width, height)
     << "font-family=\"sans-serif\">\n"
     << format("<rect width=\"%.0f\" height=\"%.0f\" fill=\"#ffffff\"/>\n",
               width, height);
  drawText(width / 2, 24, "middle", scaling.title, 15);
  for (const Plot &plot : makePlots(bottom))
    drawPlot(plot);
  drawLegend(bottom + axisHeight + lineHeight - 4);
  os << "</svg>\n";
}

} // namespace

void Scaling::printSvg(llvm::raw_ostream &os) const {
  Picture(*this, os).draw();
}
