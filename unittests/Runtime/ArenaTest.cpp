//===- ArenaTest.cpp - writes and reads of the host -----------------------===//

#include "Device/CPU/HostDevice.h"
#include "StagedArena.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace dtc::rt;

static void checkArena(Arena &arena) {
  arena.store(8, 2.5);
  arena.store(16, int64_t(-3));
  EXPECT_EQ(arena.load<double>(8), 2.5);
  EXPECT_EQ(arena.load<int64_t>(16), -3);
  // Written bytes lie at the arena's address.
  EXPECT_EQ(memcmp(arena.address() + 8, "\0\0\0\0\0\0\x04\x40", 8), 0);
  arena.write(32, 4, [](char *host) { std::fill_n(host, 4, 'a'); });
  std::string found;
  arena.read(31, 6, [&](const char *host) { found.assign(host, 6); });
  EXPECT_EQ(found, std::string("\0aaaa\0", 6));
}

TEST(Arena, HostMemoryIsTheDevices) {
  std::unique_ptr<Arena> arena = makeHostArena(64, Sharing::none);
  ASSERT_NE(arena->mapping(), nullptr);
  checkArena(*arena);
  arena->write(40, 1,
               [&](char *host) { EXPECT_EQ(host, arena->address() + 40); });
}

TEST(Arena, HostMemoryIsACopy) {
  StagedArena arena(64);
  EXPECT_EQ(arena.mapping(), nullptr);
  checkArena(arena);
}
