#include "tests/spatial/lowering/models.h"

#include <stdexcept>

#include "program/error.h"
#include "program/genuine.h"
#include "program/written.h"
#include "spatial/lowering/lowering.h"
#include "tests/small_models.h"

namespace logos::spatial {
ModelSpec spec_named(const std::string& name) {
  const auto published = preset(name);
  return published ? *published : small_model(name);
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
