#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rtl/board/axi_checker.h"
#include "tests/rtl/axi_memory.h"
#include "tests/rtl/clocks.h"
#include "tests/rtl/shell_random.h"

namespace logos {

/// Bits of a model's port, whatever type Verilator gave it (all are little-endian in memory).
template <typename Port>
std::uint64_t get_bits(const Port& port, std::size_t at, std::size_t width) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&port);
  std::uint64_t value = 0;
  for (std::size_t bit = 0; bit < width; ++bit) {
    value |= std::uint64_t{static_cast<std::uint8_t>(bytes[(at + bit) / 8] >> (at + bit) % 8 & 1)}
             << bit;
  }
  return value;
}

template <typename Port>
void put_bits(Port* port, std::size_t at, std::size_t width, std::uint64_t value) {
  auto* bytes = reinterpret_cast<std::uint8_t*>(port);
  for (std::size_t bit = 0; bit < width; ++bit) {
    const auto mask = static_cast<std::uint8_t>(1U << (at + bit) % 8);
    std::uint8_t& byte = bytes[(at + bit) / 8];
    byte = static_cast<std::uint8_t>((value >> bit & 1) != 0 ? byte | mask : byte & ~mask);
  }
}

namespace csr {
inline constexpr std::uint32_t kControl = 0x90;
inline constexpr std::uint32_t kStatus = 0x98;
inline constexpr std::uint32_t kErrors = 0xA0;
inline constexpr std::uint32_t kWatchdogLimit = 0xB0;
inline constexpr std::uint32_t kRows = 0xC8;
inline constexpr std::uint32_t kProgram = 0xD0;
inline constexpr std::uint32_t kIdentity = 0xE0;
inline constexpr std::uint32_t kCopyHost = 0x100;
inline constexpr std::uint32_t kCopyMemory = 0x108;
inline constexpr std::uint32_t kCopyBytes = 0x110;
inline constexpr std::uint32_t kCopyControl = 0x118;
inline constexpr std::uint32_t kCounters = 0x200;
inline constexpr std::uint32_t kFault = 0x338;
inline constexpr std::uint32_t kCause = 0x340;
inline constexpr std::uint32_t kStates = 0x348;
inline constexpr std::uint32_t kSegments = 0x8000;
inline constexpr std::uint32_t kGreedy = 0x10000;
inline constexpr std::uint32_t kRowTable = 0x20000;
inline constexpr std::uint64_t kRunning = 1;
inline constexpr std::uint64_t kDone = 2;
inline constexpr std::uint64_t kFailed = 4;
inline constexpr std::uint64_t kResetting = 8;
inline constexpr std::uint64_t kCopying = 0x10;
inline constexpr std::uint64_t kCopied = 0x20;
}  // namespace csr

/// A board for an engine: six clocks, four banks and a host memory with checkers at their ports,
/// and a CSR port. `Model` is a Verilated engine.
template <typename Model>
class EngineBench {
 public:
  struct Periods {
    std::uint64_t engine = 3333;
    std::uint64_t host = 4000;
    std::array<std::uint64_t, 4> banks{3336, 3336, 3337, 3335};
  };

  explicit EngineBench(std::uint32_t seed) : EngineBench(seed, Periods{}, AxiMemory::Options{}) {}

  EngineBench(std::uint32_t seed, const Periods& periods, const AxiMemory::Options& bank_options)
      : random_(seed) {
    AxiMemory::Options host_options;
    host_options.in_order = false;
    host_options.max_latency = 120;
    host = std::make_unique<AxiMemory>(host_options, seed + 100);
    host_checker = std::make_unique<AxiChecker>("host", AxiChecker::Rules{1, false, true, true});
    for (std::size_t bank = 0; bank < 4; ++bank) {
      banks[bank] = std::make_unique<AxiMemory>(bank_options, seed + static_cast<unsigned>(bank));
      checkers[bank] =
          std::make_unique<AxiChecker>("bank " + std::to_string(bank), AxiChecker::Rules{});
    }
    Model& m = *model_;
    clocks.add(
        periods.engine, 17, [&m](bool level) { m.clk_i = level; }, [] {}, [] {});
    clocks.add(
        periods.host, 500, [&m](bool level) { m.host_clk_i = level; }, [this] { sample_host(); },
        [this] { drive_host(); });
    for (std::size_t bank = 0; bank < 4; ++bank) {
      clocks.add(
          periods.banks[bank], 700 * bank,
          [&m, bank](bool level) { put_bits(&m.bank_clk_i, bank, 1, level ? 1 : 0); },
          [this, bank] { sample_bank(bank); }, [this, bank] { drive_bank(bank); });
    }
    m.rst_ni = 0;
    m.bank_rst_ni = 0;
    clocks.run(60);
    m.bank_rst_ni = 0xF;
    m.rst_ni = 1;
    wait_for_reset();
  }

