//===- TinyProgram.cpp - a training program without the compiler ----------===//
//
// Two linear layers and a squared error, y = (x A) B, with the step written by
// hand for any TINY_PP (1 or 2) x TINY_DP mesh and TINY_MB micro-batches: what
// generated code does, in the small. Optimizer: plain SGD.
//
//===----------------------------------------------------------------------===//

#include "AllocationCounter.h"
#include "dtc/Runtime/OpABI.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr int batch = 16, in = 6, hidden = 5, out = 3;
constexpr int pp = TINY_PP, dp = TINY_DP, microbatches = TINY_MB;
constexpr int rows = batch / (dp * microbatches);

enum Group { dpGroup, ppGroup };

/// One arena layout serves both stages.
struct Arena {
  double x[microbatches][rows * in];
  double label[microbatches][rows * out];
  double a[in * hidden], gradA[in * hidden];
  double b[hidden * out], gradB[hidden * out];
  double h[microbatches][rows * hidden], gradH[microbatches][rows * hidden];
  double error[rows * out];
  double lr, step, loss, norm;
  double eval[2];
};

void matmul(dtc_context *context, int ta, int tb, bool accumulate, int64_t m,
            int64_t n, int64_t k, const double *a, const double *b, double *c) {
  dtcrt_matmul(context, DTC_F64, ta, tb, accumulate, 1, m, n, k, a, b, c);
}

/// The forward products, marked as the manifest's ops are. The last element of
/// the second is the number TINY_NAN in step 3.
void product(dtc_context *context, int op, double step, int64_t n, int64_t k,
             const double *a, const double *b, double *c) {
  dtcrt_op_begin(context, op);
  matmul(context, 0, 0, false, rows, n, k, a, b, c);
  if (const char *value = getenv("TINY_NAN"); value && op == 1 && step == 3)
    c[rows * n - 1] = strtod(value, nullptr);
  dtcrt_op_result(context, DTC_F64, c, rows * n);
  dtcrt_op_end(context);
}

void receive(dtc_context *context, int stage, int tag,
             double (&to)[rows * hidden]) {
  dtcrt_recv(context, stage, tag, tag, to, sizeof to);
  dtcrt_wait(context, tag);
}

/// Forward of the second layer, loss, and both gradients of the second layer.
void lastLayer(dtc_context *context, Arena &s, int mb) {
  product(context, 1, s.step, out, hidden, s.h[mb], s.b, s.error);
  for (int i = 0; i < rows * out; ++i) {
    double difference = s.error[i] - s.label[mb][i];
    s.loss += difference * difference / (batch * out);
    s.error[i] = 2 * difference / (batch * out);
  }
  matmul(context, 1, 0, mb > 0, hidden, out, rows, s.h[mb], s.error, s.gradB);
  matmul(context, 0, 1, false, rows, hidden, out, s.error, s.b, s.gradH[mb]);
}

double update(double lr, double *weight, double *gradient, int count) {
  double squares = 0;
  for (int i = 0; i < count; ++i) {
    squares += gradient[i] * gradient[i];
    weight[i] -= lr * gradient[i];
  }
  return squares;
}

template <int stage> void run(dtc_context *context, char *memory, char *) {
  Arena &s = *reinterpret_cast<Arena *>(memory);
  countAllocations(s.step >= 5 && s.step <= 10);
  constexpr bool first = stage == 0, last = stage == pp - 1;
  s.loss = s.norm = 0;
  for (int mb = 0; mb < microbatches; ++mb) {
    if (first)
      product(context, 0, s.step, hidden, in, s.x[mb], s.a, s.h[mb]);
    if (first && !last)
      dtcrt_send(context, 1, mb, mb, s.h[mb], sizeof s.h[mb]);
    if (last && !first)
      receive(context, 0, mb, s.h[mb]);
    if (last)
      lastLayer(context, s, mb);
  }
  for (int mb = 0; mb < microbatches; ++mb) {
    if (last && !first)
      dtcrt_send(context, 0, microbatches + mb, microbatches + mb, s.gradH[mb],
                 sizeof s.gradH[mb]);
    if (first && !last)
      receive(context, 1, microbatches + mb, s.gradH[mb]);
    if (first)
      matmul(context, 1, 0, mb > 0, in, hidden, rows, s.x[mb], s.gradH[mb],
             s.gradA);
  }
  for (int mb = 0; pp > 1 && mb < microbatches; ++mb)
    dtcrt_wait(context, first ? mb : microbatches + mb);
  if (first)
    dtcrt_all_reduce(context, dpGroup, DTC_F64, DTC_SUM, s.gradA, in * hidden);
  if (last)
    dtcrt_all_reduce(context, dpGroup, DTC_F64, DTC_SUM, s.gradB, hidden * out);
  if (first)
    s.norm += update(s.lr, s.a, s.gradA, in * hidden);
  if (last)
    s.norm += update(s.lr, s.b, s.gradB, hidden * out);
  dtcrt_all_reduce(context, dpGroup, DTC_F64, DTC_SUM, &s.loss, 1);
  dtcrt_all_reduce(context, ppGroup, DTC_F64, DTC_SUM, &s.loss, 1);
  dtcrt_all_reduce(context, ppGroup, DTC_F64, DTC_SUM, &s.norm, 1);
  s.norm = std::sqrt(s.norm);
  // For tests of what happens when a rank dies.
  if (const char *victim = getenv("TINY_CRASH_STAGE"))
    if (strtol(victim, nullptr, 10) == stage && s.step == 3)
      abort();
}

