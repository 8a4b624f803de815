//===- ModelPicture.cpp - a model's graph as SVG --------------------------===//
//
// Stages are columns. Blocks are cards, from top to bottom in order of
// execution. The width of text is estimated from its number of characters.
//
//===----------------------------------------------------------------------===//

#include "dtc/Report/ModelGraph.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace dtc;
using llvm::format;

namespace {

/// Lengths in pixels.
constexpr double margin = 24, titleHeight = 44, legendGap = 28;
constexpr double cardWidth = 370, cardGap = 26, padding = 12;
constexpr double framePadding = 30, frameHeader = 40;
constexpr double gutter = 330, lineHeight = 18, cardHeader = 26;
/// Width of an average character, relative to the font size.
constexpr double characterWidth = 0.56;

struct Style {
  const char *fill, *stroke;
};
constexpr Style forwardStyle = {"#fde6cf", "#d98324"};
constexpr Style backwardStyle = {"#e6e0f6", "#7358b8"};
constexpr Style layoutStyle = {"#d9eedd", "#3f8f50"};
/// Frames and titles of stages. Chunks of one stage have the same style.
constexpr Style stageStyles[] = {
    {"#eaf2fc", "#3b6fb0"}, {"#eaf6ea", "#3d8548"}, {"#fdf0e9", "#b5602f"},
    {"#f5edfb", "#7f4fa8"}, {"#fdf8e1", "#8f7a1d"}, {"#e7f6f6", "#2d7f86"}};
constexpr const char *gray = "#707070";

class Picture {
public:
  Picture(const ModelGraph &graph, llvm::raw_ostream &os)
      : graph(graph), os(os) {}

  void draw();

private:
  void drawText(double x, double y, const llvm::Twine &text, int size = 12,
                const char *more = "", const char *color = "#222222");
  void drawRect(double x, double y, double width, double height, Style style,
                double radius = 4, double strokeWidth = 1);
  void drawPath(const llvm::Twine &path, const char *more = "");
  double drawPill(double x, double y, StringRef text, Style style);
  void drawStage(const ModelGraph::Stage &stage, double x, Style style);
  void drawBlock(const ModelGraph::Block &block, double x, double y,
                 Style style);
  double drawRow(const ModelGraph::Row &row, double x, double y);
  void drawMessages(const ModelGraph::Stage &from, const ModelGraph::Stage &to,
                    double x);
  void addToLegend(const ModelGraph::Block &block);
  void collectLegend();
  void drawLegend(double y);

  /// The sample of a mark, and its meaning.
  struct LegendEntry {
    const char *sample;
    Style style;
    const char *meaning;
    bool isUsed = false; ///< in this picture
  };
  enum { Split, Shard, Forward, Backward, Count };
  LegendEntry legend[5] = {
      {"tp: split(1)", layoutStyle,
       "each rank of the axis has a part of this dimension"},
      {"dp: shard", layoutStyle, "ZeRO: each rank of the axis has a part"},
      {"all_reduce tp", forwardStyle, "communication, forward"},
      {"all_reduce tp", backwardStyle, "communication, backward"},
      {"\u00d7 2", {"#ffffff", gray}, "layers that are alike, drawn once"}};
  const ModelGraph &graph;
  llvm::raw_ostream &os;
};

} // namespace

/// Whether a byte continues a UTF-8 character.
static bool isContinuation(char byte) { return (byte & 0xc0) == 0x80; }

static double getTextWidth(StringRef text, double size) {
  return (text.size() - llvm::count_if(text, isContinuation)) * size *
         characterWidth;
}

/// The text, or as much of its beginning as fits the width.
static std::string fit(StringRef text, double width, double size) {
  if (getTextWidth(text, size) <= width)
    return text.str();
  while (!text.empty() && getTextWidth(text, size) > width - size)
    do
      text = text.drop_back();
    while (!text.empty() && isContinuation(text.back()));
  return text.str() + "\u2026";
}

static bool hasTitle(const ModelGraph::Row &row) {
  return !row.name.empty() || !row.ops.empty();
}

static int64_t countLines(const ModelGraph::Row &row) {
  return hasTitle(row) + row.parameters.size() + row.forward.size() +
         row.backward.size();
}

