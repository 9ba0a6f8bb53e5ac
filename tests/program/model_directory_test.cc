// Directories of models and the names that --model takes.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "program/model_spec.h"
#include "program/written.h"
#include "tests/program/helpers.h"

namespace logos {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;

json config() {
  return {{"model_type", "llama"},  {"hidden_size", 4},         {"intermediate_size", 6},
          {"num_hidden_layers", 1}, {"num_attention_heads", 2}, {"num_key_value_heads", 1},
          {"head_dim", 2},          {"vocab_size", 3},          {"rms_norm_eps", 1e-5},
          {"rope_theta", 10000},    {"hidden_act", "silu"},     {"tie_word_embeddings", false}};
}

/// A checkpoint of zeros with the tensors and shapes given.
std::string checkpoint(const std::vector<std::pair<std::string, std::vector<int>>>& tensors) {
  json header = json::object();
  std::size_t end = 0;
  for (const auto& [name, shape] : tensors) {
    std::size_t bytes = 4;
    for (const int size : shape) bytes *= static_cast<std::size_t>(size);
    header[name] = {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {end, end + bytes}}};
    end += bytes;
  }
  const std::string text = header.dump();
  std::string file(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) file[i] = static_cast<char>((text.size() >> (8 * i)) & 0xFF);
  return file + text + std::string(end, '\0');
}

constexpr const char* kEmbedding = "model.embed_tokens.weight";
constexpr const char* kHead = "lm_head.weight";

TEST(ModelDirectory, NeedsOnlyAConfig) {
  const TemporaryFolder folder;
  folder.write("config.json", config().dump());
  const ModelReading reading = read_model_directory(folder.path());
  EXPECT_EQ(reading.spec.vocabulary, 3);
  EXPECT_FALSE(reading.spec.tied_head);
}

TEST(ModelDirectory, TiesTheHeadThatTheCheckpointLacks) {
  const TemporaryFolder folder;
  folder.write("config.json", config().dump());
  folder.write("model.safetensors", checkpoint({{kEmbedding, {3, 4}}}));
  const ModelReading tied = read_model_directory(folder.path());
  EXPECT_TRUE(tied.spec.tied_head);
  EXPECT_THAT(tied.remarks, Contains(testing::AllOf(
                                testing::StartsWith((folder.path() / "config.json: ").string()),
                                HasSubstr("no lm_head.weight"))));
  folder.write("model.safetensors", checkpoint({{kEmbedding, {3, 4}}, {kHead, {3, 4}}}));
  EXPECT_FALSE(read_model_directory(folder.path()).spec.tied_head);
}

TEST(ModelDirectory, RefusesAVocabularyThatIsNotTheMatrices) {
  const TemporaryFolder folder;
  json wrong = config();
  for (const int vocabulary : {2, 4}) {
    wrong["vocab_size"] = vocabulary;
    folder.write("config.json", wrong.dump());
    folder.write("model.safetensors", checkpoint({{kEmbedding, {3, 4}}, {kHead, {3, 4}}}));
    const std::string message = error_of([&] { read_model_directory(folder.path()); });
    EXPECT_THAT(message, HasSubstr("model.embed_tokens.weight"));
    EXPECT_THAT(message, HasSubstr("not the shape that config.json says; got [3, 4], want "
                                   "[vocab_size " +
                                   std::to_string(vocabulary) + ", hidden_size 4]"));
  }
  folder.write("config.json", config().dump());
  folder.write("model.safetensors", checkpoint({{kEmbedding, {3, 4}}, {kHead, {4, 4}}}));
  EXPECT_THAT(error_of([&] { read_model_directory(folder.path()); }), HasSubstr("lm_head.weight"));
}

TEST(ModelDirectory, NamesATypeThatIsNotReadAndNotTheShapeItIsPackedIn) {
  const TemporaryFolder folder;
  folder.write("config.json", config().dump());
  std::string file = checkpoint({{kEmbedding, {3, 2}}, {kHead, {3, 4}}});
  file.replace(file.rfind("F32"), 3, "I32");  // the embedding's: names are in order
  folder.write("model.safetensors", file);
  EXPECT_THAT(error_of([&] { read_model_directory(folder.path()); }),
              HasSubstr("its type is not read here; got I32, want F32, F16 or BF16"));
}

TEST(ModelDirectory, RefusesWhatIsNoneByPath) {
  const TemporaryFolder folder;
  EXPECT_THAT(error_of([&] { read_model_directory(folder.path()); }), HasSubstr("config.json"));
  std::filesystem::create_directory(folder.path() / "config.json");
  EXPECT_THAT(error_of([&] { read_model_directory(folder.path()); }), HasSubstr("config.json"));
}

TEST(ResolveModel, KnowsPresetsTheDefaultAndDirectories) {
  const ModelName preset_name = resolve_model("qwen3-0.6b");
  EXPECT_EQ(preset_name.reading.spec, *preset("qwen3-0.6b"));
  EXPECT_EQ(preset_name.path, std::nullopt);
  EXPECT_EQ(preset_name.reading.trained_positions, 40960);
  const ModelName kjv = resolve_model("kjv");
  EXPECT_EQ(kjv.path, std::filesystem::path(LOGOS_SOURCE_DIR) / "models/kjv");
  EXPECT_EQ(kjv.reading.spec.vocabulary, 256);
  EXPECT_TRUE(kjv.reading.spec.tied_head);
  EXPECT_EQ(kjv.reading.trained_positions, 512);
  const ModelName path = resolve_model(LOGOS_SOURCE_DIR "/models/kjv");
  EXPECT_EQ(path.reading.spec, kjv.reading.spec);
}

TEST(ResolveModel, RefusesOtherNamesWithTheOnesItKnows) {
  const std::string message = error_of([] { resolve_model("no-such-model"); });
  EXPECT_THAT(message, HasSubstr("model \"no-such-model\": no such model"));
  EXPECT_THAT(message, HasSubstr("kjv, llama-3.2-1b"));
  EXPECT_THROW(resolve_model(""), Error);
}

}  // namespace
}  // namespace logos
