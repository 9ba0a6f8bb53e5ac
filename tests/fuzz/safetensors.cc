// safetensors headers, from bytes and from a file: every tensor that is listed lies in the file.
#include "program/check.h"
#include "program/safetensors_header.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_file.h"

namespace {

void check_ranges(const logos::CheckpointHeader& header, std::uint64_t file_bytes) {
  for (const logos::TensorInfo& tensor : header.tensors) {
    CHECK(tensor.begin <= tensor.end && tensor.end <= file_bytes);
    CHECK(header.find(tensor.name) == &tensor);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace logos;
  const auto bytes = logos::bytes_of(data, size);
  for (const std::uint64_t file_bytes : {std::uint64_t{size} + 8, std::uint64_t{size} + 8 + 128}) {
    taken([&] { check_ranges(parse_safetensors_header(bytes, file_bytes, "fuzz"), file_bytes); });
  }
  const MemoryFile file(bytes);
  taken([&] { check_ranges(read_safetensors_header(file.path()), size); });
  return 0;
}
