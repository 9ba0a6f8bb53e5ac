// Contents, order and times of responses.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "program/error.h"
#include "sim/ddr4/streams.h"
#include "tests/sim/ddr4/traffic.h"

namespace logos::ddr4 {
namespace {

constexpr FillPattern kNoise{.word = 0, .noise = true, .seed = 5};

Parameters in_order_parameters() {
  Parameters parameters = dramsim3_parameters("chrarobacobg", 1);
  parameters.response_order = ResponseOrder::kInOrder;
  parameters.starvation_limit = 10;
  return parameters;
}

Line random_line(std::mt19937_64& random) {
  Line line;
  for (std::byte& byte : line) byte = static_cast<std::byte>(random());
  return line;
}

Line line_of(const Storage& storage, std::uint64_t address) {
  Line line;
  storage.read_line(address, line);
  return line;
}

/// Accesses of few lines, so that reads and writes of a line meet in the queues; every read must
/// see the writes accepted before it and none accepted after.
void expect_program_order(const Parameters& parameters, std::uint64_t seed, int whole_percent) {
  Channel channel(parameters, kNoise);
  const Storage powered_up(parameters.bytes(), kNoise);
  std::mt19937_64 random(seed);
  std::map<std::uint64_t, Line> memory;
  std::map<std::uint64_t, Line> expected;  // by read id
  std::uint64_t id = 0;
  const auto contents = [&](std::uint64_t address) -> Line& {
    const auto [at, is_new] = memory.try_emplace(address);
    if (is_new) at->second = line_of(powered_up, address);
    return at->second;
  };
  std::optional<Request> request;
  Line data;
  for (int slot = 0; slot < 60'000 || (slot < 200'000 && !channel.idle()); ++slot) {
    if (!request && slot < 60'000 && random() % 8 != 0) {
      const std::uint64_t row = random() % 3 * (parameters.bytes() / 4);
      const std::uint64_t address = row + random() % 16 * kLineBytes;
      const Operation operation = random() % 2 == 0 ? Operation::kRead : Operation::kWrite;
      data = random_line(random);
      const bool whole = random() % 100 < static_cast<std::uint64_t>(whole_percent);
      request = Request{operation, address, id++, &data, whole ? ~std::uint64_t{0} : random()};
    }
    const Channel::UserClock clock = channel.user_clock(request ? &*request : nullptr);
    if (clock.accepted) {
      if (request->operation == Operation::kRead) {
        expected[request->id] = contents(request->address);
      } else {
        Line& line = contents(request->address);
        for (std::size_t i = 0; i < line.size(); ++i) {
          if ((request->byte_enable >> i & 1U) != 0) line[i] = data[i];
        }
      }
      request.reset();
    }
    if (clock.read != nullptr) {
      ASSERT_TRUE(expected.contains(clock.read->id));
      ASSERT_EQ(clock.read->data, expected[clock.read->id]) << "read " << clock.read->id;
      expected.erase(clock.read->id);
    }
  }
  EXPECT_TRUE(channel.idle());
  EXPECT_TRUE(expected.empty()) << expected.size() << " reads without an answer";
  for (const auto& [address, line] : memory) {
    EXPECT_EQ(line_of(channel.storage(), address), line) << address;
  }
  EXPECT_GT(channel.counters().writes, 1000U);
  EXPECT_GT(channel.counters().reads, 1000U);
}

TEST(Data, ReadsSeeTheWritesBeforeThemAndNoOthers) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    expect_program_order(in_order_parameters(), seed, 100);
    expect_program_order(in_order_parameters(), seed, 50);
    expect_program_order(dramsim3_parameters("rochrababgco", 2), seed, 80);
  }
}

TEST(Data, AReadIsAnsweredFromTheWriteQueue) {
  Channel channel(in_order_parameters(), FillPattern{});
  Line line{};
  line[3] = std::byte{42};
  ASSERT_TRUE(channel.try_request({Operation::kWrite, 64, 1, &line}));
  ASSERT_TRUE(channel.try_request({Operation::kRead, 64, 2}));
  for (int slot = 0; slot < 4; ++slot) channel.tick_slot();
  ASSERT_NE(channel.read_response(), nullptr);
  EXPECT_EQ(channel.read_response()->data, line);
  EXPECT_EQ(channel.counters().forwarded, 1U);
  EXPECT_EQ(channel.counters().reads, 0U);
}

TEST(Data, AReadBehindAWriteOfPartOfItsLineWaitsForThatAlone) {
  Parameters parameters = in_order_parameters();
  parameters.write_low = 8;
  parameters.write_wait_limit = 100'000;
  Channel channel(parameters, FillPattern{.word = 0x01010101});
  Line line{};
  ASSERT_TRUE(channel.try_request({Operation::kWrite, 64, 1, &line, 0xff}));
  const Request read{Operation::kRead, 64, 2};
  EXPECT_FALSE(channel.try_request(read));
  bool accepted = false;
  for (int slot = 0; slot < 40; ++slot) {
    const Channel::UserClock clock = channel.user_clock(accepted ? nullptr : &read);
    accepted = accepted || clock.accepted;
    if (clock.read == nullptr) continue;
    EXPECT_EQ(clock.read->data[7], std::byte{0});
    EXPECT_EQ(clock.read->data[8], std::byte{1});
    return;
  }
  FAIL() << "not answered in 160 clocks";
}