static double getHeight(const ModelGraph::Block &block) {
  int64_t lines = block.inputs.size();
  for (const ModelGraph::Row &row : block.rows)
    lines += countLines(row);
  return cardHeader + lines * lineHeight + padding;
}

static double getHeight(const ModelGraph::Stage &stage) {
  double height = frameHeader + padding;
  for (const ModelGraph::Block &block : stage.blocks)
    height += getHeight(block) + cardGap;
  for (const ModelGraph::Collectives *list : {&stage.shards, &stage.once})
    if (!list->empty())
      height += (1 + list->size()) * (lineHeight + 2) + 6;
  return height;
}

static double getFrameWidth() { return cardWidth + 2 * framePadding; }

/// Replaces each `x` in a shape with a spaced multiplication sign.
static std::string printTimes(StringRef text) {
  std::string result;
  for (size_t at; (at = text.find(" x ")) != StringRef::npos;
       text = text.drop_front(at + 3))
    result += text.take_front(at).str() + " \u00d7 ";
  return result + text.str();
}

void Picture::drawText(double x, double y, const llvm::Twine &text, int size,
                       const char *more, const char *color) {
  if (text.str().empty())
    return;
  os << format("<text x=\"%.1f\" y=\"%.1f\" font-size=\"%d\" ", x, y, size)
     << "fill=\"" << color << "\" " << more << ">";
  llvm::printHTMLEscaped(text.str(), os);
  os << "</text>\n";
}

void Picture::drawRect(double x, double y, double width, double height,
                       Style style, double radius, double strokeWidth) {
  os << format("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" ", x,
               y, width, height)
     << format("rx=\"%.1f\" stroke-width=\"%.1f\" ", radius, strokeWidth)
     << "fill=\"" << style.fill << "\" stroke=\"" << style.stroke << "\"/>\n";
}

void Picture::drawPath(const llvm::Twine &path, const char *more) {
  os << "<path d=\"" << path << "\" fill=\"none\" stroke=\"#555555\" "
     << "stroke-width=\"1.3\" marker-end=\"url(#arrow)\" " << more << "/>\n";
}

/// Draws a pill and returns its width. `y` is the base line of its text.
double Picture::drawPill(double x, double y, StringRef text, Style style) {
  double width = getTextWidth(text, 10) + 12;
  drawRect(x, y - 11, width, 15, style, 7);
  drawText(x + 6, y, text, 10);
  return width;
}

static std::string join(double x, double y) {
  std::string text;
  llvm::raw_string_ostream(text) << format("%.1f %.1f", x, y);
  return text;
}

/// Draws a row and returns the base line of the next one.
double Picture::drawRow(const ModelGraph::Row &row, double x, double y) {
  double right = x + cardWidth - padding;
  std::string ops = llvm::join(row.ops, ", ");
  constexpr const char *opsStyle = "font-style=\"italic\"";
  constexpr const char *opsStyleRight =
      "font-style=\"italic\" text-anchor=\"end\"";
  if (row.name.empty()) {
    drawText(x + padding, y, fit(ops, cardWidth - 2 * padding, 10), 10,
             opsStyle, gray);
  } else {
    std::string name = fit(row.name, cardWidth - 2 * padding, 12);
    drawText(x + padding, y, name, 12, "font-weight=\"600\"");
    double room = cardWidth - 2 * padding - getTextWidth(name, 12) - 12;
    drawText(right, y, fit(ops, room, 10), 10, opsStyleRight, gray);
  }
  if (!hasTitle(row))
    y -= lineHeight;
  for (const ModelGraph::Parameter &parameter : row.parameters) {
    y += lineHeight;
    double badge = 0;
    if (!parameter.layout.empty()) {
      badge = getTextWidth(parameter.layout, 10) + 12;
      drawPill(right - badge, y, parameter.layout, layoutStyle);
    }
    std::string text = parameter.name;
    if (parameter.count > 1)
      text += ", " + std::to_string(parameter.count) + " parts of";
    text += "  " + printTimes(parameter.shape);
    drawText(x + padding + 12, y,
             fit(text, cardWidth - 2 * padding - 20 - badge, 11), 11);
  }
  auto drawCollectives = [&](const ModelGraph::Collectives &all, Style style,
                             const char *when) {
    for (auto &[collective, count] : all) {
      y += lineHeight;
      double width = drawPill(x + padding + 12, y, collective, style);
      std::string text = when;
      if (count > 1)
        text += ", " + std::to_string(count) + " times";
      drawText(x + padding + 18 + width, y, text, 10, "", gray);
    }
  };
  drawCollectives(row.forward, forwardStyle, "forward");
  drawCollectives(row.backward, backwardStyle, "backward");
  return y + lineHeight;
}

