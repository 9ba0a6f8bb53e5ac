#include "cuda/device.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <thread>
#include <vector>

#include "cuda/machine_keeper.h"
#include "tests/cuda/host/test_kernels.h"

namespace logos::cuda {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kImage[] = "image of a test";

Cubin cubin(std::string_view architecture, bool is_ptx = false) {
  return {architecture, std::as_bytes(std::span(kImage)), is_ptx};
}

void run_on_executor(const char* name, const unsigned (&shape)[7], void* argument) {
  const Kernel kernel = LOGOS_KERNEL(test_sum);
  ASSERT_EQ(name, kernel.name);
  host::Executor executor;
  executor.run(name, {{shape[0], shape[1], shape[2]}, {shape[3], shape[4], shape[5]}, shape[6]},
               kernel.host, argument);
}

/// The driver of tests/cuda/host/test_driver.cc.
class Device : public ::testing::Test {
 protected:
  void SetUp() override {
    void* library = dlopen(LOGOS_TEST_DRIVER, RTLD_NOW);
    ASSERT_NE(library, nullptr) << dlerror();
    using Install = void (*)(decltype(&run_on_executor), std::size_t);
    reinterpret_cast<Install>(dlsym(library, "logos_test_driver_run"))(&run_on_executor,
                                                                       sizeof(SumArguments));
    live_ = reinterpret_cast<int (*)()>(dlsym(library, "logos_test_driver_live"));
    fail_at("");
    unsetenv("LOGOS_TEST_DRIVER_DEVICES");
  }
  void TearDown() override {
    fail_at("");
    EXPECT_EQ(live_(), 0) << "handles or memory not given back";
  }

  static void fail_at(const std::string& function) {
    setenv("LOGOS_TEST_DRIVER_FAIL", function.c_str(), 1);
  }

  DeviceOptions options_{.driver = LOGOS_TEST_DRIVER, .cubins = {cubin("sm_90")}};