TEST(Data, PowersUpWithThePattern) {
  const std::uint64_t bytes = in_order_parameters().bytes();
  const Storage ones(bytes, {.word = 0x7fc00001});
  const Line line = line_of(ones, bytes - kLineBytes);
  for (std::size_t i = 0; i < line.size(); i += 4) {
    EXPECT_EQ(line[i], std::byte{0x01});
    EXPECT_EQ(line[i + 3], std::byte{0x7f});
  }
  Storage noise(bytes, kNoise);
  const Line before = line_of(noise, 128);
  EXPECT_NE(before, line_of(noise, 192));
  EXPECT_NE(before, line_of(Storage(bytes, {.noise = true, .seed = 6}), 128));
  noise.write_line(192, Line{}, 1);  // its page comes into being with the same noise around
  EXPECT_EQ(line_of(noise, 128), before);
}

TEST(Data, BulkAccessCrossesPagesAndStaysInside) {
  Storage storage(in_order_parameters().bytes(), kNoise);
  std::mt19937_64 random(3);
  std::vector<std::byte> from(300'000), to(300'000);
  for (std::byte& byte : from) byte = static_cast<std::byte>(random());
  std::vector<std::byte> around(1);
  storage.read(4'093'999, around);
  storage.write(4'094'000, from);
  storage.read(4'094'000, to);
  EXPECT_EQ(from, to);
  std::vector<std::byte> still(1);
  storage.read(4'093'999, still);
  EXPECT_EQ(around, still);
  EXPECT_THROW(storage.write(storage.bytes() - 1, from), Error);
  EXPECT_THROW(storage.read(~std::uint64_t{0}, to), Error);
}

class Ordered : public ::testing::TestWithParam<WriteResponse> {};

