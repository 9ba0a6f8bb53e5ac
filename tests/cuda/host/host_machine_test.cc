#include "cuda/host/host_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "tests/cuda/host/test_kernels.h"

namespace logos::cuda {
namespace {

using ::testing::HasSubstr;

struct WriteArguments {
  unsigned char* to;
  const unsigned char* from;
  std::int64_t at;
};
extern "C" void test_write(WriteArguments a) { a.to[a.at] = static_cast<unsigned char>(a.at); }
extern "C" void test_checked_read(WriteArguments a) { store(a.to, load(a.from + a.at)); }

template <typename Action>
std::string fault_of_action(const Action& action) {
  try {
    action();
  } catch (const host::KernelFault& fault) {
    return fault.what();
  }
  return "";
}

TEST(HostMachine, RunsAKernelOnUploadedBuffers) {
  HostMachine machine;
  std::vector<int> in(1000);
  std::iota(in.begin(), in.end(), 0);
  const Buffer from = machine.allocate(4000, "in");
  const Buffer to = machine.allocate(8, "out");
  machine.upload(from.data(), std::as_bytes(std::span(in)));
  machine.fill(to.data(), 0, 8);
  machine.launch(LOGOS_KERNEL(test_sum), {{4}, {256}, 4},
                 SumArguments{from.as<int>(), to.as<int>(), 1000}, {});
  int out[2];
  machine.download(std::as_writable_bytes(std::span(out)), to.data());
  EXPECT_EQ(out[0], 999 * 1000 / 2);
  EXPECT_EQ(out[1], 768);
  ASSERT_EQ(machine.records().size(), 1U);
  EXPECT_EQ(machine.records()[0].kernel, "test_sum");
  EXPECT_EQ(machine.records()[0].counted->barriers, 4U);
  EXPECT_EQ(machine.records()[0].counted->collectives, 4U * 8 * 5);
  machine.clear_records();
  EXPECT_TRUE(machine.records().empty());
}

/// What test_gemv gives with a seed; checks it against plain loops.
void expect_gemv(std::uint64_t seed, bool mix_warps) {
  constexpr int kRows = 37;
  constexpr int kColumns = 1040;
  std::mt19937 random(3);
  std::vector<std::int8_t> weights(kRows * kColumns);
  std::vector<std::uint8_t> lo(kColumns);
  std::vector<std::int8_t> hi(kColumns);
  for (auto& x : weights) x = static_cast<std::int8_t>(random());
  for (auto& x : lo) x = static_cast<std::uint8_t>(random());
  for (auto& x : hi) x = static_cast<std::int8_t>(random());
  HostMachine machine({.executor = {.seed = seed, .mix_warps = mix_warps},
                       .check_addresses = true,
                       .check_traffic = true});
  const auto make = [&](const auto& from, std::string_view name) {
    Buffer buffer = machine.allocate(from.size(), name);
    machine.upload(buffer.data(), std::as_bytes(std::span(from)));
    return buffer;
  };
  const Buffer w = make(weights, "weights");
  const Buffer l = make(lo, "lo");
  const Buffer h = make(hi, "hi");
  const Buffer out = machine.allocate(2 * kRows * 4, "out");
  const GemvArguments arguments{w.as<std::int8_t>(),
                                l.as<std::uint8_t>(),
                                h.as<std::int8_t>(),
                                out.as<int>(),
                                out.as<int>() + kRows,
                                kRows,
                                kColumns};
  const Traffic declared{.weight_bytes = kRows * kColumns,
                         .other_bytes = kRows * (2 * kColumns + 8),
                         .int8_macs = 2 * kRows * kColumns};
  machine.launch(kernel<&test_gemv>("test_gemv"), {{10}, {32, 4}, 0}, arguments, declared);
  std::vector<int> got(2 * kRows);
  machine.download(std::as_writable_bytes(std::span(got)), out.data());
  for (std::size_t row = 0; row < kRows; ++row) {
    int want_lo = 0;
    int want_hi = 0;
    for (std::size_t k = 0; k < kColumns; ++k) {
      want_lo += weights[row * kColumns + k] * lo[k];
      want_hi += weights[row * kColumns + k] * hi[k];
    }
    ASSERT_EQ(got[row], want_lo);
    ASSERT_EQ(got[kRows + row], want_hi);
  }
}

TEST(HostMachine, AnySeedGivesTheSameBitsAndTheDeclaredTraffic) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) expect_gemv(seed, seed % 2 == 0);
}

TEST(HostMachine, ReportsTrafficThatWasNotDeclared) {
  HostMachine machine({.check_traffic = true});
  const Buffer buffer = machine.allocate(64, "bytes");
  const WriteArguments arguments{buffer.as<unsigned char>(), buffer.as<unsigned char>(), 1};
  const auto kernel = LOGOS_KERNEL(test_checked_read);
  EXPECT_EQ(fault_of_action([&] { machine.launch(kernel, {}, arguments, {.other_bytes = 2}); }),
            "");
  EXPECT_THAT(
      fault_of_action([&] { machine.launch(kernel, {}, arguments, {.other_bytes = 3}); }),
      HasSubstr("kernel test_checked_read: declared traffic weight_bytes 0 kv_bytes 0 other_bytes "
                "3"));
}