void Picture::drawBlock(const ModelGraph::Block &block, double x, double y,
                        Style style) {
  Style card{"#ffffff", style.stroke};
  double height = getHeight(block);
  // A merged block shows the edges of two more cards behind it.
  if (block.count > 1)
    for (double offset : {8.0, 4.0})
      drawRect(x + offset, y + offset, cardWidth, height, card, 6);
  drawRect(x, y, cardWidth, height, card, 6, 1.2);
  std::string name = block.name.empty() ? graph.name : block.name;
  if (block.last != block.name)
    name += " \u2026 " + StringRef(block.last).rsplit('.').second.str();
  std::string times;
  if (block.count > 1)
    times = "\u00d7 " + std::to_string(block.count);
  drawText(x + padding, y + 18, fit(name, cardWidth - 2 * padding - 40, 13), 13,
           "font-weight=\"bold\"", style.stroke);
  drawText(x + cardWidth - padding, y + 18, times, 14,
           "font-weight=\"bold\" text-anchor=\"end\"", style.stroke);
  double line = y + cardHeader + 12;
  for (const std::string &input : block.inputs) {
    drawText(x + padding, line,
             fit("\u2192 " + printTimes(input), cardWidth - 2 * padding, 11),
             11, "font-style=\"italic\"");
    line += lineHeight;
  }
  for (const ModelGraph::Row &row : block.rows)
    line = drawRow(row, x, line);
}

void Picture::drawStage(const ModelGraph::Stage &stage, double x, Style style) {
  double top = titleHeight;
  drawRect(x, top, getFrameWidth(), getHeight(stage), {style.fill, "none"}, 10);
  drawText(x + framePadding, top + 25, stage.getName(), 16,
           "font-weight=\"bold\"", style.stroke);
  drawText(x + framePadding + cardWidth, top + 25,
           llvm::Twine(graph.ranksPerStage) +
               (graph.ranksPerStage == 1 ? " rank" : " ranks"),
           12, "text-anchor=\"end\"", gray);
  double left = x + framePadding, y = top + frameHeader;
  std::vector<double> tops, bottoms;
  for (const ModelGraph::Block &block : stage.blocks) {
    tops.push_back(y);
    bottoms.push_back(y + getHeight(block));
    y += getHeight(block) + cardGap;
  }
  for (auto [i, block] : llvm::enumerate(stage.blocks)) {
    drawBlock(block, left, tops[i], style);
    for (size_t operand : block.operands) {
      double behind = stage.blocks[operand].count > 1 ? 8 : 0;
      if (operand + 1 == i) {
        double middle = left + cardWidth / 2;
        drawPath("M" + join(middle, bottoms[operand] + behind) + "L" +
                 join(middle, tops[i] - 2));
      } else if (operand < i) {
        double from = bottoms[operand] - 12, to = tops[i] + 14;
        double bend = left - framePadding + 4;
        drawPath("M" + join(left, from) + "C" + join(bend, from) + " " +
                 join(bend, to) + " " + join(left - 2, to));
      }
    }
  }
  auto drawList = [&](const ModelGraph::Collectives &list, const char *title) {
    if (list.empty())
      return;
    drawText(left, y + 4, title, 11, "", gray);
    for (auto &entry : list) {
      y += lineHeight + 2;
      drawPill(left + 12, y + 4, entry.first, backwardStyle);
    }
    y += lineHeight + 8;
  };
  drawList(stage.shards,
           "parameters where they are used, and their gradients:");
  drawList(stage.once, "gradients, their norm and the loss, once a step:");
}