TEST_P(Ordered, ResponsesComeInTheOrderOfRequests) {
  Parameters parameters = in_order_parameters();
  parameters.write_response = GetParam();
  Channel channel(parameters, FillPattern{});
  RandomTraffic traffic(11, parameters.bytes());
  const Line line{};
  std::optional<Request> request;
  std::int64_t last_read = -1, last_write = -1;
  std::uint64_t answered = 0;
  for (int slot = 0; slot < 50'000; ++slot) {
    if (!request) request = traffic.next();
    if (request) request->data = &line;
    const Channel::UserClock clock = channel.user_clock(request ? &*request : nullptr);
    if (clock.accepted) request.reset();
    if (clock.read != nullptr) {
      EXPECT_GT(static_cast<std::int64_t>(clock.read->id), last_read);
      EXPECT_LE(clock.read->clock, channel.now());
      last_read = static_cast<std::int64_t>(clock.read->id);
      ++answered;
    }
    if (clock.write != nullptr) {
      EXPECT_GT(static_cast<std::int64_t>(clock.write->id), last_write);
      last_write = static_cast<std::int64_t>(clock.write->id);
      ++answered;
    }
  }
  EXPECT_GT(answered, 10'000U);
}

INSTANTIATE_TEST_SUITE_P(WriteResponses, Ordered,
                         ::testing::Values(WriteResponse::kAccepted, WriteResponse::kWritten));

TEST(Channel, IsAFunctionOfItsInputs) {
  const auto log_of = [](std::uint64_t seed) {
    Channel channel(in_order_parameters(), kNoise);
    std::vector<Command> log;
    channel.log_commands(&log);
    RandomTraffic traffic(seed, channel.storage().bytes());
    const Line line{};
    for (int slot = 0; slot < 20'000; ++slot) {
      std::optional<Request> request = traffic.next();
      if (request) request->data = &line;
      channel.user_clock(request ? &*request : nullptr);
    }
    std::string bytes;
    for (const Command& c : log) {
      bytes += std::to_string(c.clock) + ' ' + std::to_string(static_cast<int>(c.kind)) + ' ' +
               std::to_string(c.bank) + ' ' + std::to_string(c.row) + ' ' +
               std::to_string(c.column) + '\n';
    }
    return bytes;
  };
  EXPECT_EQ(log_of(1), log_of(1));
  EXPECT_NE(log_of(1), log_of(2));
}

TEST(Channel, RefusesAddressesThatItDoesNotHave) {
  Channel channel(in_order_parameters(), FillPattern{});
  const std::uint64_t bytes = std::uint64_t{8} << 30;
  EXPECT_EQ(channel.parameters().bytes(), bytes);
  EXPECT_TRUE(channel.try_request({Operation::kRead, bytes - 64, 0}));
  for (const std::uint64_t address : {bytes, bytes * 2, ~std::uint64_t{63}, std::uint64_t{32}}) {
    EXPECT_THROW(channel.try_request({Operation::kRead, address, 0}), Error) << address;
  }
}

/// Clocks from acceptance to data of one read in a channel left alone.
std::int64_t latency(Channel& channel, std::uint64_t address) {
  EXPECT_TRUE(channel.try_request({Operation::kRead, address, 0}));
  for (int slot = 0; slot < 1000 && channel.read_response() == nullptr; ++slot) {
    channel.tick_slot();
  }
  if (channel.read_response() == nullptr) return -1;
  const std::int64_t clocks = channel.read_response()->clock - channel.read_response()->accepted;
  channel.pop_read_response();
  return clocks;
}

TEST(Channel, IdleLatencyIsThatOfTheDevice) {
  Channel channel(dramsim3_parameters("rorabachcobg", 1), FillPattern{});
  const std::uint64_t other_row = channel.storage().bytes() / 2;
  for (int slot = 0; slot < 10; ++slot) channel.tick_slot();
  EXPECT_EQ(latency(channel, 0), 2 + 17 + 17 + 4);  // closed: tRCD, CL, burst
  for (int slot = 0; slot < 10; ++slot) channel.tick_slot();
  EXPECT_EQ(latency(channel, 256), 23);  // CL + BL/2 + 2
  for (int slot = 0; slot < 30; ++slot) channel.tick_slot();
  EXPECT_EQ(latency(channel, other_row), 57);  // tRP + tRCD + the hit's
}

TEST(Channel, AStepOf64BytesIsOneBeat) {
  Channel channel(in_order_parameters(), FillPattern{});
  std::vector<Command> log;
  channel.log_commands(&log);
  for (std::uint64_t i = 0; i < 8; ++i) {
    ASSERT_TRUE(channel.try_request({Operation::kRead, i * 64, i}));
  }
  for (int slot = 0; slot < 40; ++slot) channel.tick_slot();
  // Group lowest: eight lines lie in four groups, two columns each, of one row.
  std::map<int, std::vector<std::uint32_t>> columns;
  for (const Command& command : log) {
    if (command.kind == CommandKind::kRead) columns[command.group].push_back(command.column);
  }
  ASSERT_EQ(columns.size(), 4U);
  for (const auto& [group, read] : columns) EXPECT_EQ(read, (std::vector<std::uint32_t>{0, 1}));
}

TEST(Channel, TheOldestRequestIsOvertakenOnlySoOften) {
  const auto wait_under_hits = [](int limit) {
    Parameters parameters = in_order_parameters();
    parameters.response_order = ResponseOrder::kAsCompleted;
    parameters.starvation_limit = limit;
    Channel channel(parameters, FillPattern{});
    const std::uint64_t other_row = parameters.bytes() / 2;
    std::uint64_t id = 1;
    for (int slot = 0; slot < 2000; ++slot) {
      // Hits on one row without end, in columns of bank 0 and group 0; one request for another row.
      const bool odd_one = slot == 100;
      const Request request{Operation::kRead, odd_one ? other_row : id % 128 * 256,
                            odd_one ? 0 : id};
      const Channel::UserClock clock = channel.user_clock(&request);
      if (clock.accepted) ++id;
      EXPECT_TRUE(clock.accepted || !odd_one);
      if (clock.read != nullptr && clock.read->id == 0) {
        return clock.read->clock - clock.read->accepted;
      }
    }
    return std::int64_t{1} << 40;
  };
  EXPECT_GT(wait_under_hits(0), 1000);
  // Forty requests were there before it, one in tCCD_L; ten more may overtake it.
  EXPECT_LT(wait_under_hits(10), (40 + 10) * 6 + 57);
}

TEST(Channel, AWriteBehindReadsIsWrittenInTime) {
  Parameters parameters = in_order_parameters();
  parameters.write_response = WriteResponse::kWritten;
  parameters.write_wait_limit = 400;
  Channel channel(parameters, FillPattern{});
  const Line line{};
  std::uint64_t id = 0;
  for (int slot = 0; slot < 300; ++slot) {
    const Request read{Operation::kRead, id * 64, id};
    const Request write{Operation::kWrite, std::uint64_t{1} << 32, 0, &line};
    const Channel::UserClock clock = channel.user_clock(slot == 50 ? &write : &read);
    ASSERT_TRUE(clock.accepted || slot != 50);
    if (clock.accepted && slot != 50) ++id;
    if (clock.write != nullptr) {
      EXPECT_LT(clock.write->clock - clock.write->accepted, 600);
      return;
    }
  }
  FAIL() << "the write was never answered";
}

TEST(Channel, SequentialIsNotBelowRandomInTheShippedOrder) {
  const Parameters parameters = in_order_parameters();
  const double sequential = measure(parameters, {0, 0}, {}, 40'000, 1).fraction;
  for (const std::uint64_t chunk : {64U, 256U, 1024U, 4096U, 16384U}) {
    EXPECT_GE(sequential, measure(parameters, {chunk, 0}, {}, 40'000, 1).fraction) << chunk;
  }
}

}  // namespace
}  // namespace logos::ddr4
