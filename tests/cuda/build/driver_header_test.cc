// Compares cuda/driver.h with the toolkit's cuda.h: the same number of parameters, each of the same
// size and kind (handles and enumerations differ in name only), and the same values of constants.
#include <cuda.h>
#include <gtest/gtest.h>

#include <type_traits>

#include "cuda/driver.h"

namespace logos::cuda {
namespace {

template <typename Ours, typename Theirs>
constexpr bool kSame = std::is_pointer_v<Ours> == std::is_pointer_v<Theirs> &&
                       sizeof(Ours) == sizeof(Theirs) &&
                       std::is_floating_point_v<Ours> == std::is_floating_point_v<Theirs>;

template <typename Ours, typename Theirs>
struct Comparison {
  static constexpr bool kEqual = false;
};
template <typename... Ours, typename... Theirs, typename R>
requires(sizeof...(Ours) ==
         sizeof...(Theirs)) struct Comparison<driver::Result (*)(Ours...), R (*)(Theirs...)> {
  static constexpr bool kEqual = (kSame<Ours, Theirs> && ...) && sizeof(R) == sizeof(int);
};

TEST(DriverHeader, EveryFunctionHasTheParametersOfTheToolkit) {
  driver::Functions ours;
#define LOGOS_COMPARE(symbol, member, parameters) \
  EXPECT_TRUE((Comparison<decltype(ours.member), decltype(&::symbol)>::kEqual)) << #symbol;
  LOGOS_DRIVER_FUNCTIONS(LOGOS_COMPARE)
#undef LOGOS_COMPARE
}

TEST(DriverHeader, ConstantsAreThoseOfTheToolkit) {
  EXPECT_EQ(driver::kSuccess, CUDA_SUCCESS);
  EXPECT_EQ(driver::kAttributeMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  EXPECT_EQ(driver::kAttributeMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  EXPECT_EQ(driver::kFunctionMaxDynamicShared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  EXPECT_EQ(driver::kCaptureThreadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  EXPECT_EQ(driver::kStreamNonBlocking, CU_STREAM_NON_BLOCKING);
}

}  // namespace
}  // namespace logos::cuda