/// Draws messages from the last block of a stage to the first of the next, and
/// back.
void Picture::drawMessages(const ModelGraph::Stage &from,
                           const ModelGraph::Stage &to, double x) {
  if (from.blocks.empty() || to.blocks.empty())
    return;
  double bottom = titleHeight + frameHeader;
  for (const ModelGraph::Block &block : llvm::drop_end(ArrayRef(from.blocks)))
    bottom += getHeight(block) + cardGap;
  bottom += getHeight(from.blocks.back()) - 22;
  double top = titleHeight + frameHeader + 14;
  double begin = x - framePadding, end = x + gutter + framePadding;
  double line = x + 22, y = top + 46;
  auto drawList = [&](const char *title, const ModelGraph::Collectives &list) {
    drawText(line + 14, y, title, 12, "font-weight=\"600\"");
    for (auto &[what, count] : list) {
      y += lineHeight - 2;
      std::string text = printTimes(what);
      if (count > 1)
        text += "  (" + std::to_string(count) + " of these)";
      drawText(line + 14, y, fit(text, gutter - 38, 10), 10);
    }
    y += lineHeight + 8;
  };
  if (!from.sends.empty()) {
    drawPath("M" + join(begin + 2, bottom) + "L" + join(line, bottom) + "L" +
             join(line, top) + "L" + join(end - 2, top));
    drawList("a rank sends", from.sends);
  }
  if (!from.gradients.empty()) {
    drawPath("M" + join(end - 2, top + 14) + "L" + join(line + 6, top + 14) +
                 "L" + join(line + 6, bottom + 10) + "L" +
                 join(begin + 2, bottom + 10),
             "stroke-dasharray=\"5 3\"");
    drawList("gradients back", from.gradients);
  }
}

void Picture::addToLegend(const ModelGraph::Block &block) {
  legend[Count].isUsed |= block.count > 1;
  for (const ModelGraph::Row &row : block.rows) {
    legend[Forward].isUsed |= !row.forward.empty();
    legend[Backward].isUsed |= !row.backward.empty();
    for (const ModelGraph::Parameter &parameter : row.parameters) {
      StringRef layout = parameter.layout;
      legend[Split].isUsed |= layout.contains("split");
      legend[Shard].isUsed |= layout.contains("shard");
    }
  }
}

void Picture::collectLegend() {
  for (const ModelGraph::Stage &stage : graph.stages) {
    legend[Backward].isUsed |= !stage.shards.empty() || !stage.once.empty();
    for (const ModelGraph::Block &block : stage.blocks)
      addToLegend(block);
  }
}

void Picture::drawLegend(double y) {
  for (const LegendEntry &entry : legend) {
    if (!entry.isUsed)
      continue;
    drawPill(margin, y, entry.sample, entry.style);
    drawText(margin + 90, y, entry.meaning, 11, "", gray);
    y += lineHeight;
  }
}

void Picture::draw() {
  collectLegend();
  double legendHeight = legendGap;
  for (const LegendEntry &entry : legend)
    legendHeight += entry.isUsed ? lineHeight : 0;
  double height = 0, numStages = graph.stages.size();
  for (const ModelGraph::Stage &stage : graph.stages)
    height = std::max(height, getHeight(stage));
  double width =
      2 * margin + numStages * getFrameWidth() + (numStages - 1) * gutter;
  double total = titleHeight + height + legendHeight;
  os << "<svg xmlns=\"http://www.w3.org/2000/svg\" "
     << format("width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" ",
               width, total, width, total)
     << "font-family=\"Helvetica, Arial, sans-serif\">\n"
     << "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" "
        "markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\">"
        "<path d=\"M0 0L8 4L0 8z\" fill=\"#555555\"/></marker></defs>\n";
  drawRect(0, 0, width, total, {"#ffffff", "none"}, 0);
  drawText(margin, 28, graph.name + ": " + printTimes(graph.mesh), 18,
           "font-weight=\"bold\"");
  double step = getFrameWidth() + gutter;
  for (size_t i = 0; i < graph.stages.size(); ++i)
    drawStage(graph.stages[i], margin + i * step,
              stageStyles[graph.stages[i].first % std::size(stageStyles)]);
  for (size_t i = 0; i + 1 < graph.stages.size(); ++i)
    drawMessages(graph.stages[i], graph.stages[i + 1],
                 margin + i * step + getFrameWidth());
  drawLegend(titleHeight + height + 26);
  os << "</svg>\n";
}

void ModelGraph::printSvg(llvm::raw_ostream &os) const {
  Picture(*this, os).draw();
}
