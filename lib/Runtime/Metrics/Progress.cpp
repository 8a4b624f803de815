//===- Progress.cpp - lines and bar of a training -------------------------===//

#include "Progress.h"

#include "Core/Error.h"
#include "System/WriteFile.h"
#include "Units.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace dtc::rt;

/// Between lines, unless --log-every counts steps.
constexpr std::chrono::seconds logInterval(1);
/// Time between drawings of the bar: more would not be visible, and logs would
/// grow.
constexpr std::chrono::milliseconds barInterval(100);

struct dtc::rt::TextBuffer {
  char text[2048];
  int used = 0;

  [[gnu::format(printf, 2, 3)]] void append(const char *pattern, ...) {
    va_list arguments;
    va_start(arguments, pattern);
    int room = int(sizeof text) - used;
    int length = vsnprintf(text + used, size_t(room), pattern, arguments);
    va_end(arguments);
    used += std::min(length, room - 1);
  }

  void flush() const { writeAll(STDOUT_FILENO, {text, size_t(used)}); }
};

Progress::Progress(const Program &program, const Options &options, bool bar,
                   int64_t bytes)
    : steps(options.steps), every(options.logEvery), batch(program.globalBatch),
      tokens(program.tokensPerSample()), speed(program, options),
      arenaBytes(bytes), bar(bar) {}

void Progress::formatRate(TextBuffer &out, double samplesPerSecond) const {
  out.append(
      "%s",
      formatCount(samplesPerSecond * double(tokens ? tokens : 1)).c_str());
  out.append(tokens ? " tokens/s" : " samples/s");
}

/// The width of the terminal. Below mpirun, which has the output, `relaunch` or
/// the shell sets it.
static int countColumns() {
  winsize window{};
  int columns = 0;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0)
    columns = window.ws_col;
  else if (const char *given = getenv("COLUMNS"))
    std::from_chars(given, given + strlen(given), columns);
  if (columns <= 0)
    columns = 80;
  return std::min(columns, 200);
}

/// The fields that leave the bar a quarter of the line, at least the first one.
void Progress::drawBar(TextBuffer &out) {
  lastBar = Clock::now();
  int columns = countColumns();
  double rate =
      elapsed > 0 ? double(last.step - first) / elapsed : 1 / last.seconds;
  int64_t left = std::llround(double(steps - last.step) / rate);
  TextBuffer tail;
  int shown = 0; // bytes of the tail
  auto endField = [&] {
    if (shown == 0 || tail.used + 2 <= columns * 3 / 4)
      shown = tail.used;
    else
      tail.used = shown;
  };
  tail.append(" %lld/%lld  ETA %lld:%02lld:%02lld", (long long)last.step,
              (long long)steps, (long long)left / 3600,
              (long long)left / 60 % 60, (long long)left % 60);
  endField();
  tail.append("  ");
  formatRate(tail, rate * double(batch));
  endField();
  tail.append("  loss %.4g", last.loss);
  endField();
  tail.append("  lr %.3g", last.learningRate);
  endField();
  tail.append("  %.3g steps/s", rate);
  endField();
  if (std::optional<double> mfu = speed.mfu(1 / rate)) {
    tail.append("  MFU %.1f %%", 100 * *mfu);
    endField();
  }
  tail.append("  %s", formatBytes(double(arenaBytes)).c_str());
  endField();
  int width = std::max(columns - shown - 3, 4);
  int filled = int(double(width) * double(last.step) / double(steps));
  char cells[256];
  memset(cells, '#', size_t(filled));
  memset(cells + filled, '.', size_t(width - filled));
  out.append("[%.*s]%.*s", width, cells, shown, tail.text);
}

/// Without a sign, which means nothing to the reader.
static double withoutSign(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
}

static bool isFinite(const StepMetrics &metrics) {
  return std::isfinite(metrics.loss) && std::isfinite(metrics.gradientNorm);
}

bool Progress::warnsOf(const StepMetrics &metrics) const {
  return finite && !metrics.isSkipped.value_or(false) && !isFinite(metrics);
}

