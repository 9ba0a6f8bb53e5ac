// Plans of the lane d5005: what is taken is written again byte for byte; of a plan that passes its
// checks, the image lies in the banks, and what is observed can be planned.
#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

#include "program/check.h"
#include "rtl/lowering/check_plan.h"
#include "rtl/lowering/lowering.h"
#include "rtl/lowering/memory_image.h"
#include "rtl/lowering/observed.h"
#include "rtl/lowering/plan.h"
#include "rtl/lowering/traffic.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace logos;
using namespace logos::d5005;

constexpr std::int64_t kColumns = 128;  // of the model of the seeds (kjv)
constexpr std::int64_t kLargest = 512;  // rows and columns of any other matrix

/// Every tensor that is asked for, in sizes that the seeds' tensors fit into.
class AnyWeights : public WeightStore {
 public:
  MatrixView matrix(std::string_view tensor) const override {
    const auto named = [&](std::string_view part) { return tensor.find(part) != tensor.npos; };
    const std::int64_t columns = named("embed") ? kColumns : kLargest;
    const std::int64_t rows = named("o_proj") || named("down_proj") ? kColumns : kLargest;
    return {rows, columns, columns, columns / 32, q_, multipliers_, scales_};
  }
  std::span<const float> vector(std::string_view) const override {
    return std::span(scales_).first(kColumns);
  }
  const std::string& sha256() const override { return name_; }
  const std::filesystem::path& file() const override { return file_; }

 private:
  std::vector<std::int8_t> q_ = std::vector<std::int8_t>(kLargest * kLargest, 1);
  std::vector<std::uint8_t> multipliers_ = std::vector<std::uint8_t>(kLargest * kLargest / 32, 1);
  std::vector<float> scales_ = std::vector<float>(kLargest, 1.0F);
  std::string name_;
  std::filesystem::path file_;
};

/// Inputs of the last positions of a run, with caches where the plan has some.
Inputs inputs_of(const Plan& plan) {
  Inputs inputs;
  const std::int64_t reach = std::min<std::int64_t>(plan.capacity, 40);
  for (std::int64_t r = 0; r < plan.rows; ++r) {
    if (plan.has_tokens) inputs.tokens.push_back(1);
    if (plan.has_positions) {
      inputs.positions.push_back(plan.is_chunk ? 1 + r : std::max<std::int64_t>(1, reach));
    }
  }
  if (plan.has_given) inputs.given.resize(static_cast<std::size_t>(plan.rows * plan.columns));
  const std::vector<CacheItem>& caches = plan.boards.front().caches;
  if (caches.empty()) return inputs;
  std::int64_t first = caches.front().layer;
  std::int64_t last = first;
  for (const BoardPlan& board : plan.boards) {
    for (const CacheItem& item : board.caches) {
      first = std::min(first, item.layer);
      last = std::max(last, item.layer);
    }
  }
  if (last - first > 64 || plan.key_heads > 64) return inputs;
  const std::int64_t positions = std::max(reach, plan.rows);
  for (std::int64_t c = 0; c < (plan.each_row_caches ? plan.rows : 1); ++c) {
    inputs.caches.emplace_back(positions, plan.key_heads, plan.head_columns, first,
                               last - first + 1);
  }
  return inputs;
}

void use(const Plan& plan, const WeightStore& weights) {
  if (plan.rows > 64) return;
  const Inputs inputs = inputs_of(plan);
  if (!plan.boards.front().caches.empty() && inputs.caches.empty()) return;
  traffic_of(plan, inputs);
  Identity identity;
  identity.sha256 = std::string(64, '0');
  for (std::size_t board = 0; board < plan.boards.size(); ++board) {
    write_image(plan, board, weights, inputs, identity, std::byte{0},
                [&](std::int64_t at, std::span<const std::byte> bytes) {
                  const auto beats = static_cast<std::int64_t>(bytes.size()) / kSuperBeatBytes;
                  CHECK(at >= 0 && beats >= 1 && at <= plan.engine.super_beats - beats);
                });
  }
  observe(plan, inputs.positions);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const AnyWeights weights;
  const auto bytes = logos::bytes_of(data, size);
  Plan plan;
  if (!taken([&] { plan = parse_plan(bytes, "fuzz"); })) return 0;
  CHECK(serialise_plan(plan) == bytes);
  const auto chips = static_cast<std::int64_t>(plan.boards.size());
  const bool passed =
      chips >= 1 && taken([&] { check_plan(plan, engine_size(8, 8), chips, weights, "fuzz"); });
  if (passed) taken([&] { use(plan, weights); });
  return 0;
}
