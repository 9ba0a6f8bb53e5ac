#pragma once

#include <cstdint>
#include <random>

#include "rtl/board/axi.h"
#include "rtl/board/ring.h"
#include "sim/ddr4/channel.h"

namespace logos::d5005 {

/// A DDR4 bank behind its AXI4 port: bursts become line accesses of the channel, one a clock, since
/// reads and writes share the controller's one command channel. Answers come in order.
class BankModel {
 public:
  BankModel(const ddr4::Parameters& parameters, const ddr4::FillPattern& fill, Stalls stalls,
            PlantedFault fault);

  /// One rising edge of the bank's clock. `request` holds what the engine drove before the edge,
  /// `response` what the board drove and, afterwards, what it drives until the next one.
  void clock(const AxiRequest& request, AxiResponse& response);

  /// Other back-pressure from now on.
  void set_stalls(Stalls stalls);

  ddr4::Channel& channel() { return channel_; }
  std::uint64_t cycles() const { return cycles_; }

 private:
  struct Burst {
    std::uint32_t id;
    std::uint64_t address;
    std::uint32_t beats;
  };
  struct Write {
    std::uint32_t id;
    std::uint64_t address;
  };
  struct Data {
    Line line;
    std::uint64_t strobe;
  };
  struct Answer {
    std::uint32_t id;
    std::uint32_t response;
    bool last;
    Line line;
  };

  void take(const AxiRequest& request, const AxiResponse& response);
  void access();
  void drive(AxiResponse& response);
  Answer read_answer(const ddr4::Response& read);
  bool held() { return stalls_.of_256 != 0 && random_() % 256 < stalls_.of_256; }
  bool faulty(PortFault kind) const { return fault_.kind == kind && cycles_ >= fault_.cycle; }

  ddr4::Channel channel_;
  Stalls stalls_;
  PlantedFault fault_;
  std::mt19937_64 random_;
  Ring<Burst> bursts_;
  Ring<Write> writes_;
  Ring<Data> write_data_;
  Ring<Answer> read_answers_;
  Ring<Answer> write_answers_;
  bool r_offered_ = false;  ///< the front answer stands at the port
  bool b_offered_ = false;
  std::uint64_t faulty_answers_ = 0;  ///< read answers since the fault's first cycle
  std::uint64_t cycles_ = 0;
};

}  // namespace logos::d5005
