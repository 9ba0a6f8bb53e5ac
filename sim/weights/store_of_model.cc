#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "program/error.h"
#include "program/identity.h"
#include "program/safetensors_json.h"
#include "sim/weights/checkpoint.h"
#include "sim/weights/checkpoint_source.h"
#include "sim/weights/gguf_source.h"
#include "sim/weights/pack.h"
#include "sim/weights/plan.h"
#include "sim/weights/store.h"
#include "sim/weights/store_format.h"
#include "sim/weights/synthetic_source.h"

namespace logos {
namespace {

/// Where the numbers of a packed store come from; its digest names the store's file.
std::string source_digest(const std::vector<PlannedTensor>& plan, Profile profile,
                          const nlohmann::json& origin, const std::string& where) {
  return sha256_hex(fmt::format("{}{}\n{}", kStoreMagic, origin.dump(),
                                content_text(lay_out(plan, where, profile))));
}

/// What a safetensors checkpoint holds is packed in profile A, what a GGUF file holds in profile B.
void check_spec(const ModelSpec& spec, Profile profile, const std::string& where) {
  validate(spec, where);
  if (spec.profile != profile) {
    throw Error(where, "weights of this profile are not packed from here",
                spec.profile == Profile::kA ? "profile A" : "profile B",
                profile == Profile::kA ? "profile A" : "profile B");
  }
}

/// A row of Q8_0 is whole blocks.
void check_whole_groups(const ModelSpec& spec, const std::string& where) {
  for (const PlannedTensor& tensor : weight_plan(spec)) {
    if (!tensor.is_matrix || tensor.columns % kGroup == 0) continue;
    throw Error(fmt::format("{}: tensor {}", where, in_quotes(tensor.name)),
                "a row of profile B is no whole number of groups",
                fmt::format("{} columns", tensor.columns), fmt::format("a multiple of {}", kGroup));
  }
}

/// A store that is there and whole is used as it is; a damaged one is told of and replaced.
std::unique_ptr<WeightStore> reuse_or_pack(const std::filesystem::path& file,
                                           const std::string& source,
                                           const std::vector<PlannedTensor>& plan, Profile profile,
                                           RowSource& rows, std::vector<std::string>* remarks) {
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored)) {
    try {
      return open_store(file, source);
    } catch (const Error& error) {
      if (remarks != nullptr) {
        remarks->push_back(fmt::format("{}; the weights are packed again", error.what()));
      }
    }
  }
  pack(plan, rows, source, file, profile);
  return open_store(file, source);
}

}  // namespace

std::filesystem::path store_directory() {
  const auto folder = [](const char* variable) -> std::filesystem::path {
    const char* value = std::getenv(variable);
    return value == nullptr ? "" : value;
  };
  if (auto own = folder("LOGOS_STORE"); !own.empty()) return own;
  if (const auto cache = folder("XDG_CACHE_HOME"); !cache.empty()) return cache / "logos-workbench";
  if (const auto home = folder("HOME"); !home.empty()) return home / ".cache" / "logos-workbench";
  throw Error("LOGOS_STORE", "no folder for packed weights is known",
              "neither LOGOS_STORE nor XDG_CACHE_HOME nor HOME", "one of them set");
}

std::unique_ptr<WeightStore> store_of_checkpoint(const std::filesystem::path& dir,
                                                 const ModelSpec& spec,
                                                 std::vector<std::string>& remarks) {
  check_spec(spec, Profile::kA, dir.string());
  const Checkpoint checkpoint(dir);
  if (checkpoint.header().tensors.empty()) {
    throw Error(dir.string(), "holds no tensors", "none",
                "model.safetensors or model.safetensors.index.json with its shards");
  }
  const std::vector<PlannedTensor> plan = weight_plan(spec);
  check_tensors(checkpoint.header(), plan, spec, dir, remarks);
  const std::string source = source_digest(
      plan, spec.profile, {{"checkpoint", checkpoint.content_sha256()}}, dir.string());
  CheckpointSource rows(checkpoint);
  return reuse_or_pack(store_directory() / fmt::format("checkpoint-{}.weights", source), source,
                       plan, spec.profile, rows, &remarks);
}

std::unique_ptr<WeightStore> store_of_gguf(const std::filesystem::path& file, const ModelSpec& spec,
                                           std::vector<std::string>* remarks) {
  check_spec(spec, Profile::kB, file.string());
  const GgufCheckpoint checkpoint(file);
  const std::vector<PlannedTensor> plan = weight_plan(spec);
  check_tensors(checkpoint.header(), plan);
  const std::string source =
      source_digest(plan, spec.profile, {{"gguf", checkpoint.content_sha256()}}, file.string());
  GgufSource rows(checkpoint, spec.head_columns);
  return reuse_or_pack(store_directory() / fmt::format("gguf-{}.weights", source), source, plan,
                       spec.profile, rows, remarks);
}

std::unique_ptr<WeightStore> synthetic_store(const ModelSpec& spec, std::uint64_t seed,
                                             std::vector<std::string>* remarks) {
  const std::string where = fmt::format("synthetic weights of seed {}", seed);
  check_spec(spec, spec.profile, where);
  if (spec.profile == Profile::kB) check_whole_groups(spec, where);
  const std::vector<PlannedTensor> plan = weight_plan(spec);
  // "generator" counts up whenever synthetic_source.cc makes other numbers.
  const std::string source =
      source_digest(plan, spec.profile, {{"generator", 1}, {"seed", seed}}, where);
  SyntheticSource rows(seed);
  return reuse_or_pack(store_directory() / fmt::format("synthetic-{}.weights", source), source,
                       plan, spec.profile, rows, remarks);
}

}  // namespace logos
