#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "rtl/board/axi_checker.h"
#include "rtl/board/clocks.h"

namespace logos::d5005 {

/// Checkers at all six ports of an engine. The first breach of a rule throws Error, which names
/// port, channel, rule and cycle.
class PortChecks {
 public:
  PortChecks();

  /// The clocks of the set `rising` (Clocks) are about to rise: their ports as they stand. Nothing
  /// is looked at while the platform's reset is on.
  template <typename Model>
  void before(unsigned rising, const Model& model) {
    if (model.rst_ni == 0) return;
    for (std::size_t b = 0; b < kBankPorts; ++b) {
      const bool awake = bits(model.bank_rst_ni, b, 1) != 0;
      if (awake && (rising >> (Clocks::kBank + b) & 1U) != 0) {
        sample_bank(model, b);
        check(banks_[b], cycle_);
      }
    }
    if ((rising >> Clocks::kHost & 1U) == 0) return;
    sample_host(model);
    check(host_, cycle_);
    sample_csr(model);
    check(csr_, csr_cycle_);
  }

  /// Throws where a port still waits for something.
  void finish();

 private:
  static constexpr std::size_t kBankPorts = 4;

  /// Bits of a port, whatever type Verilator gave it: all are little-endian in memory.
  template <typename Port>
  static std::uint64_t bits(const Port& port, std::size_t at, std::size_t width) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&port);
    std::uint64_t value = 0;
    for (std::size_t bit = 0; bit < width; ++bit) {
      const std::size_t from = at + bit;
      value |= static_cast<std::uint64_t>(bytes[from / 8] >> (from % 8) & 1U) << bit;
    }
    return value;
  }

  /// What bank b has of a port that all banks share.
  template <typename Port>
  static std::uint64_t of_bank(const Port& port, std::size_t b, std::size_t width) {
    return bits(port, b * width, width);
  }

  template <typename Port>
  static void copy_beat(const Port& port, std::size_t beat, AxiData& to) {
    std::memcpy(to.data.data(), reinterpret_cast<const std::byte*>(&port) + 64 * beat, 64);
  }

  template <typename Model>
  void sample_bank(const Model& m, std::size_t b) {
    AxiCycle& now = cycle_;
    now.ar.valid = of_bank(m.bank_arvalid_o, b, 1) != 0;
    now.ar.ready = of_bank(m.bank_arready_i, b, 1) != 0;
    if (now.ar.valid) {
      now.ar.id = of_bank(m.bank_arid_o, b, 8);
      now.ar.address = of_bank(m.bank_araddr_o, b, 33);
      now.ar.length = static_cast<unsigned>(of_bank(m.bank_arlen_o, b, 8));
      now.ar.size = static_cast<unsigned>(of_bank(m.bank_arsize_o, b, 3));
      now.ar.burst = static_cast<unsigned>(of_bank(m.bank_arburst_o, b, 2));
    }
    now.r.valid = of_bank(m.bank_rvalid_i, b, 1) != 0;
    now.r.ready = of_bank(m.bank_rready_o, b, 1) != 0;
    if (now.r.valid) {
      now.r.id = of_bank(m.bank_rid_i, b, 8);
      now.r.last = of_bank(m.bank_rlast_i, b, 1) != 0;
      now.r.response = static_cast<unsigned>(of_bank(m.bank_rresp_i, b, 2));
      copy_beat(m.bank_rdata_i, b, now.r);
    }
    now.aw.valid = of_bank(m.bank_awvalid_o, b, 1) != 0;
    now.aw.ready = of_bank(m.bank_awready_i, b, 1) != 0;
    if (now.aw.valid) {
      now.aw.id = of_bank(m.bank_awid_o, b, 8);
      now.aw.address = of_bank(m.bank_awaddr_o, b, 33);
      now.aw.length = static_cast<unsigned>(of_bank(m.bank_awlen_o, b, 8));
      now.aw.size = static_cast<unsigned>(of_bank(m.bank_awsize_o, b, 3));
      now.aw.burst = static_cast<unsigned>(of_bank(m.bank_awburst_o, b, 2));
    }
    now.w.valid = of_bank(m.bank_wvalid_o, b, 1) != 0;
    now.w.ready = of_bank(m.bank_wready_i, b, 1) != 0;
    if (now.w.valid) {
      now.w.last = of_bank(m.bank_wlast_o, b, 1) != 0;
      now.w.strobe = of_bank(m.bank_wstrb_o, b, 64);
      copy_beat(m.bank_wdata_o, b, now.w);
    }
    now.b = {of_bank(m.bank_bvalid_i, b, 1) != 0, of_bank(m.bank_bready_o, b, 1) != 0,
             of_bank(m.bank_bid_i, b, 8), static_cast<unsigned>(of_bank(m.bank_bresp_i, b, 2))};
  }

  template <typename Model>
  void sample_host(const Model& m) {
    AxiCycle& now = cycle_;
    now.ar = {m.host_arvalid_o != 0, m.host_arready_i != 0, m.host_arid_o,   m.host_araddr_o,
              m.host_arlen_o,        m.host_arsize_o,       m.host_arburst_o};
    now.aw = {m.host_awvalid_o != 0, m.host_awready_i != 0, m.host_awid_o,   m.host_awaddr_o,
              m.host_awlen_o,        m.host_awsize_o,       m.host_awburst_o};
    now.r.valid = m.host_rvalid_i != 0;
    now.r.ready = m.host_rready_o != 0;
    if (now.r.valid) {
      now.r.id = m.host_rid_i;
      now.r.last = m.host_rlast_i != 0;
      now.r.response = m.host_rresp_i;
      copy_beat(m.host_rdata_i, 0, now.r);
    }
    now.w.valid = m.host_wvalid_o != 0;
    now.w.ready = m.host_wready_i != 0;
    if (now.w.valid) {
      now.w.last = m.host_wlast_o != 0;
      now.w.strobe = m.host_wstrb_o;
      copy_beat(m.host_wdata_o, 0, now.w);
    }
    now.b = {m.host_bvalid_i != 0, m.host_bready_o != 0, m.host_bid_i, m.host_bresp_i};
  }

  template <typename Model>
  void sample_csr(const Model& m) {
    LiteCycle& now = csr_cycle_;
    now.ar = {m.csr_arvalid_i != 0, m.csr_arready_o != 0, m.csr_arid_i, m.csr_aruser_i,
              m.csr_araddr_i};
    now.r = {m.csr_rvalid_o != 0, m.csr_rready_i != 0, m.csr_rid_o,
             m.csr_ruser_o,       m.csr_rresp_o,       m.csr_rdata_o};
    now.aw = {m.csr_awvalid_i != 0, m.csr_awready_o != 0, m.csr_awid_i, m.csr_awuser_i,
              m.csr_awaddr_i};
    now.w = {m.csr_wvalid_i != 0, m.csr_wready_o != 0, m.csr_wdata_i, m.csr_wstrb_i};
    now.b = {m.csr_bvalid_o != 0, m.csr_bready_i != 0, m.csr_bid_o, m.csr_buser_o, m.csr_bresp_o};
  }

  template <typename Checker, typename Cycle>
  static void check(Checker& checker, const Cycle& cycle) {
    checker.cycle(cycle);
    report(checker.faults());
  }
  /// Throws the first.
  static void report(const std::vector<std::string>& faults);

  std::vector<AxiChecker> banks_;
  AxiChecker host_;
  AxiLiteChecker csr_;
  AxiCycle cycle_;
  LiteCycle csr_cycle_;
};

}  // namespace logos::d5005
