// Launch plans of the CUDA lane: what is taken is written again byte for byte and can be shown.
#include "cuda/plan.h"

#include "program/check.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace logos;
  const auto bytes = logos::bytes_of(data, size);
  cuda::Plan plan;
  if (taken([&] { plan = cuda::parse_plan(bytes, "fuzz"); })) {
    CHECK(cuda::serialise_plan(plan) == bytes);
  }
  return 0;
}
