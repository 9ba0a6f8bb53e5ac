#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "Vcsr_model.h"
#include "tests/rtl/shell_random.h"

namespace logos {
namespace {

constexpr std::uint32_t kScratch32 = 0x50;
constexpr std::uint32_t kScratch64 = 0x58;
constexpr std::uint32_t kControl = 0x90;
constexpr std::uint32_t kStatus = 0x98;
constexpr std::uint32_t kErrors = 0xA0;
constexpr std::uint32_t kRowsTotal = 0xC8;
constexpr std::uint32_t kIdentity = 0xE0;
constexpr std::uint32_t kDmaHost = 0x100;
constexpr std::uint32_t kDmaMemory = 0x108;
constexpr std::uint32_t kDmaBytes = 0x110;
constexpr std::uint32_t kDmaControl = 0x118;

constexpr std::uint64_t kRunning = 1;
constexpr std::uint64_t kDone = 2;
constexpr std::uint64_t kRefused = 1ULL << 14;
constexpr std::uint64_t kEngineSilent = 1ULL << 18;
constexpr std::uint64_t kBadCopy = 1ULL << 19;

class CsrBench {
 public:
  explicit CsrBench(std::uint32_t seed) : random_(seed) {
    for (unsigned word = 0; word < 12; ++word) csr.clocks_i[word] = 0x1000 + word;
    csr.epoch_i = 0x5A;
    csr.rst_ni = 0;
    csr.eval();
    clock();
    csr.rst_ni = 1;
    clock();
  }

  /// One cycle, with the tables and the engine behind it.
  void clock() {
    csr.eval();
    starts += csr.start_o;
    copies += csr.copy_start_o;
    soft_resets += csr.soft_reset_o;
    if (csr.rows_write_o) rows[csr.table_address_o] = csr.table_data_o;
    if (csr.segment_write_o) segments[csr.table_address_o & 0x1FF] = csr.table_data_o;
    const std::uint32_t address = csr.table_address_o;
    if (engine_alive && csr.engine_ask_o != csr.engine_answer_i && ++engine_wait_ > 8) {
      csr.engine_data_i = 0xE000000000000000 | csr.engine_index_o;
      csr.engine_answer_i = csr.engine_ask_o;
    }
    if (csr.engine_ask_o == csr.engine_answer_i) engine_wait_ = 0;
    csr.clk_i = 1;
    csr.eval();
    csr.clk_i = 0;
    csr.rows_data_i = rows[address];
    csr.segment_data_i = segments[address & 0x1FF];
    csr.greedy_data_i = 0x6000000000000000 | (address & 0x1FFF);
    csr.eval();
  }

  void write(std::uint32_t address, std::uint64_t data, std::uint8_t strobe = 0xFF) {
    csr.awid_i = static_cast<std::uint16_t>(random_());
    csr.awuser_i = static_cast<std::uint16_t>(random_());
    const auto id = csr.awid_i;
    const auto user = csr.awuser_i;
    csr.awaddr_i = address;
    csr.wdata_i = data;
    csr.wstrb_i = strobe;
    // Address and data arrive at different times.
    if (random_.chance(30)) {
      csr.awvalid_i = 1;
      clock();
    } else if (random_.chance(30)) {
      csr.wvalid_i = 1;
      clock();
    }
    csr.awvalid_i = csr.wvalid_i = 1;
    bool taken = false;
    for (int cycle = 0; cycle < 100; ++cycle) {
      csr.bready_i = random_.chance(50);
      csr.eval();
      const bool take = csr.awvalid_i && csr.awready_o;
      EXPECT_EQ(csr.awready_o, csr.wready_o);
      const bool answered = csr.bvalid_o && csr.bready_i;
      if (answered) {
        EXPECT_EQ(csr.bid_o, id);
        EXPECT_EQ(csr.buser_o, user);
        EXPECT_TRUE(taken);
      }
      clock();
      if (take) {
        csr.awvalid_i = csr.wvalid_i = 0;
        csr.awaddr_i = random_() & 0x3FFFF;
        csr.wdata_i = random_.wide();
        taken = true;
      }
      if (answered) return;
    }
    FAIL() << "a write is never answered";
  }

