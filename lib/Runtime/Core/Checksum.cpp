//===- Checksum.cpp - whether bytes are those that were written -----------===//

#include "Checksum.h"

#define XXH_INLINE_ALL // programs need no library for it
#include <xxhash.h>

using namespace dtc::rt;

struct Checksum::State {
  XXH3_state_t hash;
};

Checksum::Checksum() : state(std::make_unique<State>()) {
  XXH3_64bits_reset(&state->hash);
}

Checksum::~Checksum() = default;

void Checksum::update(const void *data, int64_t bytes) {
  XXH3_64bits_update(&state->hash, data, size_t(bytes));
}

uint64_t Checksum::value() const { return XXH3_64bits_digest(&state->hash); }

uint64_t Checksum::of(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}
