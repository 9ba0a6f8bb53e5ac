// Artifacts: what is taken must be exactly what would be written.
#include "sim/artifact.h"

#include "program/check.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace logos;
  const auto bytes = logos::bytes_of(data, size);
  Artifact artifact;
  if (taken([&] { artifact = parse_artifact(bytes, "fuzz"); })) {
    CHECK(serialise(artifact) == bytes);
  }
  return 0;
}
