#include "sim/weights/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/weights/dequantize.h"
#include "sim/weights/digest.h"
#include "sim/weights/pack.h"
#include "sim/weights/quantizer.h"
#include "sim/weights/store_format.h"
#include "sim/weights/synthetic_source.h"
#include "tests/sim/weights/checkpoint_files.h"
#include "tests/sim/weights/store_folder.h"

namespace logos {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string kSource(64, 'a');
const std::string kOtherSource(64, 'b');

const std::vector<PlannedTensor> kPlan = {
    {"m", true, 3, 40}, {"v", false, 1, 5}, {"n", true, 2, 64}, {"w", false, 1, 16}};

class PackedStoreTest : public testing::Test {
 protected:
  PackedStoreTest() {
    SyntheticSource rows(7);
    pack(kPlan, rows, kSource, file_);
    bytes_ = read_file(file_);
  }
  std::string message_of(std::string_view bytes, std::string_view source = {}) {
    write_file(folder_ / "changed", bytes);
    return error_of([&] { open_store(folder_ / "changed", source); });
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "a.weights";
  std::string bytes_;
};

TEST_F(PackedStoreTest, GivesBackWhatWasPacked) {
  const auto store = open_store(file_, kSource);
  SyntheticSource rows(7);
  for (const PlannedTensor& tensor : kPlan) {
    if (!tensor.is_matrix) {
      std::vector<float> want(static_cast<std::size_t>(tensor.columns));
      rows.vector(tensor, want);
      const auto got = store->vector(tensor.name);
      EXPECT_EQ(std::vector<float>(got.begin(), got.end()), want);
      continue;
    }
    const MatrixView view = store->matrix(tensor.name);
    EXPECT_EQ(view.rows, tensor.rows);
    EXPECT_EQ(view.columns, tensor.columns);
    EXPECT_EQ(view.pitch, (tensor.columns + 31) / 32 * 32);
    EXPECT_EQ(view.groups, (tensor.columns + 31) / 32);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(view.q.data()) % 64, 0U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(view.multipliers.data()) % 64, 0U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(view.scales.data()) % 64, 0U);
    ASSERT_EQ(view.q.size(), static_cast<std::size_t>(view.rows * view.pitch));
    ASSERT_EQ(view.multipliers.size(), static_cast<std::size_t>(view.rows * view.groups));
    ASSERT_EQ(view.scales.size(), static_cast<std::size_t>(view.rows));
    for (std::size_t row = 0; row < view.scales.size(); ++row) {
      std::vector<std::uint8_t> c(static_cast<std::size_t>(view.groups));
      std::vector<std::int8_t> q(static_cast<std::size_t>(view.columns));
      EXPECT_EQ(view.scales[row], rows.matrix_row(tensor, static_cast<std::int64_t>(row), c, q));
      EXPECT_TRUE(std::equal(c.begin(), c.end(),
                             view.multipliers.begin() + static_cast<long>(row) * view.groups));
      EXPECT_TRUE(
          std::equal(q.begin(), q.end(), view.q.begin() + static_cast<long>(row) * view.pitch));
      std::vector<double> values(q.size());
      dequantize_row(view, static_cast<std::int64_t>(row), values);
      EXPECT_EQ(values[33],
                static_cast<double>(q[33]) * c[1] * static_cast<double>(view.scales[row]));
    }
  }
  EXPECT_EQ(store->file(), file_);
}

TEST_F(PackedStoreTest, IsNotTouchedByWhatHappensToItsFileAfterwards) {
  const auto store = open_store(file_, kSource);
  const auto content = [&] {
    std::string bytes;
    for (const PlannedTensor& tensor : kPlan) {
      if (tensor.is_matrix) {
        const MatrixView view = store->matrix(tensor.name);
        for (const auto part :
             {std::as_bytes(view.q), std::as_bytes(view.multipliers), std::as_bytes(view.scales)}) {
          bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
        }
      } else {
        const auto part = std::as_bytes(store->vector(tensor.name));
        bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
      }
    }
    return bytes;
  };
  const std::string before = content();
  std::fstream(file_, std::ios::in | std::ios::out | std::ios::binary)
      << std::string(bytes_.size(), '\x55');  // written to in place
  EXPECT_EQ(content(), before);
  std::filesystem::resize_file(file_, 0);  // cut short in place: a mapping would end in SIGBUS
  EXPECT_EQ(content(), before);
}

TEST_F(PackedStoreTest, LargerThanThisHostsMemoryIsRefusedBeforeItIsRead) {
  std::filesystem::resize_file(file_, std::uintmax_t{1} << 43);  // sparse
  EXPECT_THAT(
      error_of([&] { open_store(file_); }),
      AllOf(HasSubstr("do not fit into this host's memory"), HasSubstr("got 8796093022208 bytes")));
}

TEST_F(PackedStoreTest, NamesTensorsThatAreAbsentOrOfTheOtherKind) {
  const auto store = open_store(file_);
  EXPECT_THAT(error_of([&] { store->matrix("x"); }),
              AllOf(HasSubstr("\"x\""), HasSubstr("missing")));
  EXPECT_THAT(error_of([&] { store->vector("x"); }), HasSubstr("\"x\""));
  EXPECT_THAT(error_of([&] { store->matrix("v"); }),
              AllOf(HasSubstr("\"v\""), HasSubstr("no matrix")));
  EXPECT_THAT(error_of([&] { store->vector("m"); }),
              AllOf(HasSubstr("\"m\""), HasSubstr("no vector")));
}

TEST_F(PackedStoreTest, IsTheSameFileWhenPackedAgainElsewhere) {
  const TemporaryFolder other;
  SyntheticSource rows(7);
  pack(kPlan, rows, kSource, other / "b.weights");
  EXPECT_EQ(read_file(other / "b.weights"), bytes_);
}

TEST_F(PackedStoreTest, ItsDigestDoesNotDependOnTheSource) {
  SyntheticSource rows(7);
  pack(kPlan, rows, kOtherSource, folder_ / "b.weights");
  EXPECT_EQ(open_store(folder_ / "b.weights")->sha256(), open_store(file_)->sha256());
  SyntheticSource others(8);
  pack(kPlan, others, kSource, folder_ / "c.weights");
  EXPECT_NE(open_store(folder_ / "c.weights")->sha256(), open_store(file_)->sha256());
}

TEST_F(PackedStoreTest, ItsDigestIsOverContentAndData) {
  const StoreHeader header = parse_header(std::as_bytes(std::span(bytes_)), "f");
  Sha256 digest;
  digest.add(content_text(header.layout));
  digest.add(std::string_view(bytes_).substr(header.data_start));
  EXPECT_EQ(open_store(file_)->sha256(), digest.hex());
}

TEST_F(PackedStoreTest, AnotherSourceIsRefusedWithBothDigests) {
  EXPECT_THAT(error_of([&] { open_store(file_, kOtherSource); }),
              AllOf(HasSubstr("a.weights"), HasSubstr("got " + kSource),
                    HasSubstr("want " + kOtherSource)));
}

TEST_F(PackedStoreTest, IsRefusedWithBothSizesWhenCutAtAnySectionOrGrown) {
  const StoreHeader header = parse_header(std::as_bytes(std::span(bytes_)), "f");
  std::vector<std::uint64_t> sizes = {
      0, 1, 47, 48, 56, 64, 127, 128, header.data_start - 1, header.data_start, bytes_.size() - 1};
  for (const PlacedTensor& placed : header.layout.tensors) {
    for (const std::uint64_t at : {placed.q, placed.multipliers, placed.scales, placed.values}) {
      sizes.push_back(header.data_start + at);
      sizes.push_back(header.data_start + at + 1);
    }
  }
  for (const std::uint64_t size : sizes) {
    const std::string message = message_of(bytes_.substr(0, size));
    EXPECT_THAT(message, HasSubstr(fmt::format("{} bytes", size))) << size;
    EXPECT_THAT(message, AllOf(HasSubstr("got"), HasSubstr("want"))) << size;
    if (size >= 128) {
      EXPECT_THAT(message, HasSubstr(fmt::format("want {} bytes", bytes_.size())));
    }
  }
  EXPECT_THAT(message_of(bytes_ + "x"),
              AllOf(HasSubstr(fmt::format("got {} bytes", bytes_.size() + 1)),
                    HasSubstr(fmt::format("want {} bytes", bytes_.size()))));
}

TEST_F(PackedStoreTest, AnyChangedByteIsRefused) {
  ASSERT_LT(bytes_.size(), 20'000U);
  for (std::size_t at = 0; at < bytes_.size(); ++at) {
    std::string changed = bytes_;
    changed[at] = static_cast<char>(changed[at] ^ (1 << (at % 8)));
    ASSERT_THAT(message_of(changed), AllOf(HasSubstr("got "), HasSubstr("want "))) << at;
  }
}

TEST_F(PackedStoreTest, AChangedWeightIsNamedByBothDigests) {
  std::string changed = bytes_;
  changed.back() ^= 1;  // padding counts too: the file is the one that was packed, or it is not
  EXPECT_THAT(message_of(changed),
              AllOf(HasSubstr("damaged"), HasSubstr("want " + open_store(file_)->sha256())));
}

TEST_F(PackedStoreTest, AFileOfAnotherKindIsRefused) {
  const std::string model = safetensors({{"x", "F32", {100}, std::string(400, '\0')}});
  EXPECT_THAT(message_of(model), AllOf(HasSubstr("no store of packed weights"),
                                       HasSubstr("LOGOS Workbench: packed weights")));
  EXPECT_THAT(error_of([&] { open_store(folder_.path()); }), HasSubstr("not a regular file"));
  EXPECT_THAT(error_of([&] { open_store(folder_ / "none"); }), HasSubstr("No such file"));
}

/// A store around a JSON of one's own, with right digests: what only a forger would write.
std::string forged(const std::string& content, std::size_t data_bytes) {
  Sha256 digest;
  digest.add(content);
  digest.add(std::string(data_bytes, '\0'));
  std::string json = fmt::format(R"({{"content":{},"sha256":"{}","source":"{}"}})", content,
                                 digest.hex(), kSource);
  json.resize((json.size() + 63) / 64 * 64, ' ');
  Sha256 json_digest;
  json_digest.add(json);
  const std::uint64_t json_bytes = json.size();
  const std::uint64_t file_bytes = 128 + json.size() + data_bytes;
  std::string bytes(kStoreMagic);
  bytes.append(reinterpret_cast<const char*>(&json_bytes), 8);
  bytes.append(reinterpret_cast<const char*>(&file_bytes), 8);
  return bytes + json_digest.hex() + json + std::string(data_bytes, '\0');
}

TEST_F(PackedStoreTest, TablesOfTensorsThatReachOutsideAreRefused) {
  const auto content = [](std::string_view tensor, std::string_view data_bytes) {
    return fmt::format(
        R"({{"arithmetic":"OFA-1 profile A, groups of 32","data_bytes":{},"tensors":[{}]}})",
        data_bytes, tensor);
  };
  EXPECT_EQ(message_of(forged(content(R"({"name":"v","size":4,"values":0})", "64"), 64)), "");
  EXPECT_THAT(message_of(forged(content(R"({"name":"v","size":4,"values":64})", "64"), 64)),
              HasSubstr("laid out"));
  EXPECT_THAT(message_of(forged(content(R"({"name":"v","size":400,"values":0})", "64"), 64)),
              HasSubstr("laid out"));
  EXPECT_THAT(message_of(forged(content(R"({"name":"v","size":400,"values":0})", "1600"), 64)),
              HasSubstr("fits another file"));
  EXPECT_THAT(message_of(forged(content(R"({"name":"v","size":-4,"values":0})", "64"), 64)),
              HasSubstr("sizes from 1 up"));
  EXPECT_THAT(message_of(forged(content(R"({"name":"v","size":1e300,"values":0})", "64"), 64)),
              HasSubstr("no whole number"));
  EXPECT_THAT(message_of(forged(
                  content(R"({"name":"v","size":9223372036854775807,"values":0})", "64"), 64)),
              HasSubstr("too large"));
  EXPECT_THAT(message_of(forged(content(R"({"name":"v","size":4,"values":0},)"
                                        R"({"name":"v","size":4,"values":64})",
                                        "128"),
                                128)),
              HasSubstr("twice"));
  EXPECT_THAT(message_of(forged("{}", 64)), HasSubstr("cannot be read"));
  EXPECT_THAT(message_of(forged("7", 64)), HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace logos
