//===- Timeline.cpp - the timeline of a pipeline schedule -----------------===//
//
// Omits tasks that take no time: the first stage usually has no B.
//
//===----------------------------------------------------------------------===//

#include "dtc/Report/Report.h"
#include "dtc/Support/TraceThread.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include <cmath>
#include <map>

using namespace mlir;
using namespace dtc;
using llvm::format;
namespace json = llvm::json;

/// Calls `visit(stage, task, start, cost)` for each task that takes time.
template <typename Visit>
static void forEachTask(const Timeline &timeline, Visit visit) {
  for (size_t stage = 0; stage < timeline.schedule.size(); ++stage)
    for (auto [i, task] : llvm::enumerate(timeline.schedule[stage]))
      if (double cost = timeline.getDuration(stage, i))
        visit(stage, task, timeline.simulation.starts[stage][i], cost);
}

double Timeline::getDuration(size_t stage, size_t task) const {
  if (!durations.empty())
    return durations[stage][task];
  const Task &own = schedule[stage][task];
  return costs[own.chunk * schedule.size() + stage].get(own.kind);
}

//===----------------------------------------------------------------------===//
// SVG
//===----------------------------------------------------------------------===//

namespace {

/// Lengths in pixels.
constexpr double margin = 16, labelWidth = 64, titleHeight = 40;
constexpr double rowHeight = 30, rowGap = 6;
/// Under a row: a lane of marks for each kind of communication.
constexpr double laneHeight = 5, markHeight = 4, minMarkWidth = 2;
constexpr double lanesHeight = 3 * laneHeight + 4;
constexpr double axisHeight = 40, legendHeight = 24;
constexpr double minPlotWidth = 1000, minTaskWidth = 16, digitWidth = 7;

constexpr const char *colors[] = {"#9ec5f4", "#f5c27a", "#9bd3a0"};
/// Later chunks are darker, down to this fraction of the color.
constexpr double darkest = 0.8;
constexpr const char *meanings[] = {"F: forward", "B: gradients of activations",
                                    "W: gradients of weights"};
constexpr const char *idleColor = "#ececec";
constexpr const char *onceColor = "#c9b8e0"; ///< of work once a step
/// Colors of sends, receives and collectives.
constexpr const char *markColors[] = {"#303030", "#8a8a8a", "#c2247f"};
constexpr const char *markMeanings[] = {
    "send to another stage", "receive from another stage", "collectives"};

/// The unit of displayed times: `scale` of a FLOP or second.
struct Unit {
  double scale;
  const char *name;
};

class Picture {
public:
  Picture(const Timeline &timeline, llvm::raw_ostream &os)
      : timeline(timeline), os(os), end(timeline.simulation.makespan),
        hasLanes(!timeline.communication.empty()) {
    for (const Timeline::Communication &own : timeline.communication)
      end = std::max(end, own.start + own.duration);
    size_t mostTasks = 0;
    for (const std::vector<Task> &tasks : timeline.schedule)
      mostTasks = std::max(mostTasks, tasks.size());
    plotWidth = std::max(minPlotWidth, minTaskWidth * mostTasks);
    plotHeight = getY(timeline.schedule.size()) - titleHeight;
  }

  void draw();

private:
  double getX(double time) const {
    return margin + labelWidth + (end > 0 ? time / end : 0) * plotWidth;
  }
  double getY(size_t stage) const {
    return titleHeight +
           stage * (rowHeight + rowGap + (hasLanes ? lanesHeight : 0));
  }
  Unit getUnit() const;
  void drawText(double x, double y, const char *anchor, const llvm::Twine &text,
                int size = 12);
  void drawBox(double x, double y, double width, double height,
               const llvm::Twine &color);
  std::string getColor(const Task &task) const;
  void drawTitle();
  void drawStages();
  void drawTasks();
  void drawCommunication();
  void drawAxis();
  bool hasTask(TaskKind kind) const;
  bool hasMark(Timeline::Communication::Kind kind) const;
  void drawLegend();