/// The sum of the squared errors of a batch, and how many there are.
template <int stage> void evaluate(dtc_context *context, char *memory, char *) {
  Arena &s = *reinterpret_cast<Arena *>(memory);
  constexpr bool first = stage == 0, last = stage == pp - 1;
  memset(s.eval, 0, sizeof s.eval);
  for (int mb = 0; mb < microbatches; ++mb) {
    if (first)
      matmul(context, 0, 0, false, rows, hidden, in, s.x[mb], s.a, s.h[mb]);
    if (first && !last)
      dtcrt_send(context, 1, mb, mb, s.h[mb], sizeof s.h[mb]);
    if (last && !first)
      receive(context, 0, mb, s.h[mb]);
    if (!last)
      continue;
    matmul(context, 0, 0, false, rows, out, hidden, s.h[mb], s.b, s.error);
    dtcrt_record(context, mb, s.error, sizeof s.error);
    for (int i = 0; i < rows * out; ++i) {
      double difference = s.error[i] - s.label[mb][i];
      s.eval[0] += difference * difference;
      s.eval[1] += 1;
    }
  }
  for (int mb = 0; first && !last && mb < microbatches; ++mb)
    dtcrt_wait(context, mb);
  for (int group : {dpGroup, ppGroup})
    dtcrt_all_reduce(context, group, DTC_F64, DTC_SUM, s.eval, 2);
}

#define OFFSET(field) std::to_string(offsetof(Arena, field))

std::string parameter(int index, const std::string &offset,
                      const std::string &gradient) {
  return "{\"index\": " + std::to_string(index) + ", \"offset\": " + offset +
         ", \"gradient\": {\"offset\": " + gradient + "}, \"state\": []}";
}

std::string describe(const std::string &name, const std::string &shape) {
  std::string named = "{\"name\": \"" + name + "\", \"shape\": [" + shape + "]";
  return named + ", \"dtype\": \"f64\", \"splits\": [], \"tensor\": " + named +
         ", \"start\": [0, 0]}, \"trainable\": true, \"init\": \"normal\", "
         "\"init_scale\": 0.5}";
}

std::string stageManifest(bool first, bool last) {
  std::string parameters;
  if (first)
    parameters += parameter(0, OFFSET(a), OFFSET(gradA));
  if (first && last)
    parameters += ", ";
  if (last)
    parameters += parameter(1, OFFSET(b), OFFSET(gradB));
  return "{\"arena_bytes\": " + std::to_string(sizeof(Arena)) +
         ", \"inputs\": [{\"index\": 0, \"offset\": " + OFFSET(x) +
         "}, {\"index\": 1, \"offset\": " + OFFSET(label) +
         "}, {\"index\": 2, \"offset\": " + OFFSET(lr) +
         "}, {\"index\": 3, \"offset\": " + OFFSET(step) +
         "}], \"parameters\": [" + parameters + "], \"loss\": " + OFFSET(loss) +
         ", \"grad_norm\": " + OFFSET(norm) + ", \"eval\": " + OFFSET(eval) +
         "}";
}

std::string op(const std::string &name, const std::string &node, int weights) {
  return "{\"name\": \"" + name + "\", \"node\": \"" + node +
         "\", \"flops\": " + std::to_string(2 * rows * weights) +
         ", \"bytes\": 0}";
}

std::string makeManifest() {
  auto text = [](int value) { return std::to_string(value); };
  std::string stages = stageManifest(true, pp == 1);
  if (pp == 2)
    stages += ", " + stageManifest(false, true);
  return "{\"model\": \"tiny\", \"dtype\": \"f64\", \"loss\": "
         "\"mse\", \"mesh\": [{\"name\": \"pp\", \"size\": " +
         text(pp) + "}, {\"name\": \"dp\", \"size\": " + text(dp) +
         "}], \"batch_axes\": [\"dp\"], \"microbatches\": " +
         text(microbatches) + ", \"global_batch\": " + text(batch) +
         ", \"model_flops\": " + text(6 * batch * hidden * (in + out)) +
         ", \"ops\": [" + op("first", "/a/MatMul", in * hidden) + ", " +
         op("second", "/b/MatMul", hidden * out) + "]" +
         ", \"weights_file\": \"\", \"optimizer\": {\"name\": \"sgd\", \"lr\": "
         "0.1}, \"groups\": "
         "[[\"dp\"], [\"pp\"]], \"phases\": [\"F\", \"W\"], \"inputs\": ["
         "{\"name\": \"x\", \"dtype\": \"f64\", \"shape\": [" +
         text(batch) + ", " + text(in) +
         "], \"kind\": \"input\"}, "
         "{\"name\": \"y\", \"dtype\": \"f64\", \"shape\": [" +
         text(batch) + ", " + text(out) +
         "], \"kind\": \"label\"}, "
         "{\"name\": \"lr\", \"dtype\": \"f64\", \"shape\": [], \"kind\": "
         "\"lr\"}, {\"name\": \"step\", \"dtype\": \"f64\", \"shape\": [], "
         "\"kind\": \"step\"}], \"parameters\": [" +
         describe("layer.a", text(in) + ", " + text(hidden)) + ", " +
         describe("layer.b", text(hidden) + ", " + text(out)) +
         "], "
         "\"eval_sums\": [{\"name\": \"loss\", \"size\": 1}, "
         "{\"name\": \"count\", \"size\": 1}], \"record\": {\"dtype\": "
         "\"f64\", \"shape\": [" +
         text(out) + "], \"unpadded\": [" + text(out) +
         "], \"splits\": [], \"stage\": " + text(pp - 1) + "}, \"stages\": [" +
         stages + "]}";
}

const std::string manifest = makeManifest();
const dtc_step_fn steps[] = {run<0>, run<1>};
const dtc_step_fn evals[] = {evaluate<0>, evaluate<1>};

} // namespace

const dtc_program dtc_program_v1 = {DTC_ABI_VERSION, pp,      steps,
                                    evals,           nullptr, manifest.data(),
                                    manifest.size()};