  Model& model() { return *model_; }

  void write(std::uint32_t address, std::uint64_t data, std::uint8_t strobe = 0xFF) {
    Model& m = *model_;
    m.csr_awid_i = static_cast<std::uint16_t>(random_());
    m.csr_awaddr_i = address;
    m.csr_wdata_i = data;
    m.csr_wstrb_i = strobe;
    m.csr_awvalid_i = m.csr_wvalid_i = m.csr_bready_i = 1;
    written_ = false;
    if (!clocks.run_until([this] { return written_; }, 4000)) failure = "a CSR write hangs";
  }

  std::uint64_t read(std::uint32_t address) {
    Model& m = *model_;
    m.csr_arid_i = static_cast<std::uint16_t>(random_());
    m.csr_araddr_i = address;
    m.csr_arvalid_i = m.csr_rready_i = 1;
    got_.reset();
    const std::uint64_t begin = clocks.cycles(1);
    if (!clocks.run_until([this] { return got_.has_value(); }, 4000)) failure = "a CSR read hangs";
    if (clocks.cycles(1) - begin > 100) failure = "a CSR read takes more than 100 cycles";
    return got_.value_or(0);
  }

  /// Until all bits of `mask` in the status are `value`; the status then.
  std::optional<std::uint64_t> wait_status(std::uint64_t mask, std::uint64_t value,
                                           unsigned polls = 20000) {
    for (unsigned poll = 0; poll < polls; ++poll) {
      const std::uint64_t status = read(csr::kStatus);
      if ((status & mask) == value) return status;
      clocks.run(20);
    }
    return std::nullopt;
  }

  void wait_for_reset() {
    clocks.run(20);
    if (!wait_status(csr::kResetting, 0, 100)) failure = "the reset does not end";
  }

  void soft_reset() {
    write(csr::kControl, 1);
    wait_for_reset();
  }

