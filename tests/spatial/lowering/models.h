#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "program/facts.h"
#include "program/program.h"
#include "sim/weights/store.h"
#include "spatial/chip_config.h"
#include "spatial/plan/plan.h"

namespace logos::spatial {

/// A preset or a small model (tests/small_models.h).
ModelSpec spec_named(const std::string& name);

using Settings = std::vector<ChipSetting>;
/// A chip of configs/chips with settings over it.
ChipConfig chip_named(const std::string& file, const Settings& settings = {});

/// A cut as `lower` of a lane reads it.
struct Job {
  Facts facts;
  std::vector<Program> programs;
};
Job job_of(const std::string& model, const std::string& cut, std::int64_t chips = 1);

/// Weights of a job's programs of which only the sizes are there.
class WeightSizes : public WeightStore {
 public:
  explicit WeightSizes(const Job& job);
  MatrixView matrix(std::string_view tensor) const override;
  std::span<const float> vector(std::string_view tensor) const override;
  const std::string& sha256() const override { return sha256_; }
  const std::filesystem::path& file() const override { return file_; }

 private:
  std::map<std::string, MatrixView, std::less<>> matrices_;
  std::map<std::string, std::vector<float>, std::less<>> vectors_;
  std::string sha256_;
  std::filesystem::path file_;
};

Plan lowered(const std::string& model, const std::string& cut, std::int64_t chips,
             const ChipConfig& config);

}  // namespace logos::spatial
