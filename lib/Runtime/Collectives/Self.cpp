//===- Self.cpp - collectives of a program of one rank --------------------===//
//
// Every group has one member, so a reduction leaves its buffer as it is.
//
//===----------------------------------------------------------------------===//

#include "Collectives.h"

#include "../Elements.h"

#include <cstdlib>
#include <cstring>

using namespace dtc::rt;

namespace {

class SelfCollectives : public Collectives {
public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  int localSize() const override { return 1; }
  int machine() const override { return 0; }
  void createGroups(const Program &) override {}
  void allReduce(int, dtc_dtype, dtc_reduction, void *, int64_t) override {}
  void startAllReduce(int, int, dtc_dtype, dtc_reduction, void *,
                      int64_t) override {}
  int groupRank(int) override { return 0; }
  int groupSize(int) override { return 1; }
  void allGather(int, const void *input, void *output, int64_t bytes) override {
    memcpy(output, input, bytes);
  }
  void startAllGather(int group, int, const void *input, void *output,
                      int64_t bytes) override {
    allGather(group, input, output, bytes);
  }
  void reduceScatter(int, dtc_dtype dtype, dtc_reduction, const void *input,
                     void *output, int64_t count) override {
    memcpy(output, input, count * sizeOf(dtype));
  }
  void startReduceScatter(int group, int, dtc_dtype dtype,
                          dtc_reduction reduction, const void *input,
                          void *output, int64_t count) override {
    reduceScatter(group, dtype, reduction, input, output, count);
  }
  // There is nobody to exchange data with.
  void send(int, int, int, const void *, int64_t) override { abort(); }
  void recv(int, int, void *, int64_t) override { abort(); }
  void startRecv(int, int, int, void *, int64_t) override { abort(); }
  void wait(int) override {}
  bool test(int) override { return true; }
  bool poll() override { return false; }
  void sendData(int, const void *, int64_t) override { abort(); }
  void recvData(int, void *, int64_t) override { abort(); }
  void gatherData(const void *input, void *output, int64_t bytes) override {
    memcpy(output, input, bytes);
  }
  int firstFailed(bool failed) override { return failed ? 0 : -1; }
  void barrier() override {}
  void finish() override {}
  void abort() override { _Exit(1); }
};

} // namespace

std::unique_ptr<Collectives> dtc::rt::makeSelfCollectives() {
  return std::make_unique<SelfCollectives>();
}