  /// 256 bytes of the image at a super-beat: 64 of each bank.
  void put_super_beat(std::uint64_t at, std::span<const std::byte> bytes) {
    for (std::size_t bank = 0; bank < 4; ++bank) {
      std::memcpy(banks[bank]->at(at * 64).data(), bytes.data() + 64 * bank, 64);
    }
  }
  void put(std::uint64_t at, std::span<const std::byte> bytes) {
    for (std::size_t offset = 0; offset < bytes.size(); offset += 256, ++at) {
      std::array<std::byte, 256> beat{};
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset),
                  std::min<std::size_t>(256, bytes.size() - offset), beat.begin());
      put_super_beat(at, beat);
    }
  }

  std::vector<std::string> faults() const {
    std::vector<std::string> all = host_checker->faults();
    for (const auto& checker : checkers) {
      all.insert(all.end(), checker->faults().begin(), checker->faults().end());
    }
    if (!failure.empty()) all.push_back(failure);
    return all;
  }

 private:
  std::unique_ptr<Model> model_ = std::make_unique<Model>();

 public:
  Clocks clocks{[this] { model_->eval(); }};
  std::array<std::unique_ptr<AxiMemory>, 4> banks;
  std::array<std::unique_ptr<AxiChecker>, 4> checkers;
  std::unique_ptr<AxiMemory> host;
  std::unique_ptr<AxiChecker> host_checker;
  std::string failure;

 private:
  void sample_host() {
    Model& m = *model_;
    if (m.csr_bvalid_o && m.csr_bready_i) {
      if (m.csr_bid_o != m.csr_awid_i) failure = "a CSR write's id is another";
      written_ = true;
    }
    if (m.csr_rvalid_o && m.csr_rready_i) {
      if (m.csr_rid_o != m.csr_arid_i) failure = "a CSR read's id is another";
      got_ = m.csr_rdata_o;
    }
    write_taken_ = m.csr_awvalid_i && m.csr_awready_o;
    read_taken_ = m.csr_arvalid_i && m.csr_arready_o;
    if (!m.rst_ni) return;
    AxiCycle now;
    now.ar = {m.host_arvalid_o != 0, m.host_arready_i != 0, m.host_arid_o,   m.host_araddr_o,
              m.host_arlen_o,        m.host_arsize_o,       m.host_arburst_o};
    now.aw = {m.host_awvalid_o != 0, m.host_awready_i != 0, m.host_awid_o,   m.host_awaddr_o,
              m.host_awlen_o,        m.host_awsize_o,       m.host_awburst_o};
    now.r = {m.host_rvalid_i != 0, m.host_rready_o != 0, m.host_rid_i, m.host_rlast_i != 0,
             m.host_rresp_i};
    now.w = {m.host_wvalid_o != 0, m.host_wready_i != 0, 0, m.host_wlast_o != 0, 0, m.host_wstrb_o};
    std::memcpy(now.r.data.data(), &m.host_rdata_i[0], 64);
    std::memcpy(now.w.data.data(), &m.host_wdata_o[0], 64);
    now.b = {m.host_bvalid_i != 0, m.host_bready_o != 0, m.host_bid_i, m.host_bresp_i};
    host_checker->cycle(now);
    host->sample(now);
  }

  void drive_host() {
    Model& m = *model_;
    if (write_taken_) m.csr_awvalid_i = m.csr_wvalid_i = 0;
    if (read_taken_) m.csr_arvalid_i = 0;
    const AxiCycle& side = host->drive();
    m.host_arready_i = side.ar.ready;
    m.host_awready_i = side.aw.ready;
    m.host_wready_i = side.w.ready;
    m.host_rvalid_i = side.r.valid;
    m.host_rid_i = static_cast<std::uint16_t>(side.r.id);
    m.host_rresp_i = static_cast<std::uint8_t>(side.r.response);
    m.host_rlast_i = side.r.last;
    std::memcpy(&m.host_rdata_i[0], side.r.data.data(), 64);
    m.host_bvalid_i = side.b.valid;
    m.host_bid_i = static_cast<std::uint16_t>(side.b.id);
    m.host_bresp_i = static_cast<std::uint8_t>(side.b.response);
  }

  void sample_bank(std::size_t b) {
    Model& m = *model_;
    if (!m.rst_ni || get_bits(m.bank_rst_ni, b, 1) == 0) return;
    AxiCycle& now = cycle_;
    const auto one = [b](const auto& port) { return get_bits(port, b, 1) != 0; };
    const auto some = [b](const auto& port, std::size_t width) {
      return get_bits(port, b * width, width);
    };
    now.ar = {one(m.bank_arvalid_o),
              one(m.bank_arready_i),
              some(m.bank_arid_o, 8),
              some(m.bank_araddr_o, 33),
              static_cast<unsigned>(some(m.bank_arlen_o, 8)),
              static_cast<unsigned>(some(m.bank_arsize_o, 3)),
              static_cast<unsigned>(some(m.bank_arburst_o, 2))};
    now.aw = {one(m.bank_awvalid_o),
              one(m.bank_awready_i),
              some(m.bank_awid_o, 8),
              some(m.bank_awaddr_o, 33),
              static_cast<unsigned>(some(m.bank_awlen_o, 8)),
              static_cast<unsigned>(some(m.bank_awsize_o, 3)),
              static_cast<unsigned>(some(m.bank_awburst_o, 2))};
    now.r.valid = one(m.bank_rvalid_i);
    now.r.ready = one(m.bank_rready_o);
    now.r.id = some(m.bank_rid_i, 8);
    now.r.last = one(m.bank_rlast_i);
    now.r.response = static_cast<unsigned>(some(m.bank_rresp_i, 2));
    now.w.valid = one(m.bank_wvalid_o);
    now.w.ready = one(m.bank_wready_i);
    now.w.last = one(m.bank_wlast_o);
    if (now.r.valid) std::memcpy(now.r.data.data(), &m.bank_rdata_i[16 * b], 64);
    if (now.w.valid) {
      now.w.strobe = some(m.bank_wstrb_o, 64);
      std::memcpy(now.w.data.data(), &m.bank_wdata_o[16 * b], 64);
    }
    now.b = {one(m.bank_bvalid_i), one(m.bank_bready_o), some(m.bank_bid_i, 8),
             static_cast<unsigned>(some(m.bank_bresp_i, 2))};
    checkers[b]->cycle(now);
    banks[b]->sample(now);
  }

  void drive_bank(std::size_t b) {
    Model& m = *model_;
    const AxiCycle& side = banks[b]->drive();
    const auto one = [b](auto* port, bool value) { put_bits(port, b, 1, value ? 1 : 0); };
    one(&m.bank_arready_i, side.ar.ready);
    one(&m.bank_awready_i, side.aw.ready);
    one(&m.bank_wready_i, side.w.ready);
    one(&m.bank_rvalid_i, side.r.valid);
    put_bits(&m.bank_rid_i, 8 * b, 8, side.r.id);
    put_bits(&m.bank_rresp_i, 2 * b, 2, side.r.response);
    one(&m.bank_rlast_i, side.r.last);
    std::memcpy(&m.bank_rdata_i[16 * b], side.r.data.data(), 64);
    one(&m.bank_bvalid_i, side.b.valid);
    put_bits(&m.bank_bid_i, 8 * b, 8, side.b.id);
    put_bits(&m.bank_bresp_i, 2 * b, 2, side.b.response);
  }

  Random random_;
  AxiCycle cycle_;
  std::optional<std::uint64_t> got_;
  bool written_ = false;
  bool write_taken_ = false;
  bool read_taken_ = false;
};

}  // namespace logos
