// The store of a checkpoint: what is taken, what is refused by name, when it is packed again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "sim/weights/store.h"
#include "tests/sim/weights/checkpoint_files.h"
#include "tests/sim/weights/store_folder.h"

namespace logos {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class StoreOfCheckpoint : public testing::Test {
 protected:
  void write(const std::vector<FileTensor>& tensors) {
    write_file(model_ / "model.safetensors", safetensors(tensors));
  }
  std::unique_ptr<WeightStore> store() {
    remarks_.clear();
    return store_of_checkpoint(model_.path(), spec_, remarks_);
  }
  /// What is said of these tensors; nothing is packed then.
  std::string message(const std::vector<FileTensor>& tensors) {
    write(tensors);
    const long before = stores_.entries();
    std::string message = error_of([&] { store(); });
    EXPECT_EQ(stores_.entries(), before);
    return message;
  }

  StoreFolder stores_;
  TemporaryFolder model_;
  ModelSpec spec_ = small_spec();
  std::vector<FileTensor> tensors_ = model_tensors(spec_);
  std::vector<std::string> remarks_;
};

TEST_F(StoreOfCheckpoint, IsThatOfTheSameValuesInEachTypeAndMixed) {
  write(tensors_);
  const std::string digest = store()->sha256();
  EXPECT_THAT(remarks_, IsEmpty());
  for (const char* dtype : {"F16", "BF16"}) {
    write(model_tensors(spec_, [&](std::size_t) { return dtype; }));
    EXPECT_EQ(store()->sha256(), digest) << dtype;
  }
  write(model_tensors(spec_, [](std::size_t n) {
    return std::vector{"F32", "F16", "BF16"}[n % 3];
  }));
  EXPECT_EQ(store()->sha256(), digest);
  std::reverse(tensors_.begin(), tensors_.end());
  write(tensors_);
  EXPECT_EQ(store()->sha256(), digest) << "entries in another order";
}

TEST_F(StoreOfCheckpoint, IsPackedOnceAndReusedFromAnyFolderThatHoldsTheSameBytes) {
  write(tensors_);
  store();
  const auto file = stores_.only_file();
  const auto written = std::filesystem::last_write_time(file);
  EXPECT_EQ(store()->file(), file);
  const TemporaryFolder copy;
  std::filesystem::copy_file(model_ / "model.safetensors", copy / "model.safetensors");
  store_of_checkpoint(copy.path(), spec_, remarks_);
  EXPECT_EQ(stores_.only_file(), file);
  EXPECT_EQ(std::filesystem::last_write_time(file), written);
}

TEST_F(StoreOfCheckpoint, OfChangedBytesIsAnotherAlsoWhenSizeAndTimeAreTheSame) {
  write(tensors_);
  const std::string digest = store()->sha256();
  const auto time = std::filesystem::last_write_time(model_ / "model.safetensors");
  tensor_named(tensors_, "model.norm.weight").bytes[0] ^= 1;
  write(tensors_);
  std::filesystem::last_write_time(model_ / "model.safetensors", time);
  EXPECT_NE(store()->sha256(), digest);
  EXPECT_EQ(stores_.entries(), 2);
}

TEST_F(StoreOfCheckpoint, IsPackedAgainWithARemarkWhereTheOneKeptIsDamaged) {
  write(tensors_);
  const std::string digest = store()->sha256();
  const auto file = stores_.only_file();
  const std::string good = read_file(file);
  for (const std::string& bad : {good.substr(0, good.size() / 2), std::string(),
                                 good.substr(0, good.size() - 1) + 'x', std::string("other")}) {
    write_file(file, bad);
    EXPECT_EQ(store()->sha256(), digest);
    EXPECT_THAT(remarks_, ElementsAre(AllOf(HasSubstr(file.filename().string()), HasSubstr("got"),
                                            HasSubstr("packed again"))));
    EXPECT_EQ(read_file(file), good);
  }
}

TEST_F(StoreOfCheckpoint, TellsWhereTheFolderOfStoresCannotBeUsed) {
  write(tensors_);
  write_file(model_ / "file", "");
  setenv("LOGOS_STORE", (model_ / "file").c_str(), 1);
  EXPECT_THAT(error_of([&] { store(); }), AllOf(HasSubstr("file"), HasSubstr("Not a directory")));
}

TEST(StoreDirectory, FollowsTheEnvironment) {
  const char* home = std::getenv("HOME");
  const std::string kept = home == nullptr ? "" : home;
  setenv("HOME", "/h", 1);
  setenv("XDG_CACHE_HOME", "/x", 1);
  setenv("LOGOS_STORE", "/s", 1);
  EXPECT_EQ(store_directory(), "/s");
  setenv("LOGOS_STORE", "", 1);
  EXPECT_EQ(store_directory(), "/x/logos-workbench");
  unsetenv("LOGOS_STORE");
  unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(store_directory(), "/h/.cache/logos-workbench");
  unsetenv("HOME");
  EXPECT_THAT(error_of([] { store_directory(); }), HasSubstr("LOGOS_STORE"));
  if (home != nullptr) setenv("HOME", kept.c_str(), 1);
}

TEST_F(StoreOfCheckpoint, RefusesAFolderWithoutTensors) {
  EXPECT_THAT(error_of([&] { store(); }),
              AllOf(HasSubstr(model_.path().string()), HasSubstr("model.safetensors")));
}

TEST_F(StoreOfCheckpoint, RefusesEachMissingTensorByName) {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    std::vector<FileTensor> fewer = tensors_;
    fewer.erase(fewer.begin() + static_cast<long>(i));
    EXPECT_THAT(message(fewer),
                AllOf(HasSubstr("\"" + tensors_[i].name + "\""), HasSubstr("missing")));
  }
}

