// GGUF files: every tensor of a header that is taken lies in the file, apart from the others; a
// model that is read is one; every row of its weights can be taken or is refused.
#include <vector>

#include "program/check.h"
#include "program/gguf_model.h"
#include "sim/weights/gguf_source.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_file.h"

namespace {

using namespace logos;

void check_ranges(const GgufHeader& header, std::uint64_t file_bytes) {
  std::uint64_t bytes = 0;
  for (const GgufTensor& tensor : header.tensors) {
    CHECK(tensor.begin <= tensor.end && tensor.end <= file_bytes);
    CHECK(header.tensor(tensor.name) == &tensor);
    bytes += tensor.end - tensor.begin;
  }
  CHECK(bytes <= file_bytes);
}

void read_rows(const GgufCheckpoint& checkpoint, const std::vector<PlannedTensor>& plan,
               const ModelSpec& spec) {
  GgufSource source(checkpoint, spec.head_columns);
  for (const PlannedTensor& tensor : plan) {
    const auto columns = static_cast<std::size_t>(tensor.columns);
    std::vector<float> values(columns);
    std::vector<std::uint16_t> halves(columns / kQ8BlockColumns);
    std::vector<std::int8_t> q(columns);
    if (!tensor.is_matrix) {
      source.vector(tensor, values);
      continue;
    }
    for (std::int64_t row = 0; row < tensor.rows; ++row) source.half_row(tensor, row, halves, q);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFile file(logos::bytes_of(data, size));
  taken([&] {
    const GgufCheckpoint checkpoint(file.path());
    check_ranges(checkpoint.header(), size);
    gguf_vocabulary(checkpoint.header());
    const ModelReading reading = read_gguf_model(checkpoint.file(), checkpoint.header());
    validate(reading.spec, "fuzz");
    if (reading.spec.layers > 8) return;  // a plan of more is only longer
    const std::vector<PlannedTensor> plan = weight_plan(reading.spec);
    check_tensors(checkpoint.header(), plan);
    read_rows(checkpoint, plan, reading.spec);
  });
  return 0;
}