  /// Checks that the answer comes within 100 cycles.
  std::uint64_t read(std::uint32_t address) {
    csr.arid_i = static_cast<std::uint16_t>(random_());
    csr.aruser_i = static_cast<std::uint16_t>(random_());
    const auto id = csr.arid_i;
    const auto user = csr.aruser_i;
    csr.araddr_i = address;
    csr.arvalid_i = 1;
    csr.rready_i = 1;
    for (int cycle = 0; cycle < 100; ++cycle) {
      csr.eval();
      const bool take = csr.arvalid_i && csr.arready_o;
      if (csr.rvalid_o) {
        EXPECT_EQ(csr.rid_o, id);
        EXPECT_EQ(csr.ruser_o, user);
        const std::uint64_t data = csr.rdata_o;
        clock();
        return data;
      }
      clock();
      if (take) {
        csr.arvalid_i = 0;
        csr.arid_i = static_cast<std::uint16_t>(random_());
      }
    }
    ADD_FAILURE() << "a read of " << address << " is not answered within 100 cycles";
    return 0;
  }

  Vcsr_model csr;
  std::map<std::uint32_t, std::uint64_t> rows;
  std::map<std::uint32_t, std::uint64_t> segments;
  unsigned starts = 0;
  unsigned copies = 0;
  unsigned soft_resets = 0;
  bool engine_alive = true;