 private:
  int (*live_)() = nullptr;
};

/// Sums 1 … 1000 on the machine, once plainly and once as a graph.
int sum_on(Machine& machine) {
  std::vector<int> in(1000);
  std::iota(in.begin(), in.end(), 1);
  const Buffer from = machine.allocate(4000, "in");
  const Buffer to = machine.allocate(8, "out");
  machine.upload(from.data(), std::as_bytes(std::span(in)));
  const auto work = [&] {
    machine.fill(to.data(), 0, 8);
    machine.launch(LOGOS_KERNEL(test_sum), {{4}, {256}, 60 * 1024},
                   SumArguments{from.as<int>(), to.as<int>(), 1000}, {.other_bytes = 4000});
  };
  work();
  const auto seconds = machine.median_seconds(work, 5);
  EXPECT_EQ(seconds.has_value(), machine.time_class() == TimeClass::kMeasured);
  machine.synchronize();
  EXPECT_EQ(machine.records().size(), 1U);
  int out[2];
  machine.download(std::as_writable_bytes(std::span(out)), to.data());
  return out[0];
}

struct Outcome {
  int sum = 0;
  TimeClass time_class = TimeClass::kRtl;
  std::vector<std::string> said;
};

Outcome run_anywhere(const DeviceOptions& options) {
  Outcome outcome;
  MachineKeeper keeper;
  MachineKeeper::Request request;
  request.device = &options;
  keeper.run(
      request,
      [&](Machine& machine, WeightMemory&) {
        outcome.sum = sum_on(machine);
        outcome.time_class = machine.time_class();
      },
      [&](const std::string& line) { outcome.said.push_back(line); });
  return outcome;
}

TEST_F(Device, RunsKernelsAndGraphsThroughTheDriver) {
  const Outcome outcome = run_anywhere(options_);
  EXPECT_EQ(outcome.sum, 500500);
  EXPECT_EQ(outcome.time_class, TimeClass::kMeasured);
  EXPECT_THAT(outcome.said, ::testing::ElementsAre(HasSubstr(
                                "kernels run on Test GPU (compute capability 9.0, sm_90 image)")));
}

/// The host takes over with the same result and one line that names the cause.
void expect_host(const Outcome& outcome, const std::string& cause) {
  EXPECT_EQ(outcome.sum, 500500);
  EXPECT_EQ(outcome.time_class, TimeClass::kModelled);
  ASSERT_EQ(outcome.said.size(), 1U);
  EXPECT_THAT(outcome.said[0], HasSubstr("kernels run on this host ("));
  EXPECT_THAT(outcome.said[0], HasSubstr(cause));
  EXPECT_THAT(outcome.said[0], Not(HasSubstr("\n")));
}

TEST_F(Device, AnyFunctionThatFailsLetsTheHostTakeOver) {
  const std::vector<std::string> functions = {"cuInit",
                                              "cuDriverGetVersion",
                                              "cuDeviceGetCount",
                                              "cuDeviceGet",
                                              "cuDeviceGetName",
                                              "cuDeviceGetAttribute",
                                              "cuDevicePrimaryCtxRetain",
                                              "cuCtxSetCurrent",
                                              "cuModuleLoadData",
                                              "cuModuleGetFunction",
                                              "cuFuncSetAttribute",
                                              "cuMemAlloc_v2",
                                              "cuMemcpyHtoDAsync_v2",
                                              "cuMemcpyDtoHAsync_v2",
                                              "cuMemsetD8Async",
                                              "cuStreamCreate",
                                              "cuStreamSynchronize",
                                              "cuStreamBeginCapture_v2",
                                              "cuStreamEndCapture",
                                              "cuGraphInstantiateWithFlags",
                                              "cuGraphLaunch",
                                              "cuEventCreate",
                                              "cuEventRecord",
                                              "cuEventSynchronize",
                                              "cuEventElapsedTime",
                                              "cuLaunchKernel"};
  for (const std::string& function : functions) {
    SCOPED_TRACE(function);
    fail_at(function);
    expect_host(run_anywhere(options_), "error 999 (unknown error of a test)");
  }
}

TEST_F(Device, NoDevicesLetsTheHostTakeOver) {
  setenv("LOGOS_TEST_DRIVER_DEVICES", "0", 1);
  expect_host(run_anywhere(options_), "the CUDA driver (version 13000) shows no GPU");
}

TEST_F(Device, AMissingDriverLetsTheHostTakeOver) {
  options_.driver = "/nowhere/libcuda.so.1";
  expect_host(run_anywhere(options_), "no CUDA driver: /nowhere/libcuda.so.1");
}

TEST_F(Device, ALibraryWithoutTheFunctionsLetsTheHostTakeOver) {
  options_.driver = "libm.so.6";
  expect_host(run_anywhere(options_), "libm.so.6: too old or damaged: no cuInit");
}

TEST_F(Device, KernelsForOtherDevicesLetTheHostTakeOver) {
  options_.cubins = {cubin("sm_80"), cubin("sm_100a")};
  expect_host(run_anywhere(options_), "no kernels built for compute capability 9.0");
  options_.cubins = {};
  expect_host(run_anywhere(options_), "built without a CUDA compiler");
}

TEST_F(Device, AnImageThatTheDriverRefusesLetsTheHostTakeOver) {
  static constexpr char kDamaged[] = "damaged";
  options_.cubins = {{"sm_90", std::as_bytes(std::span(kDamaged)), false}};
  expect_host(run_anywhere(options_), "error 200");
}

TEST_F(Device, OtherErrorsAreNotHidden) {
  MachineKeeper keeper;
  MachineKeeper::Request request;
  request.device = &options_;
  EXPECT_THROW(
      keeper.run(
          request, [](Machine&, WeightMemory&) { throw std::logic_error("of the caller"); },
          [](const std::string&) {}),
      std::logic_error);
}

TEST_F(Device, AMachineServesOneThreadAfterAnother) {
  const std::unique_ptr<Machine> machine = open_device(options_);
  EXPECT_EQ(sum_on(*machine), 500500);
  machine->clear_records();
  std::thread([&] { EXPECT_EQ(sum_on(*machine), 500500); }).join();
}

std::string_view best(std::span<const Cubin> cubins, int major, int minor) {
  const Cubin* found = best_cubin(cubins, major, minor);
  return found == nullptr ? "none" : found->architecture;
}

TEST(BestCubin, TakesTheSameMajorAndTheHighestMinorThatIsNotNewer) {
  const std::vector<Cubin> all = {cubin("sm_80"),   cubin("sm_89"),   cubin("sm_90a"),
                                  cubin("sm_100a"), cubin("sm_120a"), cubin("compute_80", true)};
  EXPECT_EQ(best(all, 8, 0), "sm_80");
  EXPECT_EQ(best(all, 8, 6), "sm_80");
  EXPECT_EQ(best(all, 8, 9), "sm_89");
  EXPECT_EQ(best(all, 9, 0), "sm_90a");
  EXPECT_EQ(best(all, 10, 0), "sm_100a");
  EXPECT_EQ(best(all, 12, 0), "sm_120a");
  EXPECT_EQ(best(all, 10, 3), "compute_80");
  EXPECT_EQ(best(all, 12, 1), "compute_80");
  EXPECT_EQ(best(all, 7, 5), "none");
}

}  // namespace
}  // namespace logos::cuda
