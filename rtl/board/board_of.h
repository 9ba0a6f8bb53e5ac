#pragma once

#include <fmt/format.h>
#include <verilated.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "program/error.h"
#include "rtl/board/board.h"
#include "rtl/board/clocks.h"
#include "rtl/board/engine_sight.h"
#include "rtl/board/port_checks.h"

namespace logos::d5005 {

/// A board around one Verilated engine, `Model` (its ports: rtl/design/engine.sv).
///
/// At a rising edge the board first looks at what the engine drove before it, lets the engine take
/// the edge, then drives what its own side of that clock does next: all of it seen from the next
/// edge on, as behind registers.
template <typename Model>
class BoardOf : public Board {
 public:
  BoardOf(const BoardParameters& parameters, const BoardOptions& options)
      : context_(std::make_unique<VerilatedContext>()),
        model_(std::make_unique<Model>(context_.get())),
        clocks_(parameters.clocks.engine_mhz, parameters.clocks.bank_mhz,
                parameters.clocks.host_mhz),
        host_(parameters.host_link, {options.stalls_of_256, options.seed}, options.host_fault),
        log_(options.log) {
    for (std::size_t b = 0; b < kBanks; ++b) {
      banks_.push_back(std::make_unique<BankModel>(
          parameters.ddr4, options.fill, Stalls{options.stalls_of_256, options.seed * 7 + b},
          options.bank_faults[b]));
    }
    if (options.engine_fault.kind == PortFault::kStopped) {
      engine_stops_at_ = options.engine_fault.cycle;
    }
    if (options.check_ports) checks_ = std::make_unique<PortChecks>();
    power_up();
  }

  std::uint64_t read(std::uint32_t offset) override {
    model_->csr_arvalid_i = 1;
    model_->csr_araddr_i = offset;
    model_->csr_arid_i = ++csr_id_;
    model_->csr_rready_i = 1;
    std::uint64_t value = 0;
    access([&] {
      if (model_->csr_arvalid_i && csr_before_.ar_ready) model_->csr_arvalid_i = 0;
      if (!csr_before_.r_valid) return false;
      value = csr_before_.r_data;
      return true;
    });
    return value;
  }

  void write(std::uint32_t offset, std::uint64_t value, std::uint8_t strobe) override {
    model_->csr_awvalid_i = 1;
    model_->csr_awaddr_i = offset;
    model_->csr_awid_i = ++csr_id_;
    model_->csr_wvalid_i = 1;
    model_->csr_wdata_i = value;
    model_->csr_wstrb_i = strobe;
    model_->csr_bready_i = 1;
    access([&] {
      if (model_->csr_awvalid_i && csr_before_.aw_ready) model_->csr_awvalid_i = 0;
      if (model_->csr_wvalid_i && csr_before_.w_ready) model_->csr_wvalid_i = 0;
      return csr_before_.b_valid;
    });
  }

  void advance(std::uint64_t engine_cycles) override {
    const std::uint64_t end = engine_cycles_ + engine_cycles;
    while (engine_cycles_ < end) step();
  }
  std::uint64_t engine_cycles() const override { return engine_cycles_; }
  BankModel& bank(int index) override { return *banks_[static_cast<std::size_t>(index)]; }
  HostLink& host() override { return host_; }
  void check_nothing_waits() override {
    if (checks_) checks_->finish();
  }

 protected:
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Model> model_;

 private:
  static constexpr unsigned kBankClocks = 0xFU << Clocks::kBank;

  /// What the CSR port showed before the host clock's last edge.
  struct CsrSeen {
    bool ar_ready = false;
    bool r_valid = false;
    std::uint64_t r_data = 0;
    bool aw_ready = false;
    bool w_ready = false;
    bool b_valid = false;
  };

  void power_up() {
    constexpr std::uint64_t kResetCycles = 64;
    model_->rst_ni = 0;
    model_->bank_rst_ni = 0;
    advance(kResetCycles);
    model_->rst_ni = 1;
    model_->bank_rst_ni = 0xF;
    advance(kResetCycles);
  }