 private:
  Random random_;
  unsigned engine_wait_ = 0;
};

TEST(Csr, ShowsItsHeaderAndTheEnginesSize) {
  CsrBench bench(1);
  EXPECT_EQ(bench.read(0x00), 0x1000010000000000U);
  EXPECT_EQ(bench.read(0x08), 0x9F0184590BED1323U);  // 107d1b73-27f3-46b6-9f01-84590bed1323
  EXPECT_EQ(bench.read(0x10), 0x107D1B7327F346B6U);
  EXPECT_EQ(bench.read(0x18), 0U);
  EXPECT_EQ(bench.read(0x20), 0U);
  EXPECT_EQ(bench.read(0x28) >> 32, 0x3544474CU);
  EXPECT_EQ(bench.read(0x30), 8192ULL << 48 | 2048ULL << 32 | 1024ULL << 16 | 8 << 8 | 8);
  EXPECT_EQ(bench.read(0x38), 1024ULL << 48 | 1024ULL << 32 | 512ULL << 16 | 8192);
  EXPECT_EQ(bench.read(0x40), 16384ULL << 32 | 65536);
  EXPECT_EQ(bench.read(0x68), 0x1003ULL << 32 | 0x1002);  // the engine's clock counter
  EXPECT_EQ(bench.read(0x88), 0x100BULL << 32 | 0x100A);  // bank 3's
  EXPECT_EQ(bench.read(kStatus) >> 8 & 0xFF, 0x5AU);
}

TEST(Csr, WritesWhatTheStrobesSayAndLeavesTheRest) {
  CsrBench bench(2);
  bench.write(kScratch64, 0x1122334455667788);
  EXPECT_EQ(bench.read(kScratch64), 0x1122334455667788U);
  bench.write(kScratch64, 0xAAAAAAAABBBBBBBB, 0x0F);  // the lower half alone
  EXPECT_EQ(bench.read(kScratch64), 0x11223344BBBBBBBBU);
  bench.write(kScratch64 + 4, 0xCCCCCCCCDDDDDDDD, 0xF0);  // the upper half
  EXPECT_EQ(bench.read(kScratch64), 0xCCCCCCCCBBBBBBBBU);
  std::uint64_t expected = 0xCCCCCCCCBBBBBBBB;
  for (unsigned byte = 0; byte < 8; ++byte) {
    bench.write(kScratch64, 0x0102030405060708, static_cast<std::uint8_t>(1U << byte));
    const std::uint64_t mask = 0xFFULL << (8 * byte);
    expected = (expected & ~mask) | (0x0102030405060708 & mask);
    EXPECT_EQ(bench.read(kScratch64), expected);
  }
  bench.write(kScratch64, ~0ULL, 0);
  EXPECT_EQ(bench.read(kScratch64), expected);
  bench.write(kScratch32, 0xFFFFFFFF12345678);
  EXPECT_EQ(bench.read(kScratch32), 0x12345678U);  // 8 bytes of a 32-bit register
  bench.write(kScratch32, 0xFF00FF00FF00FF00, 0x02);
  EXPECT_EQ(bench.read(kScratch32), 0x1234FF78U);
  bench.write(kIdentity + 16, 0xFEDCBA9876543210);
  bench.write(kIdentity + 16, 0, 0x80);
  EXPECT_EQ(bench.read(kIdentity + 16), 0x00DCBA9876543210U);
  EXPECT_EQ(bench.csr.identity_o[4], 0x76543210U);
  EXPECT_EQ(bench.csr.identity_o[5], 0x00DCBA98U);
}

TEST(Csr, UndefinedAddressesRead0AndTakeWrites) {
  CsrBench bench(3);
  for (const std::uint32_t address : {0x18U, 0x20U, 0x48U, 0xA8U, 0x120U, 0x1F8U, 0x400U, 0xFF8U,
                                      0x1000U, 0x7FF8U, 0x9000U, 0xFFF8U, 0x30000U, 0x3FFF8U}) {
    bench.write(address, ~0ULL);
    EXPECT_EQ(bench.read(address), 0U) << address;
  }
  EXPECT_EQ(bench.starts + bench.copies + bench.soft_resets, 0U);
  EXPECT_EQ(bench.read(kErrors), 0U);
}

TEST(Csr, WritesTablesByHalvesAndReadsThemBack) {
  CsrBench bench(4);
  bench.write(0x20000 + 8 * 8191, 0x0000000700000003);
  bench.write(0x20000 + 8 * 5, 0x11111111, 0x0F);
  bench.write(0x20000 + 8 * 5 + 4, 0x2222222200000000, 0xF0);
  EXPECT_EQ(bench.rows[8191], 0x0000000700000003U);
  EXPECT_EQ(bench.rows[5], 0x2222222211111111U);
  EXPECT_EQ(bench.read(0x20000 + 8 * 5), 0x2222222211111111U);
  bench.write(0x8000 + 8 * 511, 0xABCDE0001);
  EXPECT_EQ(bench.segments[511], 0xABCDE0001U);
  EXPECT_EQ(bench.read(0x8000 + 8 * 511), 0xABCDE0001U);
  EXPECT_EQ(bench.read(0x10000 + 8 * 77), 0x6000000000000000U | 77);
}

TEST(Csr, StartsOnceAndOnlyWhenIdle) {
  CsrBench bench(5);
  bench.write(kRowsTotal, 12);
  bench.write(kControl, 2);
  EXPECT_EQ(bench.starts, 1U);
  EXPECT_EQ(bench.read(kStatus) & 3, kRunning);
  bench.write(kControl, 2);
  EXPECT_EQ(bench.starts, 1U);
  EXPECT_EQ(bench.read(kErrors), kRefused);
  bench.write(kErrors, kRefused);
  EXPECT_EQ(bench.read(kErrors), 0U);
  bench.write(kRowsTotal, 99);  // settings lie still while the engine works
  EXPECT_EQ(bench.read(kRowsTotal), 12U);
  EXPECT_EQ(bench.read(kErrors), kRefused);
  bench.write(kErrors, ~0ULL);
  bench.csr.finished_i = 1;
  bench.clock();
  bench.csr.finished_i = 0;
  EXPECT_EQ(bench.read(kStatus) & 7, kDone);
  bench.csr.failed_i = 1;
  bench.write(kControl, 2);
  EXPECT_EQ(bench.starts, 1U);
  EXPECT_EQ(bench.read(kErrors), kRefused);
  bench.csr.failed_i = 0;
  bench.csr.resetting_i = 1;
  bench.write(kControl, 2);
  EXPECT_EQ(bench.starts, 1U);
  bench.csr.resetting_i = 0;
  bench.write(kControl, 2);
  EXPECT_EQ(bench.starts, 2U);
  bench.csr.failed_i = 1;
  bench.clock();
  EXPECT_EQ(bench.read(kStatus) & 7, 4U);
  bench.csr.failed_i = 0;
  bench.write(kControl, 1);
  EXPECT_EQ(bench.soft_resets, 1U);
  EXPECT_EQ(bench.starts, 2U);
}

TEST(Csr, CopiesWholeLinesAlone) {
  CsrBench bench(6);
  bench.write(kDmaHost, 0x123456789AC0);
  bench.write(kDmaMemory, 0x7654321);
  bench.write(kDmaBytes, 0x1040);
  bench.write(kDmaControl, 3);
  EXPECT_EQ(bench.copies, 1U);
  EXPECT_TRUE(bench.csr.copy_to_host_o);
  EXPECT_EQ(bench.csr.copy_line_o, 0x123456789AC0U / 64);
  EXPECT_EQ(bench.csr.copy_lines_o, 0x41U);
  EXPECT_EQ(bench.csr.copy_memory_o, 0x7654321U);
  EXPECT_EQ(bench.read(kStatus) & 0x30, 0x10U);
  bench.write(kControl, 2);  // no run during a copy
  EXPECT_EQ(bench.starts, 0U);
  bench.csr.copied_i = 1;
  bench.clock();
  bench.csr.copied_i = 0;
  EXPECT_EQ(bench.read(kStatus) & 0x30, 0x20U);
  bench.write(kErrors, ~0ULL);
  const std::pair<std::uint32_t, std::uint64_t> bad[] = {
      {kDmaBytes, 0}, {kDmaBytes, 65}, {kDmaBytes, 1ULL << 34}, {kDmaHost, 32}};
  for (const auto& [address, value] : bad) {
    bench.write(kDmaHost, 0x1000);
    bench.write(kDmaBytes, 64);
    bench.write(address, value);
    bench.write(kDmaControl, 1);
    EXPECT_EQ(bench.copies, 1U);
    EXPECT_EQ(bench.read(kErrors), kBadCopy);
    bench.write(kErrors, kBadCopy);
  }
}

TEST(Csr, KeepsErrorsUntilTheyAreCleared) {
  CsrBench bench(7);
  bench.csr.errors_i = 1U << 13 | 1U << 2;
  bench.clock();
  EXPECT_EQ(bench.read(kErrors), 1U << 13 | 1U << 2);
  bench.write(kErrors, 1U << 13);
  EXPECT_EQ(bench.read(kErrors), 1U << 2);
  bench.write(kErrors, 1U << 2, 0xFE);  // a strobe that leaves byte 0
  EXPECT_EQ(bench.read(kErrors), 1U << 2);
  bench.csr.errors_i = 0;
  bench.clock();
  EXPECT_EQ(bench.read(kErrors), 1U << 2);
  bench.csr.errors_i = 1U << 13;
  bench.clock();
  EXPECT_EQ(bench.read(kErrors), 1U << 13 | 1U << 2);
}

TEST(Csr, AnswersEveryReadWhileTheEnginesClockStandsStill) {
  CsrBench bench(8);
  EXPECT_EQ(bench.read(0x200 + 8 * 5), 0xE000000000000005U);
  EXPECT_EQ(bench.read(0x3F8), 0xE00000000000003FU);
  bench.engine_alive = false;
  for (int count = 0; count < 3; ++count) EXPECT_EQ(bench.read(0x200), 0U);
  EXPECT_EQ(bench.read(kErrors), kEngineSilent);
  bench.write(kScratch64, 77);
  EXPECT_EQ(bench.read(kScratch64), 77U);
  bench.engine_alive = true;
  for (int count = 0; count < 20; ++count) bench.clock();
  EXPECT_EQ(bench.read(0x208), 0xE000000000000001U);
}

TEST(Csr, ServesReadsAndWritesInTurn) {
  CsrBench bench(9);
  auto& csr = bench.csr;
  csr.awvalid_i = csr.wvalid_i = csr.arvalid_i = 1;
  csr.awaddr_i = kScratch64;
  csr.wstrb_i = 0xFF;
  csr.araddr_i = kScratch64;
  csr.rready_i = csr.bready_i = 1;
  unsigned reads = 0;
  unsigned writes = 0;
  for (int cycle = 0; cycle < 200; ++cycle) {
    csr.eval();
    reads += csr.rvalid_o;
    writes += csr.bvalid_o;
    bench.clock();
  }
  EXPECT_GT(reads, 20U);
  EXPECT_GT(writes, 20U);
}

}  // namespace
}  // namespace logos