bool Progress::wantsLine(const StepMetrics &metrics) const {
  if (metrics.step == first || metrics.step == steps ||
      isFinite(metrics) != finite)
    return true;
  return every ? metrics.step % every == 0
               : Clock::now() - lastLine >= logInterval;
}

bool Progress::wantsBar() const {
  return Clock::now() - lastBar >= barInterval;
}

void Progress::report(const StepMetrics &metrics, const std::string &cause) {
  TextBuffer out;
  if (first == 0)
    first = metrics.step;
  else
    elapsed += metrics.seconds;
  bool warns = warnsOf(metrics);
  last = metrics;
  last.loss = withoutSign(metrics.loss);
  last.gradientNorm = withoutSign(metrics.gradientNorm);
  bool hasLine = wantsLine(metrics);
  bool drawsBar = bar && (hasLine || warns || wantsBar());
  if (drawsBar)
    out.append("\r\x1b[K");
  if (hasLine) {
    int digits = snprintf(nullptr, 0, "%lld", (long long)steps);
    out.append("step %*lld/%lld  loss %-9.6g  grad_norm %-9.4g  lr %-9.4g  ",
               digits, (long long)metrics.step, (long long)steps, last.loss,
               last.gradientNorm, metrics.learningRate);
    out.append("%s", formatTime(metrics.seconds).c_str());
    out.append("  ");
    formatRate(out, metrics.samplesPerSecond);
    out.append("%s\n", metrics.isSkipped.value_or(false) ? "  skipped" : "");
    lastLine = Clock::now();
  }
  if (warns && !cause.empty()) // else the training stops
    out.append("warning: step %lld has loss %g and gradient norm %g; %.600s; "
               "training continues\n",
               (long long)metrics.step, last.loss, last.gradientNorm,
               cause.c_str());
  finite = isFinite(metrics);
  if (drawsBar)
    drawBar(out);
  out.flush();
}

void Progress::report(const EvalMetrics &metrics) {
  TextBuffer out;
  if (bar)
    out.append("\r\x1b[K");
  out.append("%s", metrics.setName());
  if (metrics.step)
    out.append(" step %lld", (long long)metrics.step);
  out.append(": loss %.6g", withoutSign(metrics.loss));
  forEachOptional(metrics, [&](const char *name, double value) {
    std::string words = name;
    std::ranges::replace(words, '_', ' ');
    out.append("  %s %.*g", words.c_str(), value > 1 ? 6 : 4,
               withoutSign(value));
  });
  out.append("\n");
  if (bar)
    drawBar(out);
  out.flush();
}

void Progress::print(const char *prefix, const std::string &text) {
  if (text.empty())
    return;
  TextBuffer out;
  out.append("%s%s%.1500s\n", bar ? "\r\x1b[K" : "", prefix, text.c_str());
  if (bar && last.step)
    drawBar(out);
  out.flush();
}

void Progress::printLines(const std::string &lines) {
  if (lines.empty())
    return;
  TextBuffer out;
  if (bar && last.step)
    drawBar(out);
  writeAll(STDOUT_FILENO, (bar ? "\r\x1b[K" : "") + lines +
                              std::string(out.text, size_t(out.used)));
}

void Progress::summarize() {
  if (first == 0)
    return;
  TextBuffer out;
  double seconds = last.seconds;
  if (last.step > first)
    seconds = elapsed / double(last.step - first);
  if (last.step > first + 1)
    out.append("mean of steps %lld to %lld", (long long)first + 1,
               (long long)last.step);
  else
    out.append("time of step %lld", (long long)last.step);
  out.append(": ");
  out.append("%s", formatTime(seconds).c_str());
  out.append(", ");
  formatRate(out, double(batch) / seconds);
  if (std::optional<double> flops = speed.flopsPerSecondOfRank(seconds)) {
    out.append(", ");
    out.append("%s", formatCount(*flops, " ").c_str());
    out.append("FLOP/s a rank");
  }
  if (std::optional<double> mfu = speed.mfu(seconds))
    out.append(", MFU %.1f %%", 100 * *mfu);
  out.append("\n");
  out.flush();
}

void Progress::finish() {
  if (bar)
    writeAll(STDOUT_FILENO, "\r\x1b[K");
  bar = false;
}
