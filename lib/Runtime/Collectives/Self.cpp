//===- Self.cpp - collectives of a program of one rank --------------------===//
//
// Every group has one member, whose output is its input.
//
//===----------------------------------------------------------------------===//

#include "Collectives.h"

#include "Core/Elements.h"

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
  void run(int, const Collective &collective) override {
    if (collective.output != collective.input)
      memcpy(collective.output, collective.input, size_t(collective.bytes()));
  }
  void start(int group, int, const Collective &collective) override {
    run(group, collective);
  }
  int groupRank(int) override { return 0; }
  int groupSize(int) override { return 1; }
  // There is nobody to exchange data with.
  void send(int, int, int, const void *, int64_t) override { abort(); }
  void recv(int, int, int, void *, int64_t) override { abort(); }
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
