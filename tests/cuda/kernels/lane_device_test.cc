// The lane on a GPU that a driver of our own plays (tests/cuda/host/test_driver.cc), and that fails
// in the middle of a run: the host takes over, and nobody sees a thing twice.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <sstream>

#include "cuda/host/executor.h"
#include "cuda/kernels/table.h"
#include "scoring.h"
#include "sim/dump.h"
#include "tests/small_shape.h"

namespace logos::cuda::testing {
namespace {

using ::testing::HasSubstr;

constexpr char kImage[] = "image of a test";

std::vector<Kernel> all_kernels() {
  const Kernels& k = kernels();
  return {k.embed_rows,
          k.norm_rows,
          k.silu_rows,
          k.quantize_rows,
          k.product_dp4a_1,
          k.product_dp4a_2,
          k.product_dp4a_4,
          k.product_dp4a_8,
          k.product_mma,
          k.product_dp4a_1_half,
          k.product_dp4a_2_half,
          k.product_dp4a_4_half,
          k.product_dp4a_8_half,
          k.product_mma_half,
          k.head_blocks,
          k.attention_scores,
          k.attention_values,
          k.attention_rows,
          k.add_rows,
          k.scale_sums,
          k.held_rows,
          k.join_rows};
}
Kernel kernel_named(std::string_view name) {
  for (const Kernel& kernel : all_kernels()) {
    if (kernel.name == name) return kernel;
  }
  throw std::out_of_range(std::string(name));
}
std::size_t bytes_of(const char* name) { return kernel_named(name).args_bytes; }
void run_on_executor(const char* name, const unsigned (&shape)[7], void* argument) {
  const Kernel kernel = kernel_named(name);
  host::Executor executor;
  executor.run(kernel.name,
               {{shape[0], shape[1], shape[2]}, {shape[3], shape[4], shape[5]}, shape[6]},
               kernel.host, argument, kernel.early_exit);
}

ModelSpec small_spec() {
  ModelSpec spec = small_shape(40, 4, 2, 10, 36, 33);
  spec.norm_epsilon = 1e-6;
  return spec;
}

/// A run with everything that it showed.
struct Shown {
  std::string operations;
  std::string outputs;
  TimeClass time_class = TimeClass::kRtl;
  std::vector<std::string> said;
};

class LaneOnADevice : public ::testing::Test {
 protected:
  void SetUp() override {
    void* library = dlopen(LOGOS_TEST_DRIVER, RTLD_NOW);
    ASSERT_NE(library, nullptr) << dlerror();
    using Install = void (*)(decltype(&run_on_executor), std::size_t);
    reinterpret_cast<Install>(dlsym(library, "logos_test_driver_run"))(&run_on_executor, 0);
    using Sizes = void (*)(decltype(&bytes_of));
    reinterpret_cast<Sizes>(dlsym(library, "logos_test_driver_sizes"))(&bytes_of);
    fail_at("");
    unsetenv("LOGOS_TEST_DRIVER_DEVICES");
  }
  void TearDown() override { fail_at(""); }

  static void fail_at(const std::string& function) {
    setenv("LOGOS_TEST_DRIVER_FAIL", function.c_str(), 1);
  }

  Shown show(CudaLaneOptions options) const {
    Shown shown;
    options.say = [&](const std::string& line) { shown.said.push_back(line); };
    const CudaLane lane(options);
    Inputs inputs;
    inputs.tokens = {4, 7, 1};
    inputs.positions = {1, 2, 3};
    inputs.caches.push_back(empty_cache(model_.spec, 8));
    Dump dump;
    RunOptions run_options;
    run_options.observer = &dump;
    const LaneConfig config = gpu_config();
    const Result result =
        run(lane, model_, lower(lane, model_, "prefill:3", config), config, inputs, run_options);
    std::ostringstream out;
    dump.end_run({0, 0, 0}, out);
    shown.operations = out.str();
    shown.outputs = digest(result.outputs);
    shown.time_class = result.timing.time_class;
    return shown;
  }
  CudaLaneOptions device() const {
    CudaLaneOptions options;
    options.device = {.driver = LOGOS_TEST_DRIVER,
                      .cubins = {{"sm_90", std::as_bytes(std::span(kImage)), false}}};
    return options;
  }

  Model model_{small_spec(), 3};
};

TEST_F(LaneOnADevice, ShowsWhatTheHostShows) {
  const Shown host = show(plain_host());
  const Shown device_run = show(device());
  EXPECT_EQ(device_run.time_class, TimeClass::kMeasured);
  EXPECT_EQ(device_run.outputs, host.outputs);
  EXPECT_EQ(device_run.operations, host.operations);
  EXPECT_THAT(host.operations, HasSubstr("\"logits\""));
}

TEST_F(LaneOnADevice, ShowsEachOperationOnceWhereItFailsInTheMiddle) {
  const Shown host = show(plain_host());
  // From the first values that are shown until after the last of them, in the replays.
  for (const char* function :
       {"cuMemcpyDtoHAsync_v2:1", "cuMemcpyDtoHAsync_v2:2", "cuMemcpyDtoHAsync_v2:40",
        "cuLaunchKernel:20", "cuStreamSynchronize:9", "cuGraphLaunch:1", "cuGraphLaunch:5",
        "cuEventElapsedTime:3"}) {
    SCOPED_TRACE(function);
    fail_at(function);
    const Shown shown = show(device());
    EXPECT_EQ(shown.time_class, TimeClass::kModelled);
    EXPECT_EQ(shown.outputs, host.outputs);
    EXPECT_EQ(shown.operations, host.operations);
    ASSERT_EQ(shown.said.size(), 1U);
    EXPECT_THAT(shown.said[0], HasSubstr("kernels run on this host ("));
    EXPECT_THAT(shown.said[0], HasSubstr("error 999 (unknown error of a test)"));
  }
}

}  // namespace
}  // namespace logos::cuda::testing
