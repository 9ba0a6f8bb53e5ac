#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "sim/ddr4/command.h"
#include "sim/ddr4/parameters.h"

namespace logos::ddr4 {

/// Judges a channel by nothing but its commands: replays them in the order of their clocks, keeps
/// when each bank last saw each command, and holds every pair against the parameters as JEDEC words
/// them. Shares no code with the model.
class CommandChecker {
 public:
  explicit CommandChecker(const Parameters& parameters);

  /// `log` in any order, all commands up to clock `end`. Returns how often each rule is broken.
  std::map<std::string, int> check(std::vector<Command> log, std::int64_t end);

 private:
  struct Bank {
    int rank = 0, group = 0;
    bool open = false;
    std::uint32_t row = 0;
    std::int64_t activate, precharge, read, write;
  };
  struct Burst {
    std::int64_t begin, end;
    int rank;
    bool is_read;
  };

  void want(std::int64_t clock, std::int64_t since, int distance, const char* rule);
  void activate(const Command& command);
  void column(const Command& command);
  void burst(const Command& command);
  void precharge(std::int64_t clock, int index);
  void refresh(const Command& command);
  void check_refresh_rate(int rank, std::int64_t end);

  Parameters p_;
  std::vector<Bank> banks_;
  std::array<std::deque<std::int64_t>, kMaxRanks> activates_;
  std::array<std::vector<std::int64_t>, kMaxRanks> refreshes_;
  std::deque<Burst> bursts_;
  std::map<std::string, int> broken_;
};

}  // namespace logos::ddr4
