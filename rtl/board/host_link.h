#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "rtl/board/axi.h"

namespace logos::d5005 {

/// The PCIe link between engine and host memory.
struct HostLinkParameters {
  double gigabytes_per_second = 15.75;  ///< each way, payload and headers
  std::uint32_t header_bytes = 24;      ///< that go with each line of 64
  double read_latency_ns = 800;         ///< of the first line
  double write_latency_ns = 400;        ///< to its answer
  double jitter_ns = 200;               ///< at most, added to each answer; so answers change order
  double clock_mhz = 250;
};

/// Host memory behind the engine's host port. Read answers come in any order, also of equal ids.
class HostLink {
 public:
  HostLink(const HostLinkParameters& parameters, Stalls stalls, PlantedFault fault);

  /// Other back-pressure from now on.
  void set_stalls(Stalls stalls);

  /// Pins zeroed memory; the address is a multiple of 2 MiB.
  std::uint64_t allocate(std::size_t bytes, std::span<std::byte>* memory);
  void release(std::uint64_t address);

  /// One rising edge of the host's clock, as BankModel::clock.
  void clock(const AxiRequest& request, AxiResponse& response);
  std::uint64_t cycles() const { return cycles_; }
  std::uint64_t bytes_read() const { return bytes_read_; }
  std::uint64_t bytes_written() const { return bytes_written_; }

 private:
  struct Answer {
    double due;  ///< cycles
    std::uint32_t id;
    std::uint32_t response;
    Line line;
  };
  struct Write {
    std::uint32_t id;
    std::uint64_t address;
  };

  std::byte* at(std::uint64_t address);
  void take(const AxiRequest& request, const AxiResponse& response);
  void read(std::uint32_t id, std::uint64_t address);
  void write(const Write& write, const Line& line, std::uint64_t strobe);
  void drive(AxiResponse& response);
  double cycles_of_ns(double ns) const { return ns * parameters_.clock_mhz / 1000; }
  double line_cycles() const;
  double jitter();
  bool held() { return stalls_.of_256 != 0 && random_() % 256 < stalls_.of_256; }
  bool faulty(PortFault kind) const { return fault_.kind == kind && cycles_ >= fault_.cycle; }

  HostLinkParameters parameters_;
  Stalls stalls_;
  PlantedFault fault_;
  std::mt19937_64 random_;
  double line_cycles_;    ///< that a line occupies its direction
  double read_free_ = 0;  ///< when the direction to the engine is free again
  double write_free_ = 0;
  std::map<std::uint64_t, std::vector<std::byte>> buffers_;
  std::uint64_t next_address_ = std::uint64_t{1} << 32;
  std::vector<Answer> reads_;
  std::vector<Answer> writes_answered_;
  std::vector<Write> addresses_;
  std::vector<std::pair<Line, std::uint64_t>> data_;
  bool r_offered_ = false;
  bool b_offered_ = false;
  std::uint64_t faulty_answers_ = 0;  ///< read answers since the fault's first cycle
  std::uint64_t cycles_ = 0;
  std::uint64_t bytes_read_ = 0;
  std::uint64_t bytes_written_ = 0;
};

}  // namespace logos::d5005
