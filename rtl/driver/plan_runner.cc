#include "rtl/driver/plan_runner.h"

#include <cstring>

#include "program/check.h"
#include "rtl/lowering/memory_image.h"

namespace logos::d5005 {
namespace {

constexpr std::size_t kLineBytes = 64;
constexpr std::int64_t kLineFloats = 16;

std::vector<TableRow> row_table(const Plan& plan, const Inputs& inputs) {
  std::vector<TableRow> table(static_cast<std::size_t>(plan.rows));
  for (std::size_t r = 0; r < table.size(); ++r) {
    if (plan.has_tokens) table[r].token = static_cast<std::uint32_t>(inputs.tokens[r] - 1);
    if (plan.has_positions) table[r].position = static_cast<std::uint32_t>(inputs.positions[r] - 1);
  }
  return table;
}

/// The rows of the outputs from the pieces that the engine stored.
std::vector<float> gather(const Plan& plan, std::span<const std::byte> output) {
  std::vector<float> rows(static_cast<std::size_t>(plan.output_rows * plan.output_columns));
  for (const OutputPiece& piece : plan.outputs) {
    const std::int64_t lines = (piece.columns + kLineFloats - 1) / kLineFloats;
    for (std::int64_t t = 0; t < plan.output_rows; ++t) {
      const auto from = static_cast<std::size_t>(piece.offset + t * lines) * kLineBytes;
      const auto bytes = static_cast<std::size_t>(piece.columns) * sizeof(float);
      CHECK(from + bytes <= output.size());
      std::memcpy(rows.data() + t * plan.output_columns + piece.first, output.data() + from, bytes);
    }
  }
  return rows;
}

}  // namespace

PlanOutcome run_plan(const Plan& plan, Driver& driver, const WeightStore& weights,
                     const Identity& identity, Inputs& inputs, const PlanRunOptions& options) {
  driver.reset();
  write_image(
      plan, 0, weights, inputs, identity, options.fill,
      [&](std::int64_t at, std::span<const std::byte> bytes) { driver.write_memory(at, bytes); });
  const std::vector<TableRow> table = row_table(plan, inputs);
  std::vector<std::byte> output(static_cast<std::size_t>(plan.host_units) * kLineBytes);
  PlanOutcome outcome;
  outcome.counters = driver.run(
      {plan.boards[0].program_base, identity.sha256, table, output, options.cycle_limit});
  outcome.outputs = gather(plan, output);
  outcome.host_bytes = outcome.outputs.size() * sizeof(float);
  if (!plan.boards[0].caches.empty()) {
    read_pushed(
        plan, 0,
        [&](std::int64_t at, std::span<std::byte> bytes) { driver.read_memory(at, bytes); },
        inputs);
  }
  return outcome;
}

}  // namespace logos::d5005
