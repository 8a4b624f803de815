//===- Slots.h - operations in flight, by slot ------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_COLLECTIVES_SLOTS_H
#define DTC_LIB_RUNTIME_COLLECTIVES_SLOTS_H

#include "Collectives.h"
#include "Core/Fatal.h"

namespace dtc::rt {

/// The state that an engine keeps for each operation in flight. A slot that is
/// out of range, or taken before it is free, ends the job.
template <typename Use> class Slots {
public:
  Use &operator[](int slot) { return entryOf(slot).use; }
  bool isTaken(int slot) { return entryOf(slot).isTaken; }
  bool isAnyTaken() const { return numTaken > 0; }

  /// Takes a slot, with the memory of its former use, so that a step need not
  /// allocate.
  Use &take(int slot) {
    Entry &entry = entryOf(slot);
    if (entry.isTaken)
      fatal("slot %d is used again before it was waited for", slot);
    entry.isTaken = true;
    ++numTaken;
    return entry.use;
  }
  /// Does nothing if it is free.
  void free(int slot) {
    Entry &entry = entryOf(slot);
    numTaken -= entry.isTaken;
    entry.isTaken = false;
  }

private:
  struct Entry {
    bool isTaken = false;
    Use use = {};
  };
  Entry &entryOf(int slot) {
    if (slot < 0 || slot >= numSlots)
      fatal("slot %d, expected 0 to %d", slot, numSlots - 1);
    return entries[size_t(slot)];
  }

  std::vector<Entry> entries = std::vector<Entry>(size_t(numSlots));
  int numTaken = 0;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_COLLECTIVES_SLOTS_H