TEST(HostMachine, ReportsWritesOutsideABufferByKernelAndBuffer) {
  for (const std::int64_t at : {-1, -200, 100, 355}) {
    HostMachine machine;
    const Buffer before = machine.allocate(5000, "before");
    const Buffer buffer = machine.allocate(100, "activations");
    const Buffer behind = machine.allocate(5000, "behind");
    const WriteArguments arguments{buffer.as<unsigned char>(), nullptr, at};
    const std::string fault =
        fault_of_action([&] { machine.launch(LOGOS_KERNEL(test_write), {}, arguments, {}); });
    EXPECT_THAT(fault, HasSubstr("kernel test_write, seed 1: wrote outside buffer activations of "
                                 "100 bytes: "));
    EXPECT_THAT(fault, HasSubstr(at < 0 ? "before its begin" : "behind its end"));
  }
}

TEST(HostMachine, WritesInsideABufferAreNoFault) {
  HostMachine machine;
  const Buffer buffer = machine.allocate(100, "activations");
  for (const std::int64_t at : {0, 99}) {
    const WriteArguments arguments{buffer.as<unsigned char>(), nullptr, at};
    machine.launch(LOGOS_KERNEL(test_write), {}, arguments, {});
  }
}

TEST(HostMachine, CheckedReadsOutsideABufferAreReported) {
  HostMachine machine({.check_addresses = true});
  const Buffer from = machine.allocate(100, "keys");
  const Buffer to = machine.allocate(1, "out");
  const auto read = [&](std::int64_t at) {
    const WriteArguments arguments{to.as<unsigned char>(), from.as<unsigned char>(), at};
    machine.launch(LOGOS_KERNEL(test_checked_read), {}, arguments, {});
  };
  EXPECT_EQ(fault_of_action([&] { read(99); }), "");
  const std::string fault = fault_of_action([&] { read(100); });
  EXPECT_THAT(fault, HasSubstr("kernel test_checked_read"));
  EXPECT_THAT(fault, HasSubstr("outside every buffer: byte 100 of buffer keys, which has 100"));
}

TEST(HostMachine, CopiesOutsideABufferAreReported) {
  HostMachine machine;
  const Buffer buffer = machine.allocate(10, "small");
  std::vector<std::byte> bytes(11);
  EXPECT_THAT(fault_of_action([&] { machine.upload(buffer.data(), bytes); }),
              HasSubstr("upload of 11 bytes outside every buffer"));
  EXPECT_THAT(fault_of_action([&] { machine.download(bytes, buffer.data()); }),
              HasSubstr("download"));
  EXPECT_THAT(fault_of_action([&] { machine.fill(buffer.data(), 0, 11); }), HasSubstr("fill"));
}

TEST(HostMachine, NewMemoryHoldsThePattern) {
  HostMachine machine({.memory_fill = 0x7FC00001});
  const Buffer buffer = machine.allocate(10, "pattern");
  std::vector<std::uint8_t> bytes(10);
  machine.download(std::as_writable_bytes(std::span(bytes)), buffer.data());
  EXPECT_THAT(bytes, ::testing::ElementsAre(1, 0, 0xC0, 0x7F, 1, 0, 0xC0, 0x7F, 1, 0));
}

TEST(HostMachine, BuffersAreAlignedAndMayBeEmptyOrMoved) {
  HostMachine machine;
  Buffer a = machine.allocate(0, "empty");
  Buffer b = machine.allocate(3, "odd");
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 256, 0U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b.data()) % 256, 0U);
  EXPECT_NE(a.data(), b.data());
  std::byte* data = b.data();
  a = std::move(b);
  EXPECT_EQ(a.data(), data);
  EXPECT_EQ(a.bytes(), 3U);
}

TEST(HostMachine, AsynchronousCopiesArriveWhenTheyAreWaitedFor) {
  HostMachine machine({.check_traffic = true});
  std::vector<unsigned char> in(2 * 64 * 16);
  std::iota(in.begin(), in.end(), static_cast<unsigned char>(0));
  const Buffer from = machine.allocate(in.size(), "in");
  const Buffer to = machine.allocate(in.size(), "out");
  machine.upload(from.data(), std::as_bytes(std::span(in)));
  std::vector<unsigned char> out(in.size());
  for (const int early : {0, 1}) {
    machine.launch(LOGOS_KERNEL(test_copy), {{1}, {64}, in.size()},
                   CopyArguments{from.as<unsigned char>(), to.as<unsigned char>(), early},
                   {.weight_bytes = in.size()});
    machine.download(std::as_writable_bytes(std::span(out)), to.data());
    if (early == 0) {
      EXPECT_EQ(out, in);
    } else {
      // What was read before the wait is the pattern of shared memory.
      EXPECT_TRUE(std::all_of(out.begin(), out.begin() + 1024, [](auto b) { return b == 0xA5; }));
      EXPECT_TRUE(std::equal(out.begin() + 1024, out.end(), in.begin() + 1024));
    }
  }
}

TEST(HostMachine, HasNoTimesOfItsOwn) {
  HostMachine machine({.reason = "no GPU here"});
  EXPECT_EQ(machine.time_class(), TimeClass::kModelled);
  EXPECT_EQ(machine.description(), "kernels run on this host (no GPU here)");
  bool called = false;
  EXPECT_FALSE(machine.median_seconds([&] { called = true; }, 3));
  EXPECT_FALSE(called);
}

}  // namespace
}  // namespace logos::cuda