  const Timeline &timeline;
  llvm::raw_ostream &os;
  double end; ///< of all tasks and communication
  bool hasLanes;
  double plotWidth, plotHeight;
};

/// The largest unit that does not exceed the duration of the step.
Unit Picture::getUnit() const {
  static constexpr Unit flops[] = {
      {1e-12, "TFLOP"}, {1e-9, "GFLOP"}, {1e-6, "MFLOP"}, {1e-3, "kFLOP"}};
  static constexpr Unit seconds[] = {{1, "s"}, {1e3, "ms"}, {1e6, "us"}};
  double speed = timeline.flopsPerSecond.value_or(1);
  ArrayRef<Unit> units(flops);
  if (timeline.flopsPerSecond)
    units = seconds;
  for (const Unit &unit : units)
    if (end / speed * unit.scale >= 1)
      return {unit.scale / speed, unit.name};
  return timeline.flopsPerSecond ? Unit{1e9 / speed, "ns"} : Unit{1, "FLOP"};
}

void Picture::drawText(double x, double y, const char *anchor,
                       const llvm::Twine &text, int size) {
  os << format("<text x=\"%.1f\" y=\"%.1f\" font-size=\"%d\" ", x, y, size)
     << "text-anchor=\"" << anchor << "\">";
  llvm::printHTMLEscaped(text.str(), os);
  os << "</text>\n";
}

void Picture::drawBox(double x, double y, double width, double height,
                      const llvm::Twine &color) {
  os << format("<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" ", x,
               y, width, height)
     << "fill=\"" << color << "\"/>\n";
}

std::string Picture::getColor(const Task &task) const {
  StringRef color = colors[static_cast<int>(task.kind)];
  int64_t numChunks = timeline.getNumChunks();
  double part = numChunks == 1 ? 0 : double(task.chunk) / (numChunks - 1);
  std::string text = "#";
  for (size_t i = 1; i < color.size(); i += 2) {
    unsigned value;
    (void)color.substr(i, 2).getAsInteger(16, value);
    value *= 1 - part * (1 - darkest);
    text += llvm::utohexstr(value, /*LowerCase=*/true, /*Width=*/2);
  }
  return text;
}

void Picture::drawTitle() {
  std::string title;
  llvm::raw_string_ostream text(title);
  text << llvm::sys::path::filename(timeline.name) << ": "
       << formatCount(timeline.schedule.size(), "stage") << ", ";
  if (timeline.getNumChunks() > 1)
    text << timeline.getNumChunks() << " chunks each, ";
  text << formatCount(timeline.microbatches, "micro-batch");
  if (timeline.rounds > 1)
    text << " in " << formatCount(timeline.rounds, "round");
  Unit unit = getUnit();
  if (timeline.durations.empty())
    text << format(", bubble %.1f %%", 100 * timeline.simulation.bubble)
         << (timeline.isMeasured ? " with measured times" : "");
  else
    text << format(", expected to take %.3g ", end * unit.scale) << unit.name;
  drawText(margin, titleHeight - 16, "start", title, 16);
}

void Picture::drawStages() {
  for (size_t stage = 0; stage < timeline.schedule.size(); ++stage) {
    drawText(margin, getY(stage) + rowHeight / 2 + 4, "start",
             "stage " + llvm::Twine(stage));
    drawBox(getX(0), getY(stage), getX(timeline.simulation.makespan) - getX(0),
            rowHeight, idleColor);
  }
}

void Picture::drawTasks() {
  Unit unit = getUnit();
  os << "<g stroke=\"#ffffff\" stroke-width=\"0.5\">\n";
  forEachTask(timeline,
              [&](size_t stage, const Task &task, double start, double cost) {
                double x = getX(start), width = getX(start + cost) - x;
                // The tooltip of a task.
                os << "<g><title>" << printTask(task)
                   << format(": %.3g to %.3g ", start * unit.scale,
                             (start + cost) * unit.scale)
                   << unit.name << "</title>\n";
                drawBox(x, getY(stage), width, rowHeight, getColor(task));
                os << "</g>\n";
              });
  for (const Timeline::Once &own : timeline.once) {
    double x = getX(own.start), width = getX(own.start + own.duration) - x;
    os << "<g><title>" << own.name
       << format(": %.3g to %.3g ", own.start * unit.scale,
                 (own.start + own.duration) * unit.scale)
       << unit.name << "</title>\n";
    drawBox(x, getY(own.stage), width, rowHeight, onceColor);
    os << "</g>\n";
  }
  os << "</g>\n";
  forEachTask(timeline,
              [&](size_t stage, const Task &task, double start, double cost) {
                double x = getX(start), width = getX(start + cost) - x;
                std::string number = std::to_string(task.microbatch);
                if (width > digitWidth * number.size())
                  drawText(x + width / 2, getY(stage) + rowHeight / 2 + 4,
                           "middle", number);
              });
}

/// Marks of one time are side by side, so that each has its tooltip.
void Picture::drawCommunication() {
  Unit unit = getUnit();
  std::map<double, double> usedOf; // end of the used part, by the lane's y
  for (const Timeline::Communication &own : timeline.communication) {
    double y = getY(own.stage) + rowHeight + 2 + own.kind * laneHeight;
    double &used = usedOf[y];
    double x = std::max(getX(own.start), used);
    double width = std::max(minMarkWidth, getX(own.duration) - getX(0));
    used = x + width + 1;
    os << "<g><title>";
    llvm::printHTMLEscaped(own.name, os);
    os << ": " << own.count << " x, " << formatBytes(own.bytes)
       << (own.duration > 0 ? ", " : ", at ")
       << format("%.3g ", own.start * unit.scale);
    if (own.duration > 0)
      os << format("to %.3g ", (own.start + own.duration) * unit.scale);
    os << unit.name << "</title>\n";
    drawBox(x, y, width, markHeight, markColors[own.kind]);
    os << "</g>\n";
  }
}

/// Ticks at multiples of 1, 2 or 5 times a power of ten, ten at most.
void Picture::drawAxis() {
  Unit unit = getUnit();
  double last = end * unit.scale, y = getY(timeline.schedule.size()) + 2;
  os << format("<path d=\"M%.1f %.1fH%.1f", getX(0), y, getX(end));
  double step = last > 0 ? std::pow(10, std::floor(std::log10(last / 10))) : 1;
  for (double factor : {2.0, 2.5, 2.0})
    if (last / step > 10)
      step *= factor;
  std::vector<double> ticks;
  for (int i = 0; i * step <= last && i <= 10; ++i) {
    ticks.push_back(i * step);
    os << format("M%.1f %.1fv5", getX(ticks.back() / unit.scale), y);
  }
  os << "\" stroke=\"#555555\" fill=\"none\"/>\n";
  for (double tick : ticks) {
    std::string text;
    llvm::raw_string_ostream(text) << format("%g", tick);
    drawText(getX(tick / unit.scale), y + 18, "middle", text);
  }
  drawText(getX(end), y + 34, "end",
           timeline.flopsPerSecond
               ? "time, " + llvm::Twine(unit.name)
               : "work of a rank, " + llvm::Twine(unit.name));
}

bool Picture::hasTask(TaskKind kind) const {
  bool isThere = false;
  forEachTask(timeline, [&](size_t, const Task &task, double, double) {
    isThere |= task.kind == kind;
  });
  return isThere;
}

bool Picture::hasMark(Timeline::Communication::Kind kind) const {
  return llvm::any_of(
      timeline.communication,
      [&](const Timeline::Communication &own) { return own.kind == kind; });
}

/// Explains the colors and marks that the picture uses.
void Picture::drawLegend() {
  double x = getX(0), y = titleHeight + plotHeight + axisHeight;
  auto add = [&](const char *color, StringRef meaning) {
    drawBox(x, y - 11, 14, 14, color);
    drawText(x + 20, y, "start", meaning);
    x += 44 + digitWidth * meaning.size();
  };
  for (int kind = 0; kind < 3; ++kind)
    if (hasTask(static_cast<TaskKind>(kind)))
      add(colors[kind], meanings[kind]);
  if (timeline.getNumChunks() > 1)
    add(getColor({TaskKind::F, 0, timeline.getNumChunks() - 1}).c_str(),
        "darker: later chunks");
  if (!timeline.once.empty())
    add(onceColor, "once a step");
  if (timeline.simulation.bubble > 0 || !timeline.durations.empty())
    add(idleColor, "idle");
  if (!hasLanes)
    return;
  x = getX(0);
  y += legendHeight;
  for (int kind = 0; kind < 3; ++kind)
    if (hasMark(static_cast<Timeline::Communication::Kind>(kind)))
      add(markColors[kind], markMeanings[kind]);
}

void Picture::draw() {
  double width = 2 * margin + labelWidth + plotWidth;
  if (hasLanes) // marks at the end of the step, side by side
    width += margin;
  double height =
      titleHeight + plotHeight + axisHeight + (hasLanes ? 2 : 1) * legendHeight;
  os << "<svg xmlns=\"http://www.w3.org/2000/svg\" "
     << format("width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" ",
               width, height, width, height)
     << "font-family=\"sans-serif\" fill=\"#222222\">\n";
  drawBox(0, 0, width, height, "#ffffff");
  drawTitle();
  drawStages();
  drawTasks();
  drawCommunication();
  drawAxis();
  drawLegend();
  os << "</svg>\n";
}

} // namespace

