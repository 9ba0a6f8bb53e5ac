// config.json: a spec that is taken keeps every bound that the lanes rely on, and can be written.
#include "program/check.h"
#include "program/genuine.h"
#include "program/model_spec.h"
#include "program/written.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace logos;
  const auto json = logos::bytes_of(data, size);
  for (const std::optional<bool> head : {std::optional<bool>(), std::optional(true)}) {
    ModelReading reading;
    if (!taken([&] { reading = read_config(json, "fuzz", head); })) continue;
    CHECK(taken([&] { validate(reading.spec, "fuzz"); }));
    Cut cut;
    cut.context = 8;
    const Written text = written(reading.spec, cut);
    CHECK(read_facts(text.text, "fuzz").spec == reading.spec);
  }
  return 0;
}
