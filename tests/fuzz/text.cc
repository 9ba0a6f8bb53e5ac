// LOGOS texts: reading, checking, unrolling, and asking whether `author` wrote it.
#include "program/author.h"
#include "program/check.h"
#include "program/genuine.h"
#include "program/program.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace logos;
  const auto text = logos::bytes_of(data, size);
  const bool readable = taken([&] {
    const Program program = read_program(text, "fuzz.lg");
    CHECK(!program.operations.empty() && program.operations.back().word == Word::kShow);
    read_program(text, "fuzz.lg", program.chips - 1);
  });
  Identity identity;
  const bool is_genuine = taken([&] { identity = genuine(text, "fuzz.lg"); });
  if (is_genuine) {
    CHECK(readable);
    const Facts facts = read_facts(text, "fuzz.lg");
    CHECK(author(facts) == text);
    CHECK(sha256_hex(author(facts.placeholder())) == identity.sha256);
    std::vector<Program> programs;
    // It can still be too large: many chips together, attention over too many positions.
    if (taken([&] { programs = read_genuine(text, "fuzz.lg", identity); })) {
      CHECK(programs.size() == static_cast<std::size_t>(identity.chips));
    }
  }
  return 0;
}
