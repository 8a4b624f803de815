//===- Metrics.cpp - what a training reports step by step -----------------===//

#include "Metrics.h"

#include "Core/Context.h"
#include "Core/Error.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace dtc::rt;

/// Writes all of the text, or says why not.
static bool writeAll(int file, const char *text, size_t size) {
  while (size > 0) {
    ssize_t written = write(file, text, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return false;
    text += written;
    size -= size_t(written);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// JSON lines
//===----------------------------------------------------------------------===//

MetricsFile::MetricsFile(std::string name) : path(std::move(name)) {
  if (path.empty())
    return;
  file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0)
    fail("cannot create '%s': %s", path.c_str(), strerror(errno));
}

MetricsFile::~MetricsFile() {
  if (file >= 0)
    close(file);
}

static char *appendField(char *at, char *end, const char *name, double value) {
  at += snprintf(at, size_t(end - at), ", \"%s\": ", name);
  if (!std::isfinite(value))
    return at + snprintf(at, size_t(end - at), "null");
  return std::to_chars(at, end, value).ptr;
}

void MetricsFile::write(const StepMetrics &metrics) {
  Field fields[] = {{"loss", metrics.loss},
                    {"grad_norm", metrics.gradientNorm},
                    {"lr", metrics.learningRate},
                    {"seconds", metrics.seconds},
                    {"samples_per_second", metrics.samplesPerSecond},
                    {"loss_scale", metrics.lossScale.value_or(1)},
                    {"skipped", double(metrics.isSkipped)}};
  size_t count = std::size(fields) - (metrics.lossScale ? 0 : 2);
  write(metrics.step, std::span(fields, count));
}

void MetricsFile::write(const EvalMetrics &metrics) {
  Field fields[3] = {{"eval_loss", metrics.loss}};
  size_t count = 1;
  if (metrics.perplexity)
    fields[count++] = {"eval_perplexity", *metrics.perplexity};
  if (metrics.accuracy)
    fields[count++] = {"eval_accuracy", *metrics.accuracy};
  write(metrics.step, std::span(fields, count));
}

void MetricsFile::write(int64_t step, std::span<const Field> fields) {
  if (file < 0)
    return;
  char line[512], *end = line + sizeof line - 2;
  char *at =
      line + snprintf(line, sizeof line, "{\"step\": %lld", (long long)step);
  for (const Field &field : fields)
    at = appendField(at, end, field.name, field.value);
  *at++ = '}';
  *at++ = '\n';
  if (!writeAll(file, line, size_t(at - line)))
    fatal("cannot write '%s': %s", path.c_str(), strerror(errno));
}

//===----------------------------------------------------------------------===//
// Lines and bar
//===----------------------------------------------------------------------===//

struct dtc::rt::TextBuffer {
  char text[1024];
  int used = 0;

  [[gnu::format(printf, 2, 3)]] void append(const char *pattern, ...) {
    va_list arguments;
    va_start(arguments, pattern);
    int room = int(sizeof text) - used;
    int length = vsnprintf(text + used, size_t(room), pattern, arguments);
    va_end(arguments);
    used += std::min(length, room - 1);
  }
};

void Progress::drawBar(TextBuffer &out, int64_t step) const {
  winsize window{};
  int columns = 80;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0)
    columns = std::min<int>(window.ws_col, 200);
  double rate = elapsed > 0 ? double(step - 1) / elapsed : 1 / last;
  int64_t left = std::llround(double(steps - step) / rate);
  char tail[96];
  int used = snprintf(
      tail, sizeof tail, " %lld/%lld  %.3g steps/s  ETA %lld:%02lld:%02lld",
      (long long)step, (long long)steps, rate, (long long)left / 3600,
      (long long)left / 60 % 60, (long long)left % 60);
  int width = std::max(columns - used - 3, 4);
  int filled = int(double(width) * double(step) / double(steps));
  char cells[256];
  memset(cells, '#', size_t(filled));
  memset(cells + filled, '.', size_t(width - filled));
  out.append("[%.*s]%s", width, cells, tail);
}

/// Without a sign, which means nothing to the reader.
static double withoutSign(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
}

static bool isFinite(const StepMetrics &metrics) {
  return std::isfinite(metrics.loss) && std::isfinite(metrics.gradientNorm);
}

bool Progress::warnsOf(const StepMetrics &metrics) const {
  return finite && !metrics.isSkipped && !isFinite(metrics);
}

void Progress::report(const StepMetrics &metrics, const std::string &cause) {
  TextBuffer out;
  last = metrics.seconds;
  if (metrics.step > 1)
    elapsed += last;
  if (bar)
    out.append("\r\x1b[K");
  bool nowFinite = isFinite(metrics);
  double loss = withoutSign(metrics.loss);
  double gradientNorm = withoutSign(metrics.gradientNorm);
  if (metrics.step % logEvery == 0 || metrics.step == steps ||
      metrics.step == 1 || nowFinite != finite)
    out.append(
        "step %lld/%lld  loss %.6g  grad_norm %.4g  lr %.4g  %.1f ms%s\n",
        (long long)metrics.step, (long long)steps, loss, gradientNorm,
        metrics.learningRate, metrics.seconds * 1e3,
        metrics.isSkipped ? "  skipped" : "");
  if (warnsOf(metrics) && !cause.empty())
    out.append("warning: step %lld has loss %g and gradient norm %g; %.600s; "
               "training continues\n",
               (long long)metrics.step, loss, gradientNorm, cause.c_str());
  finite = nowFinite;
  if (bar)
    drawBar(out, metrics.step);
  writeAll(STDOUT_FILENO, out.text, size_t(out.used));
}

void Progress::report(const EvalMetrics &metrics) {
  TextBuffer out;
  if (bar)
    out.append("\r\x1b[K");
  out.append("eval step %lld: loss %.6g", (long long)metrics.step,
             withoutSign(metrics.loss));
  if (metrics.perplexity)
    out.append("  perplexity %.6g", withoutSign(*metrics.perplexity));
  if (metrics.accuracy)
    out.append("  accuracy %.4g", withoutSign(*metrics.accuracy));
  out.append("\n");
  if (bar)
    drawBar(out, metrics.step);
  writeAll(STDOUT_FILENO, out.text, size_t(out.used));
}

void Progress::finish() {
  if (bar)
    writeAll(STDOUT_FILENO, "\r\x1b[K", 4);
}
