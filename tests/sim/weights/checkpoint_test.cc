#include "sim/weights/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/sim/core/temporary_folder.h"
#include "tests/sim/weights/checkpoint_files.h"

namespace logos {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string bytes_of(const std::vector<std::uint16_t>& codes) {
  return {reinterpret_cast<const char*>(codes.data()), codes.size() * 2};
}

/// Every code of a 16-bit type as the checkpoint widens it.
std::vector<float> all_widened(std::string_view dtype) {
  std::vector<std::uint16_t> codes(65536);
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint16_t>(i);
  const TemporaryFolder folder;
  write_file(folder / "model.safetensors",
             safetensors({{"x", std::string(dtype), {65536}, bytes_of(codes)}}));
  std::vector<float> values(65536);
  Checkpoint(folder.path()).read_row("x", 0, values);
  return values;
}

TEST(Checkpoint, WidensEveryBinary16Exactly) {
  const std::vector<float> values = all_widened("F16");
  for (int code = 0; code < 65536; ++code) {
    const int exponent = code >> 10 & 31;
    const int fraction = code & 1023;
    double want =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31) want = fraction == 0 ? std::numeric_limits<double>::infinity() : NAN;
    if (code & 0x8000) want = -want;
    const float got = values[static_cast<std::size_t>(code)];
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(got)) << code;
    } else {
      EXPECT_EQ(static_cast<double>(got), want) << code;
      EXPECT_EQ(std::signbit(got), std::signbit(want)) << code;
    }
  }
}

TEST(Checkpoint, WidensEveryBfloat16Exactly) {
  const std::vector<float> values = all_widened("BF16");
  for (std::uint32_t code = 0; code < 65536; ++code) {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(values[code]), code << 16);
  }
}

TEST(Checkpoint, ReadsRowsOfAMatrix) {
  const TemporaryFolder folder;
  write_file(folder / "model.safetensors",
             safetensors({{"pad", "U8", {3}, "abc"},  // what follows lies at an odd place
                          {"m", "F32", {3, 2}, encoded({1, 2, 3, 4, 5, 6}, "F32")}}));
  const Checkpoint checkpoint(folder.path());
  std::vector<float> row(2);
  checkpoint.read_row("m", 1, row);
  EXPECT_EQ(row, (std::vector<float>{3, 4}));
  std::vector<float> rows(4);
  checkpoint.read_rows("m", 1, 2, rows);
  EXPECT_EQ(rows, (std::vector<float>{3, 4, 5, 6}));
}

TEST(Checkpoint, RefusesOtherTypesNamingTensorAndType) {
  for (const auto& [dtype, bytes] : std::vector<std::pair<std::string, std::size_t>>{{"F64", 8},
                                                                                     {"I8", 1},
                                                                                     {"U8", 1},
                                                                                     {"F8_E4M3", 1},
                                                                                     {"F8_E5M2", 1},
                                                                                     {"BOOL", 1},
                                                                                     {"I16", 2},
                                                                                     {"I32", 4},
                                                                                     {"I64", 8}}) {
    const TemporaryFolder folder;
    write_file(folder / "model.safetensors",
               safetensors({{"q.w", dtype, {1}, std::string(bytes, '\0')}}));
    const Checkpoint checkpoint(folder.path());
    std::vector<float> row(1);
    EXPECT_THAT(error_of([&] { checkpoint.read_row("q.w", 0, row); }),
                AllOf(HasSubstr("\"q.w\""), HasSubstr("got " + dtype), HasSubstr("BF16")));
  }
}

TEST(Checkpoint, RefusesAnAbsentTensorAndOneOfThreeDimensions) {
  const TemporaryFolder folder;
  write_file(folder / "model.safetensors",
             safetensors({{"x", "F32", {1, 1, 1}, encoded({1}, "F32")}}));
  const Checkpoint checkpoint(folder.path());
  std::vector<float> row(1);
  EXPECT_THAT(error_of([&] { checkpoint.read_row("y", 0, row); }),
              AllOf(HasSubstr("\"y\""), HasSubstr("missing")));
  EXPECT_THAT(error_of([&] { checkpoint.read_row("x", 0, row); }),
              AllOf(HasSubstr("\"x\""), HasSubstr("got 3 dimensions")));
}

TEST(Checkpoint, AFileThatShrinksIsAnErrorWithBothSizes) {
  const TemporaryFolder folder;
  const auto file = folder / "model.safetensors";
  write_file(file, safetensors({{"x", "F32", {1000}, std::string(4000, '\0')}}));
  const Checkpoint checkpoint(folder.path());
  const auto size = std::filesystem::file_size(file);
  std::vector<float> row(1000);
  checkpoint.read_row("x", 0, row);
  std::filesystem::resize_file(file, size - 1);
  EXPECT_THAT(error_of([&] { checkpoint.read_row("x", 0, row); }),
              AllOf(HasSubstr("\"x\""), HasSubstr(fmt::format("got {} bytes", size - 1)),
                    HasSubstr(fmt::format("want {} bytes", size))));
  EXPECT_THAT(error_of([&] { checkpoint.content_sha256(); }), HasSubstr("ends too early"));
  EXPECT_THAT(error_of([&] { checkpoint.check_unchanged(); }), HasSubstr("was written to"));
}

TEST(Checkpoint, ContentDigestIsOfTheBytesAlone) {
  const TemporaryFolder one;
  const TemporaryFolder two;
  const std::string bytes = safetensors({{"x", "F32", {2}, encoded({1, 2}, "F32")}});
  write_file(one / "model.safetensors", bytes);
  write_file(two / "model.safetensors", bytes);
  const std::string digest = Checkpoint(one.path()).content_sha256();
  EXPECT_EQ(digest.size(), 64U);
  EXPECT_EQ(Checkpoint(two.path()).content_sha256(), digest);
  std::string changed = bytes;
  changed.back() ^= 1;
  write_file(two / "model.safetensors", changed);
  EXPECT_NE(Checkpoint(two.path()).content_sha256(), digest);
}

}  // namespace
}  // namespace logos