TEST_F(StoreOfCheckpoint, RefusesEachWrongShapeWithBothShapes) {
  const std::vector<FileTensor> good = tensors_;
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::vector<FileTensor> changed = good;
    FileTensor& tensor = changed[i];
    const std::size_t row_bytes =
        4 * static_cast<std::size_t>(tensor.shape.size() == 2 ? tensor.shape[1] : 1);
    const std::string want = fmt::format("want [{}]", fmt::join(tensor.shape, ", "));
    tensor.shape[0] += 1;
    tensor.bytes += std::string(row_bytes, '\0');
    EXPECT_THAT(message(changed),
                AllOf(HasSubstr("\"" + tensor.name + "\""), HasSubstr(want),
                      HasSubstr(fmt::format("got [{}]", fmt::join(tensor.shape, ", ")))));
  }
  FileTensor& turned = tensor_named(tensors_, "model.layers.1.mlp.down_proj.weight");
  std::swap(turned.shape[0], turned.shape[1]);
  EXPECT_THAT(message(tensors_), AllOf(HasSubstr("got [36, 40]"), HasSubstr("want [40, 36]")));
}

TEST_F(StoreOfCheckpoint, ChecksKeyAndValueRowsAgainstTheKeyHeads) {
  write(tensors_);
  spec_.key_heads = 4;
  EXPECT_THAT(
      error_of([&] { store(); }),
      AllOf(HasSubstr("k_proj.weight"), HasSubstr("got [20, 40]"), HasSubstr("want [40, 40]")));
}

TEST_F(StoreOfCheckpoint, RefusesOtherTypesAlsoBesideTheirScales) {
  for (const char* dtype : {"F64", "I8", "F8_E4M3", "F8_E5M2", "BOOL", "U8"}) {
    std::vector<FileTensor> changed = tensors_;
    FileTensor& tensor = tensor_named(changed, "model.layers.0.self_attn.o_proj.weight");
    tensor.dtype = dtype;
    tensor.bytes.resize(tensor.bytes.size() / 4 * (dtype == std::string("F64") ? 8 : 1));
    changed.push_back({"model.layers.0.self_attn.o_proj.weight_scale", "F32", {1}, "abcd"});
    EXPECT_THAT(message(changed),
                AllOf(HasSubstr("o_proj.weight\""), HasSubstr(fmt::format("got {}", dtype))));
  }
}

TEST_F(StoreOfCheckpoint, RefusesADirectoryInTheStoresPlace) {
  write(tensors_);
  const std::filesystem::path file = store()->file();
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  EXPECT_THAT(error_of([&] { store(); }),
              HasSubstr(file.string() + ": cannot write: what stands there is no regular file"));
}

TEST_F(StoreOfCheckpoint, NamesTheTypeOfAPackedMatrixAndNotItsShape) {
  std::vector<FileTensor> packed = tensors_;
  FileTensor& tensor = tensor_named(packed, "model.layers.0.mlp.up_proj.weight");
  tensor.dtype = "U8";  // two values of four bits a byte
  tensor.shape.back() /= 2;
  tensor.bytes.resize(tensor.bytes.size() / 8);
  EXPECT_THAT(message(packed), AllOf(HasSubstr("up_proj.weight\": its type is not read here"),
                                     HasSubstr("got U8, want F32, F16 or BF16")));
}

TEST_F(StoreOfCheckpoint, RefusesTensorsThatTheSpecDoesNotKnow) {
  for (const char* name :
       {"model.layers.0.self_attn.q_proj.bias", "model.layers.1.self_attn.o_proj.bias",
        "model.layers.0.mlp.gate_proj.bias", "model.layers.1.mlp.down_proj.bias",
        "model.layers.0.self_attn.q_norm.weight", "model.layers.0.self_attn.q_proj.weight_scale",
        "model.layers.2.input_layernorm.weight", "model.norm.bias", "lm_head.bias"}) {
    std::vector<FileTensor> more = tensors_;
    more.push_back({name, "F32", {1}, "abcd"});
    EXPECT_THAT(message(more),
                AllOf(HasSubstr(fmt::format("\"{}\"", name)), HasSubstr("no such tensor")));
  }
}

