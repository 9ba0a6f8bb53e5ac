// What a whole run's modelled time and bound are made of.

#include <gtest/gtest.h>

#include "scoring.h"
#include "tests/small_shape.h"

namespace logos::cuda::testing {
namespace {

/// A head of 16 MB over two small layers.
ModelSpec wide_head() { return small_shape(512, 8, 2, 64, 512, 32768); }

const Model& model() {
  static const Model kModel(wide_head(), 1);
  return kModel;
}

Timing timing_of(const std::string& cut, std::int64_t rows, std::int64_t last) {
  const CudaLane lane(plain_host());
  const Lowered lowered = lower(lane, model(), cut, gpu_config());
  Inputs inputs;
  const bool is_head = cut.starts_with("head@");
  for (std::int64_t row = 0; row < rows; ++row) {
    if (!cut.starts_with("layer:") && !is_head) inputs.tokens.push_back(1 + row);
    if (!is_head) inputs.positions.push_back(cut.find("prefill") < 99 ? row + 1 : last);
    if (!is_head && (row == 0 || cut.find("batch") < 99)) {
      inputs.caches.push_back(empty_cache(model().spec, last));
    }
  }
  if (inputs.tokens.empty()) {
    inputs.given.assign(static_cast<std::size_t>(rows * model().spec.columns), 0.5F);
  }
  return run(lane, model(), lowered, gpu_config(), inputs).timing;
}

GpuConfig gpu() { return parse_cuda_config(gpu_config().json).gpu; }

TEST(CudaLaneTime, AHeadTakesItsBytesOverTheBandwidthThatAGoodKernelReaches) {
  const Timing timing = timing_of("head@decode:64", 1, 64);
  const auto bytes = static_cast<double>(timing.bytes.at("hbm"));
  EXPECT_GT(bytes, 32768.0 * 512);
  EXPECT_LT(bytes, 1.1 * 32768 * 512);
  // A norm and a product.
  const double gaps = 2 * gpu().launch_us * 1e-6;
  const double stream = bytes / (gpu().hbm_gb_per_s * 1e9 * gpu().hbm_efficiency);
  EXPECT_NEAR(timing.seconds - gaps, stream, 0.03 * stream);
  const auto& cycles = *timing.cycles_by_category;
  const auto weights =
      static_cast<double>(cycles[static_cast<std::size_t>(Category::kWeightStream)]);
  EXPECT_NEAR(weights / *timing.clock_hz, stream, 0.03 * stream);
}

TEST(CudaLaneTime, TheBoundFollowsFromTheFiguresBesideIt) {
  struct Case {
    std::string cut;
    std::int64_t rows;
    std::int64_t last;
  };
  for (const Case& c :
       {Case{"head@decode:64", 1, 64}, Case{"decode:64", 1, 64}, Case{"prefill:70", 70, 70},
        Case{"batch:12x40", 12, 40}, Case{"layer:1@prefill:40", 40, 40}}) {
    SCOPED_TRACE(c.cut);
    const Timing timing = timing_of(c.cut, c.rows, c.last);
    const double idle = static_cast<double>(
        (*timing.cycles_by_category)[static_cast<std::size_t>(Category::kIdle)]);
    const std::map<std::string, double> seconds = {
        {"hbm", static_cast<double>(timing.bytes.at("hbm")) / (gpu().hbm_gb_per_s * 1e9)},
        {"int8", static_cast<double>(timing.macs) * 4 / (gpu().int8_tensor_tops * 1e12)},
        {"launch", idle / *timing.clock_hz}};
    double most = 0;
    for (const auto& [name, time] : seconds) most = std::max(most, time);
    EXPECT_NEAR(seconds.at(timing.bound->name), most, 2e-9);
    EXPECT_NEAR(timing.bound->fraction, most / timing.seconds, 1e-3);
  }
}

}  // namespace
}  // namespace logos::cuda::testing
