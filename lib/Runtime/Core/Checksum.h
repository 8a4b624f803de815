//===- Checksum.h - whether bytes are those that were written ---*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_CORE_CHECKSUM_H
#define DTC_LIB_RUNTIME_CORE_CHECKSUM_H

#include <cstdint>
#include <memory>
#include <string_view>

namespace dtc::rt {

/// XXH3 with 64 bits (https://xxhash.com): finds damage, not forgery.
class Checksum {
public:
  Checksum();
  ~Checksum();
  Checksum(const Checksum &) = delete;

  void update(const void *data, int64_t bytes);
  uint64_t value() const;

  static uint64_t of(std::string_view bytes);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_CORE_CHECKSUM_H