void Timeline::printSvg(llvm::raw_ostream &os) const {
  Picture(*this, os).draw();
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

json::Value Timeline::toTrace() const {
  double microseconds = 1e6 / flopsPerSecond.value_or(1e12);
  json::Array events;
  auto addName = [&](const char *what, int64_t stage, int row,
                     const std::string &name) {
    events.push_back(json::Object{{"name", what},
                                  {"ph", "M"},
                                  {"pid", stage},
                                  {"tid", getTraceThread(stage, row)},
                                  {"args", json::Object{{"name", name}}}});
  };
  for (size_t stage = 0; stage < schedule.size(); ++stage) {
    addName("process_name", stage, 0, "stage " + std::to_string(stage));
    addName("thread_name", stage, 0, "tasks");
    if (!communication.empty())
      addName("thread_name", stage, 1, "communication");
  }
  forEachTask(
      *this, [&](size_t stage, const Task &task, double start, double cost) {
        events.push_back(
            json::Object{{"name", printTask(task)},
                         {"cat", printTask(task).substr(0, 1)},
                         {"ph", "X"},
                         {"pid", int64_t(stage)},
                         {"tid", getTraceThread(stage, 0)},
                         {"ts", start * microseconds},
                         {"dur", cost * microseconds},
                         {"args", json::Object{{"microbatch", task.microbatch},
                                               {"chunk", task.chunk}}}});
      });
  for (const Once &own : once)
    events.push_back(json::Object{{"name", own.name},
                                  {"cat", "once"},
                                  {"ph", "X"},
                                  {"pid", own.stage},
                                  {"tid", getTraceThread(own.stage, 0)},
                                  {"ts", own.start * microseconds},
                                  {"dur", own.duration * microseconds}});
  for (const Communication &own : communication)
    events.push_back(json::Object{
        {"name", own.name},
        {"cat", "communication"},
        {"ph", "X"},
        {"pid", own.stage},
        {"tid", getTraceThread(own.stage, 1)},
        {"ts", own.start * microseconds},
        {"dur", own.duration * microseconds},
        {"args", json::Object{{"count", own.count}, {"bytes", own.bytes}}}});
  return json::Object{
      {"traceEvents", std::move(events)},
      {"displayTimeUnit", "ms"},
      {"otherData", json::Object{{"schedule", name},
                                 {"stages", int64_t(schedule.size())},
                                 {"chunks", getNumChunks()},
                                 {"microbatches", microbatches},
                                 {"rounds", rounds},
                                 {"bubble", simulation.bubble}}}};
}
