//===- Self.cpp - collectives of a program of one rank --------------------===//
//
// Every group has one member, so a reduction leaves its buffer as it is.
//
//===----------------------------------------------------------------------===//

#include "Collectives.h"

#include <cstdlib>

using namespace dtc::rt;

namespace {

class SelfCollectives : public Collectives {
public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  int localSize() const override { return 1; }
  void createGroups(const Program &) override {}
  void allReduce(int, dtc_dtype, dtc_reduction, void *, int64_t) override {}
  // There is nobody to exchange data with.
  void send(int, int, int, const void *, int64_t) override { abort(); }
  void recv(int, int, void *, int64_t) override { abort(); }
  void wait(int) override {}
  void sendData(int, const void *, int64_t) override { abort(); }
  void recvData(int, void *, int64_t) override { abort(); }
  int firstFailed(bool failed) override { return failed ? 0 : -1; }
  void barrier() override {}
  void finish() override {}
  void abort() override { _Exit(1); }
};

} // namespace

std::unique_ptr<Collectives> dtc::rt::makeSelfCollectives() {
  return std::make_unique<SelfCollectives>();
}
