// The driver over both of its transports, and OPAE's calls one by one against the stand-in.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "program/error.h"
#include "rtl/board/board_config.h"
#include "rtl/board/fault.h"
#include "rtl/board/sim_transport.h"
#include "rtl/driver/driver.h"
#include "rtl/driver/opae_transport.h"
#include "rtl/driver/registers.h"
#include "rtl/lowering/emitter.h"
#include "rtl/lowering/layout.h"

namespace logos::d5005 {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kSha256 = "00112233445566778899aabbccddeeff0102030405060708090a0b0c0d0e0f10";
constexpr std::int64_t kProgramAt = 0x4000;
constexpr std::int64_t kRowsAt = 0x2000;

/// A setting of the stand-in for as long as this lives.
class Setting {
 public:
  Setting(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ~Setting() { unsetenv(name_); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
};

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::unique_ptr<Transport> make_sim(const std::string& fault) {
  BoardOptions options;
  options.fill.noise = true;
  if (!fault.empty()) plant_fault(fault, options);
  const auto parameters = load_board(LOGOS_SOURCE_DIR "/configs/boards/d5005.json", {});
  return std::make_unique<SimTransport>(make_board(8, 8, parameters, options), true);
}

std::unique_ptr<Transport> make_opae(const std::string& fault) {
  const Setting planted("OPAE_STAND_IN_FAULT", fault);
  return std::make_unique<OpaeTransport>(OPAE_STAND_IN);
}

struct Kind {
  const char* name;
  std::unique_ptr<Transport> (*make)(const std::string& fault);
};
void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

std::vector<std::byte> random_bytes(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

/// Loads rows of 40 numbers and stores them.
std::vector<Instruction> load_and_store() {
  Emitter emitter;
  Instruction load;
  load.columns = 40;
  load.destination_stride = 2;
  load.stream_base = kRowsAt;
  load.stream_beats = 1;
  const Ended loaded = emitter.emit(Op::kLoad, load, {});
  Instruction store;
  store.columns = 40;
  store.source_stride = 2;
  emitter.emit(Op::kStore, store, {loaded});
  emitter.end_segment();
  return emitter.take();
}

class DriverOver : public testing::TestWithParam<Kind> {
 protected:
  std::unique_ptr<Transport> transport(const std::string& fault = "") {
    return GetParam().make(fault);
  }
};

TEST_P(DriverOver, ReadsAndWritesRegistersOfBothWidths) {
  const auto board = transport();
  const Driver driver(*board, engine_size(8, 8));
  board->write64(registers::kScratch64, 0x1122334455667788);
  board->write32(registers::kScratch64 + 4, 0xAABBCCDD);
  EXPECT_EQ(board->read64(registers::kScratch64), 0xAABBCCDD55667788U);
  board->write32(registers::kScratch64, 0x01020304);
  EXPECT_EQ(board->read32(registers::kScratch64), 0x01020304U);
  EXPECT_EQ(board->read32(registers::kScratch64 + 4), 0xAABBCCDDU);
}

TEST_P(DriverOver, CopiesMoreThanABufferThereAndBack) {
  const auto board = transport();
  Driver driver(*board, engine_size(8, 8));
  driver.reset();
  const auto bytes = random_bytes(kMostBufferBytes + 5 * 256, 1);
  driver.write_memory(123, bytes);
  std::vector<std::byte> back(bytes.size());
  driver.read_memory(123, back);
  EXPECT_EQ(back, bytes);
}

TEST_P(DriverOver, RunsAProgram) {
  const auto board = transport();
  Driver driver(*board, engine_size(8, 8));
  driver.reset();
  const std::vector<TableRow> table(11);
  const auto rows = random_bytes(table.size() * 256, 2);
  driver.write_memory(kRowsAt, rows);
  write_program(
      kProgramAt, kSha256, 0, 1, load_and_store(),
      [&](std::int64_t at, std::span<const std::byte> beats) { driver.write_memory(at, beats); });
  std::vector<std::byte> output(table.size() * 3 * 64);
  const RunCounters run = driver.run({kProgramAt, kSha256, table, output, {}});
  EXPECT_EQ(run.passes, 2U);
  for (std::size_t r = 0; r < table.size(); ++r) {
    EXPECT_EQ(std::memcmp(output.data() + r * 192, rows.data() + r * 256, 160), 0) << "row " << r;
  }
}

TEST_P(DriverOver, RefusesAProgramOfAnotherIdentity) {
  const auto board = transport();
  Driver driver(*board, engine_size(8, 8));
  driver.reset();
  write_program(
      kProgramAt, kSha256, 0, 1, load_and_store(),
      [&](std::int64_t at, std::span<const std::byte> beats) { driver.write_memory(at, beats); });
  const std::vector<TableRow> table(1);
  std::vector<std::byte> output(192);
  std::string other = kSha256;
  other.back() = 'f';
  EXPECT_THAT(message_of([&] {
                driver.run({kProgramAt, other, table, output, {}});
              }),
              HasSubstr("the loaded program is of another identity; got " + std::string(kSha256) +
                        ", want " + other));
}

TEST_P(DriverOver, NamesASilentBankWithinTheWatchdogsTime) {
  const auto board = transport("bank2:silent@0");
  Driver driver(*board, engine_size(8, 8));
  driver.reset();
  board->write64(registers::kWatchdogLimit, 20000);
  std::vector<std::byte> bytes(4096);
  EXPECT_THAT(message_of([&] { driver.read_memory(0, bytes); }),
              AllOf(HasSubstr("watchdog"), HasSubstr("bank 2 owes read data")));
}

TEST_P(DriverOver, SaysThatRegistersAreNotAnswered) {
  const auto board = transport("engine:silent@0");
  EXPECT_THAT(message_of([&] { Driver(*board, engine_size(8, 8)); }),
              AllOf(HasSubstr("device feature header"), HasSubstr("0xffffffffffffffff")));
}

TEST_P(DriverOver, SaysThatItWasResetAtWork) {
  const auto board = transport("engine:reset@60000");
  Driver driver(*board, engine_size(8, 8));
  driver.reset();
  std::vector<std::byte> bytes(kMostBufferBytes);
  EXPECT_THAT(message_of([&] {
                for (int i = 0; i < 3; ++i) driver.write_memory(0, bytes);
              }),
              HasSubstr("it was reset while it was at work"));
}

INSTANTIATE_TEST_SUITE_P(Transports, DriverOver,
                         testing::Values(Kind{"sim", make_sim}, Kind{"opae", make_opae}),
                         [](const auto& kind) { return std::string(kind.param.name); });

/// What the stand-in has refused so far.
std::string misuse() {
  void* library = dlopen(OPAE_STAND_IN, RTLD_NOW | RTLD_LOCAL);
  const auto text = reinterpret_cast<const char* (*)()>(dlsym(library, "opae_stand_in_misuse"));
  return text();  // the library stays loaded, with its record
}

TEST(OpaeTransport, UsesTheLibraryWithoutMisuse) {
  ASSERT_EQ(misuse(), "");
  {
    OpaeTransport transport(OPAE_STAND_IN);
    Driver driver(transport, engine_size(8, 8));
    driver.reset();
    std::vector<std::byte> bytes(1024);
    driver.write_memory(0, bytes);
    const HostBuffer left = transport.allocate(4096);  // given back with the card
    EXPECT_EQ(left.address % 4096, 0U);
    EXPECT_EQ(left.bytes[4095], std::byte{0});
  }
  EXPECT_EQ(misuse(), "");
}

TEST(OpaeTransport, SaysWhatIsMissingWithoutTheLibrary) {
  EXPECT_THAT(message_of([] { OpaeTransport("/nowhere/libopae-c.so.2"); }),
              AllOf(HasSubstr("--board opae"), HasSubstr("/nowhere/libopae-c.so.2"),
                    HasSubstr("opae-sdk 2.x"), HasSubstr("github.com/OFS/opae-sdk")));
}

TEST(OpaeTransport, SaysThatALibraryIsAnother) {
  EXPECT_THAT(message_of([] { OpaeTransport("libm.so.6"); }), HasSubstr("has no fpgaErrStr"));
}

TEST(OpaeTransport, RefusesNoneAndSeveralCards) {
  const std::string guid = registers::kGuid;
  {
    const Setting none("OPAE_STAND_IN_CARDS", "0");
    EXPECT_THAT(message_of([] { OpaeTransport{OPAE_STAND_IN}; }),
                AllOf(HasSubstr("accelerators with GUID " + guid), HasSubstr("got 0"),
                      HasSubstr("vfio-pci")));
  }
  const Setting two("OPAE_STAND_IN_CARDS", "2");
  EXPECT_THAT(message_of([] { OpaeTransport{OPAE_STAND_IN}; }), HasSubstr("got 2"));
}

TEST(OpaeTransport, NamesEveryCallThatFails) {
  ASSERT_EQ(misuse(), "");
  for (const char* call :
       {"fpgaGetProperties", "fpgaPropertiesSetObjectType", "fpgaPropertiesSetGUID",
        "fpgaEnumerate", "fpgaOpen", "fpgaMapMMIO", "fpgaReset"}) {
    const Setting failing("OPAE_STAND_IN_FAIL", call);
    EXPECT_THAT(message_of([] { OpaeTransport{OPAE_STAND_IN}; }),
                AllOf(HasSubstr(std::string(call) + " failed"), HasSubstr("exception")))
        << call;
  }
  OpaeTransport card(OPAE_STAND_IN);
  const std::pair<const char*, std::function<void()>> accesses[] = {
      {"fpgaReadMMIO64", [&] { card.read64(0); }},
      {"fpgaReadMMIO32", [&] { card.read32(4); }},
      {"fpgaWriteMMIO64", [&] { card.write64(registers::kScratch64, 1); }},
      {"fpgaWriteMMIO32", [&] { card.write32(registers::kScratch32, 1); }},
      {"fpgaPrepareBuffer", [&] { card.allocate(4096); }},
      {"fpgaGetIOAddress", [&] { card.allocate(4096); }}};
  for (const auto& [call, access] : accesses) {
    const Setting failing("OPAE_STAND_IN_FAIL", call);
    EXPECT_THAT(message_of(access), HasSubstr(std::string(call) + " failed"));
  }
  EXPECT_EQ(misuse(), "");  // what failed half way has been given back
}

TEST(OpaeTransport, SaysThatABufferIsNotGivenBack) {
  OpaeTransport card(OPAE_STAND_IN);
  const HostBuffer buffer = card.allocate(4096);
  auto driver = std::make_unique<Driver>(card, engine_size(8, 8));
  const Setting failing("OPAE_STAND_IN_FAIL", "fpgaReleaseBuffer");
  EXPECT_THAT(message_of([&] { card.release(buffer); }), HasSubstr("fpgaReleaseBuffer failed"));
  testing::internal::CaptureStderr();
  driver.reset();
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("fpgaReleaseBuffer failed"));
}

TEST(OpaeTransport, IsHeldByOneAtATime) {
  const OpaeTransport first(OPAE_STAND_IN);
  EXPECT_THAT(message_of([] { OpaeTransport{OPAE_STAND_IN}; }),
              AllOf(HasSubstr("fpgaOpen failed"), HasSubstr("resource busy")));
}

/// The stand-in itself: what it must not let pass.
TEST(OpaeStandIn, RefusesMisuse) {
  const OpaeLibrary opae(OPAE_STAND_IN);
  fpga_properties filter = nullptr;
  ASSERT_EQ(opae.get_properties(nullptr, &filter), kOpaeOk);
  fpga_token token = nullptr;
  std::uint32_t matches = 0;
  std::uint8_t other_guid[16] = {1};
  ASSERT_EQ(opae.set_guid(filter, other_guid), kOpaeOk);
  EXPECT_EQ(opae.enumerate(&filter, 1, &token, 1, &matches), kOpaeOk);
  EXPECT_EQ(matches, 0U);
  ASSERT_EQ(opae.destroy_properties(&filter), kOpaeOk);
  EXPECT_EQ(opae.destroy_properties(&filter), kOpaeInvalidParameter);
  ASSERT_EQ(opae.get_properties(nullptr, &filter), kOpaeOk);
  ASSERT_EQ(opae.enumerate(&filter, 1, &token, 1, &matches), kOpaeOk);
  ASSERT_EQ(matches, 1U);
  opae.destroy_properties(&filter);
  fpga_handle handle = nullptr;
  ASSERT_EQ(opae.open(token, &handle, 0), kOpaeOk);
  opae.destroy_token(&token);
  std::uint64_t value = 0;
  EXPECT_EQ(opae.read_mmio64(handle, 0, 0, &value), kOpaeInvalidParameter);  // not mapped
  ASSERT_EQ(opae.map_mmio(handle, 0, nullptr), kOpaeOk);
  EXPECT_EQ(opae.read_mmio64(handle, 0, 0, &value), kOpaeOk);
  EXPECT_EQ(opae.read_mmio64(handle, 0, 4, &value), kOpaeInvalidParameter);
  EXPECT_EQ(opae.read_mmio64(handle, 1, 0, &value), kOpaeInvalidParameter);
  EXPECT_EQ(opae.write_mmio64(handle, 0, 0x40000, 0), kOpaeInvalidParameter);
  EXPECT_EQ(opae.write_mmio32(handle, 0, 2, 0), kOpaeInvalidParameter);
  EXPECT_EQ(opae.read_mmio64(&value, 0, 0, &value), kOpaeInvalidParameter);  // no handle
  void* memory = nullptr;
  std::uint64_t workspace = 0;
  EXPECT_EQ(opae.prepare_buffer(handle, kMostBufferBytes + 1, &memory, &workspace, 0),
            kOpaeException);
  ASSERT_EQ(opae.prepare_buffer(handle, kMostBufferBytes, &memory, &workspace, 0), kOpaeOk);
  EXPECT_EQ(opae.get_io_address(handle, workspace + 1, &value), kOpaeNotFound);
  EXPECT_EQ(opae.release_buffer(handle, workspace + 1), kOpaeInvalidParameter);
  EXPECT_EQ(opae.release_buffer(handle, workspace), kOpaeOk);
  EXPECT_EQ(opae.release_buffer(handle, workspace), kOpaeInvalidParameter);
  EXPECT_EQ(opae.unmap_mmio(handle, 0), kOpaeOk);
  EXPECT_EQ(opae.close(handle), kOpaeOk);
  EXPECT_EQ(opae.close(handle), kOpaeInvalidParameter);
  EXPECT_EQ(opae.read_mmio64(handle, 0, 0, &value), kOpaeInvalidParameter);  // after close
}

}  // namespace
}  // namespace logos::d5005
