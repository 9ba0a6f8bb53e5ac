// Finds the model that a name means: a preset, the embedded default, a directory, a GGUF file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "program/error.h"
#include "program/gguf_model.h"
#include "program/presets.h"
#include "program/safetensors_header.h"
#include "program/text_file.h"

namespace logos {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostConfigBytes = std::uint64_t{4} << 20;

/// The embedding and the head must have as many rows as the config has tokens.
void check_shape(const CheckpointHeader& header, std::string_view name, const ModelSpec& spec) {
  const TensorInfo* tensor = header.find(name);
  if (tensor == nullptr) return;  // what is missing is the loader's to say
  check_readable_type(*tensor);
  if (tensor->shape == std::vector<std::int64_t>{spec.vocabulary, spec.columns}) return;
  throw Error(tensor_place(tensor->file, name), "not the shape that config.json says",
              fmt::format("[{}]", fmt::join(tensor->shape, ", ")),
              fmt::format("[vocab_size {}, hidden_size {}]", spec.vocabulary, spec.columns));
}

}  // namespace

ModelReading read_model_directory(const fs::path& dir) {
  const fs::path config = dir / "config.json";
  const std::string text = read_text_file(config, kMostConfigBytes);
  const CheckpointHeader header = read_checkpoint_header(dir);
  std::optional<bool> has_head;
  if (!header.tensors.empty()) has_head = header.find("lm_head.weight") != nullptr;
  ModelReading reading = read_config(text, config.string(), has_head);
  for (std::string& remark : reading.remarks) remark.insert(0, config.string() + ": ");
  check_shape(header, "model.embed_tokens.weight", reading.spec);
  if (!reading.spec.tied_head) check_shape(header, "lm_head.weight", reading.spec);
  return reading;
}

ModelName resolve_model(std::string_view name) {
  ModelName model;
  model.name = name;
  if (const auto spec = preset(name)) {
    model.reading.spec = *spec;
    model.reading.trained_positions = preset_trained_positions(name);
    return model;
  }
  if (!name.empty() && looks_like_gguf(name)) {
    model.path = name;
    model.is_gguf = true;
    model.reading = read_gguf_model(*model.path);
    return model;
  }
  const fs::path dir = name == "kjv" ? fs::path(LOGOS_MODELS_DIR) / "kjv" : fs::path(name);
  std::error_code error;
  if (name.empty() || !fs::is_directory(dir, error)) {
    std::string names = "kjv";
    for (const std::string& known : preset_names()) names += ", " + known;
    throw Error(fmt::format("model \"{}\"", name), "no such model",
                name.empty() ? "an empty name" : "no directory of that name",
                fmt::format("a directory with config.json, a GGUF file, or one of {}", names));
  }
  model.reading = read_model_directory(dir);
  model.path = dir;
  return model;
}

}  // namespace logos
