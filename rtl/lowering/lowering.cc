#include "rtl/lowering/lowering.h"

#include <fmt/format.h>

#include <algorithm>

#include "program/error.h"
#include "rtl/lowering/board_lowering.h"
#include "rtl/lowering/lowering_units.h"

namespace logos::d5005 {
namespace {

constexpr std::int64_t kCacheBlock = 128;  ///< positions
constexpr std::int64_t kLargestHead = 256;
constexpr std::int64_t kLargestColumns = 32768;
constexpr std::int64_t kLargestPosition = std::int64_t{1}
                                          << 24;  ///< that the attend unit counts to

/// What bounds a program whatever board it runs on.
void check_sizes(const Program& program, const EngineSize& engine) {
  if (program.profile != Profile::kA) {
    throw Error("d5005: lowering", "weights of another profile", "B", "A");
  }
  hold("columns", program.columns, kLargestColumns);
  hold("columns of a head", program.head_columns, kLargestHead);
  hold("rows of a run", program.rows, engine.table_rows);
}

/// Positions of a cache: the cut's, or for a chunk, whose run decides, what the engine can attend.
/// A group's buffer counts from the begin of the first block that a row sees, four positions at a
/// time, and holds the query heads in fours.
std::int64_t capacity_of(const Program& program, const EngineSize& engine) {
  if (program.caches.empty()) return 0;
  const std::int64_t most =
      std::min(engine.positions, engine.scores / (4 * divide_up(program.query_group, 4))) / 4 * 4;
  const auto seen = [&](std::int64_t positions) {
    return std::min(positions, program.window ? *program.window + kCacheBlock - 1 : positions);
  };
  const std::int64_t capacity =
      std::min(kLargestPosition,
               program.context.value_or(seen(engine.positions) <= most ? engine.positions : most));
  hold("positions of a cache that a row attends to", seen(capacity), most);
  hold("rows of a chunk", program.is_chunk ? program.rows : 0, capacity);
  return capacity;
}

}  // namespace

EngineSize engine_size(std::int64_t rows, std::int64_t mac_rows) {
  const bool known = (rows == 1 && mac_rows == 1) || (rows == 8 && mac_rows == 8) ||
                     (rows == 16 && mac_rows == 16) || (rows == 32 && mac_rows == 16);
  if (!known) {
    throw Error("--engine-rows", "no such engine is built", fmt::format("{}/{}", rows, mac_rows),
                "1/1, 8/8, 16/16 or 32/16");
  }
  EngineSize size;
  size.rows = rows;
  size.mac_rows = mac_rows;
  size.vector_words = std::max<std::int64_t>(1024 * rows, 8192);
  size.activation_words = 512 * (rows / mac_rows);
  size.query_words = std::max<std::int64_t>(128 * rows, 1024);
  return size;
}

Plan lower_programs(const std::vector<Program>& programs, const EngineSize& engine) {
  const Program& program = programs.front();
  check_sizes(program, engine);
  Plan plan;
  plan.rows = program.rows;
  plan.is_chunk = program.is_chunk;
  plan.has_tokens = !program.tokens.empty();
  plan.has_positions = !program.positions.empty();
  plan.has_given = program.operations.front().word == Word::kGiven;
  plan.columns = program.columns;
  plan.vocabulary = program.vocabulary;
  plan.head_columns = program.head_columns;
  plan.context = program.context;
  plan.rotary = program.rotary;
  plan.engine = engine;
  plan.capacity = capacity_of(program, engine);
  for (const Cache& cache : program.caches) {
    plan.key_heads = cache.heads;
    plan.each_row_caches = cache.one_for_each_row;
  }
  const Value& shown =
      program.values[static_cast<std::size_t>(program.operations.back().arguments.front())];
  for (const Operation& operation : program.operations) {
    plan.lines.push_back({operation.layer, operation.line, operation.name});
  }
  plan.output_rows = shown.rows;
  plan.output_columns = shown.columns;
  plan.rows_are_held =
      program.operations[program.operations.size() - 2].word == Word::kHeldOverChips;
  for (const Program& chip : programs) {
    plan.boards.push_back(BoardLowering(chip, engine, plan.capacity).lower(&plan));
  }
  return plan;
}

}  // namespace logos::d5005
