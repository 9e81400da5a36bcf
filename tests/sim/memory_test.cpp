#include <algorithm>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "sim/memory.h"

namespace nereid::sim {
namespace {

TEST(Memory, ReadsBackWhatWasWritten) {
  Memory memory;
  auto address = memory.allocate(100, 4096);
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(*address % 4096, 0u);
  uint32_t words[2] = {0x11223344, 0x55667788}, back[2] = {};
  ASSERT_TRUE(memory.write(*address + 40, words, 8).ok());
  ASSERT_TRUE(memory.fill(*address + 44, std::byte{0xAB}, 2).ok());
  ASSERT_TRUE(memory.read(*address + 40, back, 8).ok());
  EXPECT_EQ(back[0], 0x11223344u);
  EXPECT_EQ(back[1], 0x5566ABABu);
}

TEST(Memory, RefusesWhatIsNotInsideOneBuffer) {
  Memory memory;
  uint64_t address = *memory.allocate(100);
  char byte = 0;
  Status past = memory.read(address + 100, &byte, 1);
  ASSERT_FALSE(past.ok());
  EXPECT_EQ(past.error().owner, Owner::User);
  EXPECT_NE(past.error().message.find("not inside one simulator buffer"), std::string::npos);
  EXPECT_FALSE(memory.write(address - 1, &byte, 1).ok());
  EXPECT_FALSE(memory.fill(address + 50, std::byte{0}, 51).ok());
  EXPECT_FALSE(memory.read(address, &byte, ~size_t{0}).ok());
  EXPECT_FALSE(memory.free(address + 1).ok());
  ASSERT_TRUE(memory.free(address).ok());
  EXPECT_FALSE(memory.read(address, &byte, 1).ok());
  EXPECT_FALSE(memory.free(address).ok());
}

TEST(Memory, BuffersLieFarApart) {
  Memory memory;
  uint64_t first = *memory.allocate(1), second = *memory.allocate(1);
  EXPECT_GE(second - first, uint64_t{1} << 35);
  const Memory::View view = memory.view();
  EXPECT_EQ(view.find(first + 1, 1), nullptr);
  EXPECT_NE(view.find(second, 1), nullptr);
  for (int64_t offset : {int64_t{INT32_MIN}, int64_t{INT32_MAX}})
    for (int64_t element : {2, 4, 8})
      for (uint64_t address : {first, second})
        EXPECT_EQ(view.find(address + static_cast<uint64_t>(offset * element), 1), nullptr)
            << offset << " elements of " << element;
}

TEST(Memory, ThousandsOfBuffersLieCloserAndStillApart) {
  Memory memory;
  constexpr size_t count = 3700; // beyond what 2^47 bytes hold at the full distance
  std::vector<uint64_t> addresses;
  for (size_t i = 0; i < count; ++i) {
    auto address = memory.allocate(300);
    ASSERT_TRUE(address.ok()) << address.error().text();
    EXPECT_LE(*address + 300, uint64_t{1} << 47);
    addresses.push_back(*address);
  }
  EXPECT_GE(addresses[1000] - addresses[999], uint64_t{1} << 35);
  std::sort(addresses.begin(), addresses.end());
  for (size_t i = 1; i < count; ++i)
    ASSERT_GE(addresses[i] - addresses[i - 1] - 300, uint64_t{1} << 32) << i;
}

TEST(Memory, HoldsBuffersBeyondFourGigabytesWithoutTouchingThem) {
  Memory memory;
  constexpr size_t size = size_t{5} << 30;
  uint64_t address = *memory.allocate(size);
  uint32_t word = 77, back = 0;
  ASSERT_TRUE(memory.write(address + size - 4, &word, 4).ok());
  ASSERT_TRUE(memory.read(address + size - 4, &back, 4).ok());
  EXPECT_EQ(back, 77u);
}

TEST(Memory, LimitsItsSizeAndChecksAlignment) {
  Memory memory(1000);
  EXPECT_FALSE(memory.allocate(1001).ok());
  uint64_t address = *memory.allocate(600);
  auto more = memory.allocate(500);
  ASSERT_FALSE(more.ok());
  EXPECT_NE(more.error().message.find("out of simulated device memory"), std::string::npos);
  ASSERT_TRUE(memory.free(address).ok());
  EXPECT_TRUE(memory.allocate(500).ok());
  EXPECT_FALSE(memory.allocate(1, 3).ok());
}

TEST(Memory, AViewKeepsWhatWasFreed) {
  Memory memory;
  uint64_t address = *memory.allocate(8);
  Memory::View view = memory.view();
  ASSERT_TRUE(memory.free(address).ok());
  const Block *block = view.find(address, 8);
  ASSERT_NE(block, nullptr);
  block->data()[0] = std::byte{1};
  EXPECT_EQ(memory.view().find(address, 8), nullptr);
}

TEST(Memory, ServesSeveralThreads) {
  Memory memory;
  std::vector<std::thread> threads;
  std::vector<int> failures(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        auto address = memory.allocate(64);
        int value = t * 1000 + i, back = 0;
        bool ok =
            address.ok() && memory.write(*address, &value, 4).ok() && memory.read(*address, &back, 4).ok();
        failures[t] += !ok || back != value || !memory.free(*address).ok();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (int count : failures)
    EXPECT_EQ(count, 0);
}

TEST(Memory, KnowsWhatNobodyWrote) {
  Memory memory;
  for (const size_t size : {size_t{100}, size_t{3} << 20, size_t{5} << 30}) {
    const uint64_t address = *memory.allocate(size);
    const Memory::View view = memory.view();
    Definedness &definedness = view.find(address, size)->definedness();
    EXPECT_TRUE(definedness.anything_undefined() && definedness.untouched());
    const uint32_t word = 7;
    ASSERT_TRUE(memory.write(address + 40, &word, 4).ok());
    ASSERT_TRUE(memory.fill(address + size - 50, std::byte{0}, 8).ok());
    const std::byte *bits = definedness.bits();
    ASSERT_NE(bits, nullptr);
    for (const size_t at : {size_t{0}, size_t{39}, size_t{44}, size - 51, size - 42, size - 1})
      EXPECT_EQ(bits[at], std::byte{0xFF}) << size << " " << at;
    for (const size_t at : {size_t{40}, size_t{43}, size - 50, size - 43})
      EXPECT_EQ(bits[at], std::byte{0}) << size << " " << at;
    if (size == size_t{3} << 20) { // whole pages in the middle
      ASSERT_TRUE(memory.fill(address + 500, std::byte{0}, size - 1000).ok());
      EXPECT_EQ(bits[499], std::byte{0xFF});
      EXPECT_EQ(bits[500], std::byte{0});
      EXPECT_EQ(bits[size / 2], std::byte{0});
      EXPECT_EQ(bits[size - 501], std::byte{0});
      EXPECT_EQ(bits[size - 500], std::byte{0xFF});
    }
    EXPECT_TRUE(definedness.anything_undefined());
    memory.define_all();
    EXPECT_FALSE(definedness.anything_undefined());
    EXPECT_EQ(bits[0], std::byte{0});
    ASSERT_TRUE(memory.free(address).ok());
  }
}

TEST(Memory, ABufferOfNothingHoldsNothing) {
  Memory memory;
  const uint64_t address = *memory.allocate(0), next = *memory.allocate(1);
  EXPECT_NE(address, next);
  std::byte byte{};
  EXPECT_TRUE(memory.read(address, &byte, 0).ok());
  EXPECT_FALSE(memory.read(address, &byte, 1).ok());
  EXPECT_EQ(memory.view().find(address, 1), nullptr);
  EXPECT_TRUE(memory.fork().ok());
  EXPECT_TRUE(memory.free(address).ok());
}

TEST(Memory, AFillOfALargeBufferTouchesNoPages) {
  Memory memory;
  constexpr size_t size = size_t{64} << 30;
  const uint64_t address = *memory.allocate(size);
  ASSERT_TRUE(memory.fill(address, std::byte{7}, size).ok());
  std::byte byte{};
  for (const size_t at : {size_t{0}, size / 2, size - 1}) {
    ASSERT_TRUE(memory.read(address + at, &byte, 1).ok());
    EXPECT_EQ(byte, std::byte{7}) << at;
  }
  ASSERT_TRUE(memory.fill(address, std::byte{0}, size).ok());
  ASSERT_TRUE(memory.read(address + size / 2, &byte, 1).ok());
  EXPECT_EQ(byte, std::byte{0});
}

TEST(Memory, AWholeWriteDefinesABuffer) {
  Memory memory;
  const uint64_t address = *memory.allocate(64);
  const Memory::View view = memory.view();
  EXPECT_TRUE(view.find(address, 64)->definedness().anything_undefined());
  ASSERT_TRUE(memory.fill(address, std::byte{0}, 64).ok());
  EXPECT_FALSE(view.find(address, 64)->definedness().anything_undefined());
}

TEST(Memory, HostMemoryIsABlockAtItsOwnAddress) {
  // The heap of the host lies beyond these addresses.
  Memory memory(1 << 20, {uint64_t{1} << 44, uint64_t{1} << 45});
  std::vector<uint32_t> host = {1, 2, 3, 4};
  const auto address = reinterpret_cast<uint64_t>(host.data());
  auto *bytes = reinterpret_cast<std::byte *>(host.data());
  ASSERT_TRUE(memory.adopt(bytes, 16).ok());
  EXPECT_FALSE(memory.adopt(bytes + 12, 4).ok());
  EXPECT_FALSE(memory.adopt(bytes - 4, 8).ok());
  EXPECT_FALSE(memory.view().find(address, 16)->definedness().anything_undefined());
  const uint32_t seven = 7;
  uint32_t back = 0;
  ASSERT_TRUE(memory.write(address + 4, &seven, 4).ok());
  EXPECT_EQ(host[1], 7u);
  // A copy of the memory has a copy of it.
  const auto fork = *memory.fork();
  host[1] = 8;
  ASSERT_TRUE(fork->read(address + 4, &back, 4).ok());
  EXPECT_EQ(back, 7u);
  ASSERT_TRUE(memory.free(address).ok());
  EXPECT_FALSE(memory.read(address, &back, 4).ok());
  EXPECT_EQ(host[0], 1u);
}

TEST(Memory, AllocationsStayInTheirRange) {
  constexpr AddressRange range = {uint64_t{1} << 45, uint64_t{1} << 46};
  Memory memory(uint64_t{1} << 50, range);
  std::vector<std::byte> host(64);
  ASSERT_TRUE(memory.adopt(host.data(), host.size()).ok());
  // More than lie there with the widest guard.
  for (int i = 0; i < 2000; ++i) {
    const uint64_t address = *memory.allocate(64);
    EXPECT_TRUE(address >= range.first && address + 64 <= range.end) << i;
  }
  EXPECT_FALSE(memory.adopt(reinterpret_cast<std::byte *>(range.first + 1), 1).ok()); // NOLINT
}

} // namespace
} // namespace nereid::sim