  /// Steps until `done` says so after an edge of the host's clock.
  template <typename Done>
  void access(Done&& done) {
    constexpr int kMostHostCycles = 1000;  // an answer comes within 100
    for (int cycle = 0; cycle < kMostHostCycles; ++cycle) {
      const std::uint64_t before = host_.cycles();
      while (host_.cycles() == before) step();
      if (done()) {
        model_->csr_rready_i = 0;
        model_->csr_bready_i = 0;
        return;
      }
    }
    throw Error("board sim", "a register access is not answered",
                fmt::format("{} cycles of the host's clock", kMostHostCycles), "100 at most");
  }

  /// The next edges. Banks know nothing of each other: those that rise before the engine's or the
  /// host's next edge rise together.
  void step() {
    unsigned rising = clocks_.advance();
    if ((rising & ~kBankClocks) == 0) {
      for (unsigned next = clocks_.next(); (next & ~kBankClocks) == 0 && (next & rising) == 0;
           next = clocks_.next()) {
        rising |= clocks_.advance();
      }
    }
    engine_cycles_ += rising >> Clocks::kEngine & 1U;
    if (engine_cycles_ > engine_stops_at_) rising &= ~(1U << Clocks::kEngine);
    context_->time(clocks_.now_fs() / 1000);
    if ((rising & high_) != 0) {  // it has not fallen yet
      raise(0);
      model_->eval();
    }
    const bool host = (rising >> Clocks::kHost & 1U) != 0;
    for (std::size_t b = 0; b < kBanks; ++b) {
      if ((rising >> (Clocks::kBank + b) & 1U) != 0) see_bank(b, bank_seen_[b]);
    }
    if (host) see_host(host_seen_);
    if (checks_) checks_->before(rising, *model_);
    raise(rising);
    model_->eval();
    for (std::size_t b = 0; b < kBanks; ++b) {
      if ((rising >> (Clocks::kBank + b) & 1U) == 0) continue;
      banks_[b]->clock(bank_seen_[b], bank_driven_[b]);
      drive_bank(b);
    }
    if (host) {
      host_.clock(host_seen_, host_driven_);
      drive_host();
    }
    if (log_ != nullptr && (rising >> Clocks::kEngine & 1U) != 0) watch();
  }

  void watch() {
    if (!log_->look(sight_of(*model_))) return;
    for (std::size_t b = 0; b < kBanks; ++b) log_->bank(b, banks_[b]->channel().counters());
  }

  /// These clocks are high, all others low.
  void raise(unsigned rising) {
    model_->clk_i = rising >> Clocks::kEngine & 1U;
    model_->bank_clk_i = static_cast<unsigned char>(rising >> Clocks::kBank & 0xFU);
    model_->host_clk_i = rising >> Clocks::kHost & 1U;
    high_ = rising;
  }

  static bool bit(unsigned value, std::size_t at) { return (value >> at & 1U) != 0; }

  void see_bank(std::size_t b, AxiRequest& seen) const {
    seen.ar_valid = bit(model_->bank_arvalid_o, b);
    if (seen.ar_valid) {
      seen.ar_id = model_->bank_arid_o >> (8 * b) & 0xFF;
      seen.ar_address = address(model_->bank_araddr_o.data(), b);
      seen.ar_beats = (model_->bank_arlen_o >> (8 * b) & 0xFF) + 1;
    }
    seen.r_ready = bit(model_->bank_rready_o, b);
    seen.aw_valid = bit(model_->bank_awvalid_o, b);
    if (seen.aw_valid) {
      seen.aw_id = model_->bank_awid_o >> (8 * b) & 0xFF;
      seen.aw_address = address(model_->bank_awaddr_o.data(), b);
    }
    seen.w_valid = bit(model_->bank_wvalid_o, b);
    if (seen.w_valid) {
      std::memcpy(seen.w_data.data(), model_->bank_wdata_o.data() + 16 * b, 64);
      std::memcpy(&seen.w_strobe, model_->bank_wstrb_o.data() + 2 * b, 8);
    }
    seen.b_ready = bit(model_->bank_bready_o, b);
  }

  /// The 33 bits of bank b, which lie in two words.
  static std::uint64_t address(const std::uint32_t* words, std::size_t b) {
    const std::size_t at = 33 * b;
    const std::uint64_t both = std::uint64_t{words[at / 32 + 1]} << 32 | words[at / 32];
    return both >> (at % 32) & ((std::uint64_t{1} << 33) - 1);
  }