TEST_F(StoreOfCheckpoint, AppliesBiasesAndHeadNormsWhereTheSpecHasThem) {
  spec_.qkv_bias = true;
  spec_.qk_norm = true;
  write(model_tensors(spec_));
  const auto packed = store();
  EXPECT_EQ(packed->vector("model.layers.1.self_attn.q_proj.bias").size(), 40U);
  EXPECT_EQ(packed->vector("model.layers.1.self_attn.v_proj.bias").size(), 20U);
  EXPECT_EQ(packed->vector("model.layers.1.self_attn.k_norm.weight").size(), 10U);
  EXPECT_THAT(message(tensors_), HasSubstr("q_proj.bias"));  // the spec's biases are missing there
}

TEST_F(StoreOfCheckpoint, PassesOverRotaryBuffers) {
  write(tensors_);
  const std::string digest = store()->sha256();
  tensors_.push_back({"model.layers.0.self_attn.rotary_emb.inv_freq", "F32", {1}, "abcd"});
  tensors_.push_back({"model.rotary_emb.inv_freq", "F64", {1}, "abcdefgh"});
  write(tensors_);
  EXPECT_EQ(store()->sha256(), digest);
  EXPECT_THAT(remarks_, IsEmpty());
}

TEST_F(StoreOfCheckpoint, SaysThatTheHeadOfATiedModelIsUnused) {
  write(tensors_);
  const std::string digest = store()->sha256();
  tensors_.push_back({"lm_head.weight", "F32", {33, 40}, std::string(33 * 40 * 4, '\x7f')});
  write(tensors_);
  EXPECT_EQ(store()->sha256(), digest);
  EXPECT_THAT(remarks_, ElementsAre(AllOf(HasSubstr("lm_head.weight"), HasSubstr("unused"))));
}

TEST_F(StoreOfCheckpoint, NeedsTheHeadOfAnUntiedModel) {
  spec_.tied_head = false;
  EXPECT_THAT(message(tensors_), AllOf(HasSubstr("lm_head.weight"), HasSubstr("[33, 40]")));
  write(model_tensors(spec_));
  EXPECT_EQ(store()->matrix("lm_head.weight").rows, 33);
}

TEST_F(StoreOfCheckpoint, RefusesValuesThatAreNotAdmitted) {
  const auto with_value = [&](std::string_view name, float value) {
    std::vector<FileTensor> changed = tensors_;
    std::memcpy(tensor_named(changed, name).bytes.data() + 8, &value, 4);
    return message(changed);
  };
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const char* matrix = "model.layers.1.mlp.up_proj.weight";
  const char* gain = "model.layers.1.post_attention_layernorm.weight";
  for (const float bad : {infinity, -infinity, nan, 3.5e10F}) {
    EXPECT_THAT(with_value(matrix, bad), HasSubstr(fmt::format("\"{}\"", matrix))) << bad;
  }
  for (const float bad : {infinity, -infinity, nan, 0x1.000002p40F, -0x1.000002p40F}) {
    EXPECT_THAT(with_value(gain, bad), AllOf(HasSubstr(fmt::format("\"{}\"", gain)),
                                             HasSubstr("element 2"), HasSubstr("2^40")))
        << bad;
  }
}

TEST_F(StoreOfCheckpoint, TakesTheLargestGainAndMakesSubnormalOnesZero) {
  FileTensor& gain = tensor_named(tensors_, "model.norm.weight");
  const std::vector<float> values = {0x1p40F, -0x1p40F, 1e-40F, -1e-45F, 0x1p-126F};
  std::memcpy(gain.bytes.data(), values.data(), values.size() * 4);
  write(tensors_);
  const auto packed = store();
  const auto got = packed->vector("model.norm.weight");
  EXPECT_EQ(got[0], 0x1p40F);
  EXPECT_EQ(got[1], -0x1p40F);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(got[2]), 0U);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(got[3]), 0U);
  EXPECT_EQ(got[4], 0x1p-126F);
}

TEST_F(StoreOfCheckpoint, ReadsShardsAsOneFile) {
  write(tensors_);
  const std::string digest = store()->sha256();
  std::filesystem::remove(model_ / "model.safetensors");
  const auto middle = tensors_.begin() + 7;
  write_file(model_ / "1.safetensors", safetensors({tensors_.begin(), middle}));
  write_file(model_ / "2.safetensors", safetensors({middle, tensors_.end()}));
  std::string map;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    map += fmt::format(R"({}"{}":"{}.safetensors")", i == 0 ? "" : ",", tensors_[i].name,
                       i < 7 ? 1 : 2);
  }
  write_file(model_ / "model.safetensors.index.json",
             fmt::format(R"({{"weight_map":{{{}}}}})", map));
  EXPECT_EQ(store()->sha256(), digest);
}

}  // namespace
}  // namespace logos
