// The commands of the channel, under random traffic, against the checker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "sim/ddr4/streams.h"
#include "tests/sim/ddr4/command_checker.h"
#include "tests/sim/ddr4/traffic.h"

namespace logos::ddr4 {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Key;

struct Trace {
  std::vector<Command> log;
  std::int64_t end;
  Counters counters;
};

/// `slots` slots of random traffic, then silence until all is answered.
Trace run_traffic(const Parameters& parameters, std::uint64_t seed, int slots) {
  Trace run;
  Channel channel(parameters, FillPattern{});
  channel.log_commands(&run.log);
  RandomTraffic traffic(seed, parameters.bytes());
  const Line line{};
  std::optional<Request> request;
  for (int slot = 0; slot < slots; ++slot) {
    if (!request) request = traffic.next();
    if (request) request->data = &line;
    if (channel.user_clock(request ? &*request : nullptr).accepted) request.reset();
  }
  for (int slot = 0; slot < 200'000 && !channel.idle(); ++slot) channel.user_clock(nullptr);
  EXPECT_TRUE(channel.idle()) << "requests left unanswered";
  run.end = channel.now();
  run.counters = channel.counters();
  return run;
}

Parameters random_parameters(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto from_to = [&](int least, int most) {
    return least + static_cast<int>(random() % static_cast<std::uint64_t>(most - least + 1));
  };
  constexpr const char* kOrders[] = {"rorabachcobg", "rochrababgco", "rochracobabg",
                                     "chrababgcoro", "chrarobacobg", "rarobabgcoch"};
  Parameters p = dramsim3_parameters(kOrders[from_to(0, 5)], 1 << from_to(0, 1));
  p.bank_groups = 1 << from_to(0, 2);
  p.banks_per_group = 1 << from_to(0, 2);
  p.rows = 1 << from_to(4, 10);
  p.t_rcd = from_to(4, 25);
  p.t_rp = from_to(4, 25);
  p.cl = from_to(5, 28);
  p.cwl = from_to(5, 24);
  p.t_ras = from_to(10, 50);
  p.t_rc = p.t_ras + p.t_rp + from_to(-5, 8);
  p.t_ccd_s = from_to(4, 6);
  p.t_ccd_l = p.t_ccd_s + from_to(0, 5);
  p.t_rrd_s = from_to(4, 9);
  p.t_rrd_l = p.t_rrd_s + from_to(0, 5);
  p.t_faw = from_to(16, 50);
  p.t_wr = from_to(1, 30);
  p.t_wtr_s = from_to(1, 8);
  p.t_wtr_l = p.t_wtr_s + from_to(0, 9);
  p.t_rtp = from_to(4, 14);
  p.t_rfc = from_to(50, 500);
  p.t_refi = 1500 + from_to(0, 3000);
  p.rank_switch = from_to(0, 5);
  p.read_to_write_gap = from_to(0, 5);
  p.read_queue = from_to(1, 40);
  p.write_queue = from_to(1, 40);
  p.bank_queue = from_to(1, 12);
  p.write_high = from_to(1, p.write_queue + p.bank_queue);
  p.write_low = from_to(0, p.write_high - 1);
  p.write_wait_limit = from_to(1, 2000);
  p.starvation_limit = from_to(0, 20);
  p.refresh_postpone = from_to(0, 8);
  p.request_latency = from_to(0, 30);
  p.response_latency = from_to(0, 50);
  p.in_flight = from_to(1, 200);
  p.response_order = from_to(0, 1) == 0 ? ResponseOrder::kInOrder : ResponseOrder::kAsCompleted;
  p.write_response = from_to(0, 1) == 0 ? WriteResponse::kAccepted : WriteResponse::kWritten;
  return p;
}

class RandomChannel : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomChannel, KeepsEveryConstraint) {
  const Parameters parameters = random_parameters(GetParam());
  const Trace run = run_traffic(parameters, GetParam(), 30'000);
  EXPECT_GT(run.counters.reads + run.counters.writes, 1000U);
  EXPECT_THAT(CommandChecker(parameters).check(run.log, run.end), IsEmpty());
}

TEST_P(RandomChannel, CountsWhatTheCommandsShow) {
  const Trace run = run_traffic(random_parameters(GetParam()), GetParam(), 10'000);
  std::map<CommandKind, std::uint64_t> seen;
  for (const Command& command : run.log) ++seen[command.kind];
  const Counters& counters = run.counters;
  EXPECT_EQ(counters.reads, seen[CommandKind::kRead]);
  EXPECT_EQ(counters.writes, seen[CommandKind::kWrite]);
  EXPECT_EQ(counters.activates, seen[CommandKind::kActivate]);
  EXPECT_EQ(counters.precharges, seen[CommandKind::kPrecharge] + seen[CommandKind::kPrechargeAll]);
  EXPECT_EQ(counters.refreshes, seen[CommandKind::kRefresh]);
  EXPECT_EQ(counters.row_hits + counters.row_misses, counters.reads + counters.writes);
  EXPECT_EQ(counters.busy_slots, counters.reads + counters.writes);
  std::uint64_t slots = counters.busy_slots;
  for (const std::uint64_t idle : counters.idle_slots) slots += idle;
  EXPECT_EQ(counters.slots, slots);
  EXPECT_EQ(static_cast<std::int64_t>(counters.slots) * kSlotClocks, run.end);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomChannel, ::testing::Range<std::uint64_t>(1, 41));

/// Values under which each parameter binds on its own: none is implied by the others.
Parameters binding_parameters() {
  Parameters p = dramsim3_parameters("rorabachcobg", 2);
  p.rows = 1024;
  p.t_rc = p.t_ras + p.t_rp + 7;
  p.t_ccd_s = 5;
  p.t_ccd_l = 7;
  p.t_rrd_s = 5;
  p.t_rrd_l = 8;
  p.t_faw = 30;
  p.t_rfc = 150;
  p.t_refi = 2000;
  p.rank_switch = 3;
  p.read_to_write_gap = 2;
  return p;
}

struct Relaxation {
  const char* rule;  ///< of the checker
  int Parameters::*member;
  int by;
};

class RelaxedChannel : public ::testing::TestWithParam<Relaxation> {};

/// The model runs with one parameter relaxed, the checker holds it against the right ones.
TEST_P(RelaxedChannel, IsCaught) {
  const Parameters right = binding_parameters();
  Parameters relaxed = right;
  relaxed.*GetParam().member += GetParam().by;
  const Trace run = run_traffic(relaxed, 7, 100'000);
  EXPECT_THAT(CommandChecker(right).check(run.log, run.end), Contains(Key(GetParam().rule)));
}

TEST(BindingParameters, AreKept) {
  const Trace run = run_traffic(binding_parameters(), 7, 100'000);
  EXPECT_THAT(CommandChecker(binding_parameters()).check(run.log, run.end), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Parameters, RelaxedChannel,
    ::testing::Values(
        Relaxation{"tRCD", &Parameters::t_rcd, -1}, Relaxation{"tRP", &Parameters::t_rp, -1},
        Relaxation{"read to write", &Parameters::cl, -1},
        Relaxation{"tWTR_S", &Parameters::cwl, -1}, Relaxation{"tRAS", &Parameters::t_ras, -1},
        Relaxation{"tRC", &Parameters::t_rc, -1}, Relaxation{"tCCD_S", &Parameters::t_ccd_s, -1},
        Relaxation{"tCCD_L", &Parameters::t_ccd_l, -1},
        Relaxation{"tRRD_S", &Parameters::t_rrd_s, -1},
        Relaxation{"tRRD_L", &Parameters::t_rrd_l, -1}, Relaxation{"tFAW", &Parameters::t_faw, -1},
        Relaxation{"tWR", &Parameters::t_wr, -1}, Relaxation{"tWTR_S", &Parameters::t_wtr_s, -1},
        Relaxation{"tWTR_L", &Parameters::t_wtr_l, -1}, Relaxation{"tRTP", &Parameters::t_rtp, -1},
        Relaxation{"tREFI", &Parameters::t_refi, 100},
        Relaxation{"tREFI", &Parameters::refresh_postpone, 2},
        Relaxation{"tRFC", &Parameters::t_rfc, -1},
        Relaxation{"rank switch", &Parameters::rank_switch, -1},
        Relaxation{"read to write", &Parameters::read_to_write_gap, -1}),
    [](const auto& info) {
      std::string name = info.param.rule;
      for (char& c : name) c = c == ' ' ? '_' : c;
      return name + "_" + std::to_string(info.index);
    });

/// Hits without end on one row leave no room to close its page: the controller has to make it.
TEST(Refresh, IsNotPutOffByRowHits) {
  const Parameters parameters = dramsim3_parameters("rorabachcobg", 1);
  Channel channel(parameters, FillPattern{});
  std::vector<Command> log;
  channel.log_commands(&log);
  std::uint64_t id = 0;
  while (channel.now() < 5 * parameters.t_refi) {
    const Request request{Operation::kRead, id % 128 * 256, id};
    if (channel.user_clock(&request).accepted) ++id;
  }
  EXPECT_THAT(CommandChecker(parameters).check(log, channel.now()), IsEmpty());
}

TEST(Refresh, IsPostponedOnlyWhileRequestsWait) {
  Parameters parameters = dramsim3_parameters("rorabachcobg", 1);
  parameters.refresh_postpone = 3;
  Channel channel(parameters, FillPattern{});
  std::vector<Command> log;
  channel.log_commands(&log);
  std::uint64_t id = 0;
  const auto refreshes = [&] { return channel.counters().refreshes; };
  while (channel.now() < 3 * parameters.t_refi + 100) {
    const Request request{Operation::kRead, id * kLineBytes, id};
    if (channel.user_clock(&request).accepted) ++id;
  }
  EXPECT_EQ(refreshes(), 0U);
  while (channel.now() < 4 * parameters.t_refi - 100) channel.user_clock(nullptr);
  EXPECT_EQ(refreshes(), 3U);
}

}  // namespace
}  // namespace logos::ddr4
