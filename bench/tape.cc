#include "bench/tape.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "bench/progress.h"
#include "program/check.h"
#include "program/error.h"
#include "program/program.h"

namespace logos::bench {
namespace {

/// Ends a replay once it has what it was run for.
struct Recorded {};

class ReplayTape : public Tape {
 public:
  ReplayTape(Runner& runner, std::size_t index) : runner_(runner), index_(index) {}

  Result run(const Cut& cut, Inputs& inputs) override {
    if (done_++ < index_) return runner_.run(cut, inputs).result;
    Inputs before = inputs;
    record.emplace(Record{cut, std::move(before), runner_.run(cut, inputs).result});
    throw Recorded{};
  }

  std::optional<Record> record;

 private:
  Runner& runner_;
  std::size_t index_;
  std::size_t done_ = 0;
};

ObservedRun observed(Runner& runner, const Record& record) {
  return [&runner, &record](Observer& observer) {
    Inputs inputs = record.inputs;
    runner.run(record.cut, inputs, &observer);
  };
}

std::string fault_text(const Result& result) {
  return result.fault ? fmt::format("fault at line {}", result.fault->line) : "no fault";
}

std::string line_text(const Program& program, int line) {
  if (line < 1 || static_cast<std::size_t>(line) > program.lines.size()) return "";
  const std::string& text = program.lines[static_cast<std::size_t>(line - 1)];
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

/// The first element of the outputs that differs, at the line that shows them.
std::optional<Divergence> output_divergence(const Program& program, const Result& expected,
                                            const Result& got) {
  Divergence divergence;
  divergence.name = "output";
  divergence.line = program.operations.back().line;
  divergence.text = line_text(program, divergence.line);
  if (expected.rows != got.rows || expected.columns != got.columns) {
    divergence.expected = fmt::format("{} rows of {}", expected.rows, expected.columns);
    divergence.got = fmt::format("{} rows of {}", got.rows, got.columns);
    return divergence;
  }
  for (std::size_t i = 0; i < std::min(expected.outputs.size(), got.outputs.size()); ++i) {
    const auto a = std::bit_cast<std::uint32_t>(expected.outputs[i]);
    const auto b = std::bit_cast<std::uint32_t>(got.outputs[i]);
    if (a == b) continue;
    divergence.row = static_cast<std::int64_t>(i) / expected.columns;
    divergence.column = static_cast<std::int64_t>(i) % expected.columns;
    divergence.expected = fmt::format("{:08X}", a);
    divergence.got = fmt::format("{:08X}", b);
    return divergence;
  }
  const auto site = [](const Result& r) { return r.fault ? r.fault->line : -1; };
  if (site(expected) == site(got)) return std::nullopt;
  const FaultSite first = expected.fault.value_or(got.fault.value_or(FaultSite{}));
  divergence.layer = first.layer;
  divergence.line = first.line;
  divergence.text = line_text(program, first.line);
  divergence.expected = fault_text(expected);
  divergence.got = fault_text(got);
  return divergence;
}

}  // namespace

Result DigestTape::run(const Cut& cut, Inputs& inputs) {
  Ran ran = runner_.run(cut, inputs, observer_);
  digests_.push_back(output_sha256(ran.result));
  seconds_ += ran.result.timing.seconds;
  host_seconds_ += ran.host_seconds;
  time_class_ = ran.result.timing.time_class;
  time_remark_ = ran.result.timing.remark;
  fault_ = fault_ || ran.result.fault.has_value();
  return std::move(ran.result);
}

Record replay(Runner& runner, const std::function<void(Tape&)>& computation, std::size_t index) {
  ReplayTape tape(runner, index);
  try {
    computation(tape);
  } catch (const Recorded&) {
  }
  CHECK(tape.record.has_value());
  return std::move(*tape.record);
}

std::optional<std::size_t> first_difference(const std::vector<std::string>& expected,
                                            const std::vector<std::string>& got) {
  const std::size_t both = std::min(expected.size(), got.size());
  for (std::size_t i = 0; i < both; ++i) {
    if (expected[i] != got[i]) return i;
  }
  if (expected.size() != got.size()) return both;
  return std::nullopt;
}

std::optional<Divergence> divergence_of(Runner& expected, const Record& expected_run, Runner& got,
                                        const Record& got_run) {
  const Written& written = expected.written(expected_run.cut);
  const Program program = read_program(written.text, written.identity.cut);
  try {
    auto found =
        first_divergence(observed(expected, expected_run), observed(got, got_run), program.lines);
    if (found) return found;
  } catch (const Error& error) {  // that they differ is known, and where the outputs do
    say(fmt::format("{}: the run that shows every operation failed: {}", got_run.cut.text(),
                    error.what()));
  }
  return output_divergence(program, expected_run.result, got_run.result);
}

}  // namespace logos::bench