  template <typename Word>
  static void put(Word& word, std::size_t at, unsigned bits, std::uint32_t value) {
    const auto mask = ((1U << bits) - 1U) << at;
    word = static_cast<Word>((word & ~mask) | (value << at & mask));
  }

  void drive_bank(std::size_t b) {
    const AxiResponse& driven = bank_driven_[b];
    put(model_->bank_arready_i, b, 1, driven.ar_ready ? 1 : 0);
    put(model_->bank_rvalid_i, b, 1, driven.r_valid ? 1 : 0);
    put(model_->bank_rlast_i, b, 1, driven.r_last ? 1 : 0);
    put(model_->bank_rid_i, 8 * b, 8, driven.r_id);
    put(model_->bank_rresp_i, 2 * b, 2, driven.r_response);
    std::memcpy(model_->bank_rdata_i.data() + 16 * b, driven.r_data.data(), 64);
    put(model_->bank_awready_i, b, 1, driven.aw_ready ? 1 : 0);
    put(model_->bank_wready_i, b, 1, driven.w_ready ? 1 : 0);
    put(model_->bank_bvalid_i, b, 1, driven.b_valid ? 1 : 0);
    put(model_->bank_bid_i, 8 * b, 8, driven.b_id);
    put(model_->bank_bresp_i, 2 * b, 2, driven.b_response);
  }

  void see_host(AxiRequest& seen) {
    csr_before_ = {model_->csr_arready_o != 0, model_->csr_rvalid_o != 0,
                   model_->csr_rdata_o,        model_->csr_awready_o != 0,
                   model_->csr_wready_o != 0,  model_->csr_bvalid_o != 0};
    seen.ar_valid = model_->host_arvalid_o != 0;
    seen.ar_id = model_->host_arid_o;
    seen.ar_address = model_->host_araddr_o;
    seen.r_ready = model_->host_rready_o != 0;
    seen.aw_valid = model_->host_awvalid_o != 0;
    seen.aw_id = model_->host_awid_o;
    seen.aw_address = model_->host_awaddr_o;
    seen.w_valid = model_->host_wvalid_o != 0;
    if (seen.w_valid) {
      std::memcpy(seen.w_data.data(), model_->host_wdata_o.data(), 64);
      seen.w_strobe = model_->host_wstrb_o;
    }
    seen.b_ready = model_->host_bready_o != 0;
  }

  void drive_host() {
    model_->host_arready_i = host_driven_.ar_ready ? 1 : 0;
    model_->host_rvalid_i = host_driven_.r_valid ? 1 : 0;
    model_->host_rid_i = static_cast<std::uint16_t>(host_driven_.r_id);
    std::memcpy(model_->host_rdata_i.data(), host_driven_.r_data.data(), 64);
    model_->host_rresp_i = static_cast<std::uint8_t>(host_driven_.r_response);
    model_->host_rlast_i = 1;
    model_->host_awready_i = host_driven_.aw_ready ? 1 : 0;
    model_->host_wready_i = host_driven_.w_ready ? 1 : 0;
    model_->host_bvalid_i = host_driven_.b_valid ? 1 : 0;
    model_->host_bid_i = static_cast<std::uint16_t>(host_driven_.b_id);
    model_->host_bresp_i = static_cast<std::uint8_t>(host_driven_.b_response);
  }

  Clocks clocks_;
  HostLink host_;
  std::vector<std::unique_ptr<BankModel>> banks_;
  std::array<AxiRequest, kBanks> bank_seen_;
  std::array<AxiResponse, kBanks> bank_driven_;
  AxiRequest host_seen_;
  AxiResponse host_driven_;
  CsrSeen csr_before_;
  std::uint16_t csr_id_ = 0;  ///< of the last access: all differ
  std::unique_ptr<PortChecks> checks_;
  std::shared_ptr<EngineLog> log_;
  unsigned high_ = 0;                ///< clocks that have risen and not fallen
  std::uint64_t engine_cycles_ = 0;  ///< periods, also those of a clock that stands still
  std::uint64_t engine_stops_at_ = ~std::uint64_t{0};  ///< the period after which it does
};

}  // namespace logos::d5005
