#include "bench/wave_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>

#include "sim/whole_file.h"
#include "tests/sim/core/temporary_folder.h"

namespace logos::bench {
namespace {

using testing::HasSubstr;

/// A block of FST: type, length with its own eight bytes, zeros.
std::string block(int type, std::uint64_t length) {
  std::string bytes(1, static_cast<char>(type));
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(length >> shift & 0xFF);
  return bytes + std::string(length - 8, '\0');
}

const std::string kHeader = block(0, 329);
const std::string kChanges = block(8, 1000);
const std::string kGeometry = block(3, 50);
const std::string kNames = block(6, 70);

class WaveFile : public testing::Test {
 protected:
  std::string refusal_of(const std::string& bytes) {
    std::ofstream(file_, std::ios::binary) << bytes;
    return error_of([&] { check_wave_file(file_); });
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "w.fst";
};

TEST_F(WaveFile, IsTakenWhole) {
  EXPECT_EQ(refusal_of(kHeader + kChanges + kGeometry + kNames), "");
  EXPECT_EQ(refusal_of(kHeader + kGeometry + kNames), "");  // a window in which nothing ran
}

TEST_F(WaveFile, SaysWhetherItHoldsMoreThanAMoment) {
  std::string header = kHeader;
  std::ofstream(file_, std::ios::binary) << header + kGeometry + kNames;
  EXPECT_FALSE(check_wave_file(file_));
  header[24] = 1;  // the last byte of the last time
  std::ofstream(file_, std::ios::binary) << header + kGeometry + kNames;
  EXPECT_TRUE(check_wave_file(file_));
}

TEST_F(WaveFile, IsRefusedWhereverItEnds) {
  const std::string whole = kHeader + kChanges + kGeometry + kNames;
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += 11) {
    EXPECT_THAT(refusal_of(whole.substr(0, bytes)), HasSubstr("the waveform is not whole: "))
        << bytes;
  }
  EXPECT_EQ(refusal_of(whole.substr(0, 400)),
            file_.string() +
                ": the waveform is not whole: the block at byte 330 of 400 does not "
                "end; is the disk full?");
  EXPECT_THAT(refusal_of(whole + "x"), HasSubstr("the block at byte 1453 of 1454"));
}

TEST_F(WaveFile, IsRefusedWithoutABlockOrWithAnUnfinishedOne) {
  EXPECT_THAT(refusal_of(kChanges + kGeometry + kNames), HasSubstr("no header"));
  EXPECT_THAT(refusal_of(kHeader + kChanges + kNames), HasSubstr("no sizes of signals"));
  EXPECT_THAT(refusal_of(kHeader + kChanges + kGeometry), HasSubstr("no names of signals"));
  EXPECT_THAT(refusal_of(kHeader + block(255, 20) + kGeometry + kNames), HasSubstr("byte 330"));
  EXPECT_THAT(refusal_of(kHeader + std::string(9, '\1')), HasSubstr("byte 330"));
  EXPECT_THAT(error_of([&] { check_wave_file(folder_ / "none"); }), HasSubstr("cannot read"));
}

TEST_F(WaveFile, ThatIsBrokenIsRemovedAndAWholeOneStays) {
  const std::string whole = kHeader + kGeometry + kNames;
  for (const bool is_whole : {true, false}) {
    write_whole_file(file_, is_whole ? whole : whole.substr(1));
    write_whole_file(file_.string() + ".hier", "x");
    remove_broken_wave(file_);
    EXPECT_EQ(folder_.entries(), is_whole ? 1 : 0);
  }
  remove_broken_wave(file_);
}

}  // namespace
}  // namespace logos::bench
