#include "tests/spatial/lowering/models.h"

#include <stdexcept>

#include "program/error.h"
#include "program/genuine.h"
#include "program/written.h"
#include "spatial/lowering/lowering.h"

namespace logos::spatial {
namespace {

ModelSpec small(std::int64_t columns, std::int64_t query_heads, std::int64_t key_heads,
                std::int64_t head_columns, std::int64_t hidden_columns) {
  ModelSpec spec;
  spec.layers = 2;
  spec.columns = columns;
  spec.query_heads = query_heads;
  spec.key_heads = key_heads;
  spec.head_columns = head_columns;
  spec.hidden_columns = hidden_columns;
  spec.vocabulary = 97;
  spec.norm_epsilon = 1e-5;
  return spec;
}

}  // namespace

ModelSpec spec_named(const std::string& name) {
  if (name == "kjv") return read_model_directory(LOGOS_SOURCE_DIR "/models/kjv").spec;
  if (const auto published = preset(name)) return *published;
  if (name == "llama") return small(75, 4, 2, 18, 100);
  if (name == "mistral") {
    ModelSpec spec = small(64, 3, 1, 24, 172);
    spec.window = 3;
    return spec;
  }
  if (name == "qwen2") {
    ModelSpec spec = small(48, 6, 2, 8, 33);
    spec.qkv_bias = true;
    spec.tied_head = true;
    return spec;
  }
  if (name == "qwen3") {
    ModelSpec spec = small(96, 4, 4, 34, 64);
    spec.qk_norm = true;
    spec.tied_head = true;
    return spec;
  }
  throw std::runtime_error("no model " + name);
}

ChipConfig chip_named(const std::string& file, const Settings& settings) {
  return parse_chip_config(
      load_chip_config(std::string(LOGOS_SOURCE_DIR "/configs/chips/") + file, settings).json);
}

Job job_of(const std::string& model, const std::string& cut, std::int64_t chips) {
  const Written written = written_split(spec_named(model), Cut::parse(cut), chips);
  return {read_facts(written.text, "test"), read_genuine(written.text, "test", written.identity)};
}

WeightSizes::WeightSizes(const Job& job) {
  for (const Matrix& matrix : job.programs.front().matrices) {
    MatrixView view;
    view.rows = matrix.rows;
    view.columns = matrix.columns;
    matrices_[matrix.tensor] = view;
  }
  for (const Vector& vector : job.programs.front().vectors) {
    vectors_[vector.tensor].resize(static_cast<std::size_t>(vector.size));
  }
}

MatrixView WeightSizes::matrix(std::string_view tensor) const {
  const auto found = matrices_.find(tensor);
  if (found == matrices_.end()) throw Error("weights", "no matrix " + std::string(tensor));
  return found->second;
}

std::span<const float> WeightSizes::vector(std::string_view tensor) const {
  const auto found = vectors_.find(tensor);
  if (found == vectors_.end()) throw Error("weights", "no vector " + std::string(tensor));
  return found->second;
}

Plan lowered(const std::string& model, const std::string& cut, std::int64_t chips,
             const ChipConfig& config) {
  const Job job = job_of(model, cut, chips);
  return lower_programs(job.facts, job.programs, config);
}

}  // namespace logos::spatial
