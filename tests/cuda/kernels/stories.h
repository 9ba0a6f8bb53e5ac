#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "cuda/lane.h"
#include "program/written.h"
#include "sim/weights/store.h"

namespace logos::cuda::testing {

inline nlohmann::json read_json(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  return nlohmann::json::parse(in);
}

/// A model directory with its store.
struct Model {
  explicit Model(const std::filesystem::path& dir_of) : dir(dir_of) {
    spec = read_config(read_json(dir / "config.json").dump(), dir.string(), false).spec;
    std::vector<std::string> remarks;
    store = store_of_checkpoint(dir, spec, remarks);
  }
  /// Synthetic weights of a shape.
  Model(const ModelSpec& spec_of, std::uint64_t seed)
      : spec(spec_of), store(synthetic_store(spec_of, seed)) {}
  std::filesystem::path dir;
  ModelSpec spec;
  std::unique_ptr<WeightStore> store;
};

inline Model stories() {
  return Model(std::filesystem::path(LOGOS_SHARED_DIR) / "models" / "stories260K");
}
inline std::filesystem::path golden(const std::string& name) {
  return std::filesystem::path(LOGOS_SHARED_DIR) / "golden" / name;
}

/// The configuration of the default GPU, with the lane's own key where one is given.
inline LaneConfig gpu_config(std::int64_t gemm_rows = 0) {
  LaneConfig config = load_gpu_config(
      std::filesystem::path(LOGOS_SOURCE_DIR) / "configs" / "gpus" / kDefaultGpu, {});
  if (gemm_rows > 0) {
    auto root = nlohmann::json::parse(config.json);
    root["gemm_rows"] = gemm_rows;
    config.json = root.dump();
  }
  return config;
}

/// The lane on the host with every check on.
inline CudaLaneOptions checked_host() {
  CudaLaneOptions options;
  options.host_only = true;
  options.check = true;
  return options;
}
inline CudaLaneOptions plain_host() {
  CudaLaneOptions options;
  options.host_only = true;
  return options;
}

/// SHA-256 of binary32 values as little-endian bytes.
inline std::string digest(std::span<const float> values) {
  return sha256_hex({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
}

inline KvCache empty_cache(const ModelSpec& spec, std::int64_t positions) {
  return KvCache(positions, spec.key_heads, spec.head_columns, 1, spec.layers);
}

/// A lowered cut.
struct Lowered {
  Written cut;
  Artifact artifact;
};
inline Lowered lower(const Lane& lane, const Model& model, const std::string& cut,
                     const LaneConfig& config, std::int64_t chips = 1) {
  Written text = written_split(model.spec, Cut::parse(cut), chips);
  Artifact artifact = lane.lower(text.text, text.identity, *model.store, config);
  return {std::move(text), std::move(artifact)};
}
inline Result run(const Lane& lane, const Model& model, const Lowered& lowered,
                  const LaneConfig& config, Inputs& inputs, const RunOptions& options = {}) {
  return lane.run(lowered.artifact, lowered.cut.identity, *model.store, config, inputs, options);
}

}  // namespace logos::cuda::testing
