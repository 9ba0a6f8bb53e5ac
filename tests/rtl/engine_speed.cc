// How fast the engine is, and how fast it is simulated: rtl_engine_speed CUT [ROWS/MAC_ROWS [runs]]
// runs a cut of Llama-3.2-1B's shape with synthetic weights on a board without stalls. A cut of one
// layer is run on weights of one layer. Median of the runs; the first also prints all counters.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>

#include "bench/default_inputs.h"
#include "bench/kv_fill.h"
#include "program/genuine.h"
#include "program/written.h"
#include "rtl/board/board_config.h"
#include "rtl/board/sim_transport.h"
#include "rtl/driver/driver.h"
#include "rtl/driver/registers.h"
#include "rtl/lowering/lowering.h"
#include "rtl/lowering/memory_image.h"
#include "rtl/lowering/traffic.h"
#include "sim/reference/traffic.h"

namespace logos::d5005 {
namespace {

constexpr double kBytesPerCycle = 256;  ///< of all banks, at the engine's clock

/// What is run.
struct Job {
  ModelSpec spec;
  Identity identity;
  std::vector<Program> programs;
  Inputs inputs;
};

Job job_of(const std::string& cut_text) {
  Job job;
  job.spec = preset("llama-3.2-1b").value();
  const Cut cut = Cut::parse(cut_text);
  if (cut.part == Cut::Part::kLayer) {
    job.spec.layers = 1;
    job.spec.vocabulary = 1024;  // no cut of a layer reads it
  }
  const Written written = logos::written(job.spec, cut);
  job.identity = written.identity;
  job.programs = read_genuine(written.text, "engine_speed", job.identity);
  const Program& program = job.programs.front();
  Inputs& inputs = job.inputs;
  for (std::size_t i = 0; i < program.tokens.size(); ++i) {
    inputs.tokens.push_back(1 + static_cast<std::int64_t>(i * 37) % program.vocabulary);
  }
  for (std::int64_t r = 0; r < program.rows && !program.positions.empty(); ++r) {
    inputs.positions.push_back(program.is_chunk ? r + 1
                                                : *program.context - (cut.rows > 1 ? r : 0));
  }
  if (program.operations.front().word == Word::kGiven) {
    inputs.given = bench::synthetic_rows(program.rows, program.columns, 1);
  }
  if (!program.caches.empty()) {
    const bool each = program.caches.front().one_for_each_row;
    const std::int64_t capacity = program.context.value_or(program.rows);
    for (std::int64_t i = 0; i < (each ? program.rows : 1); ++i) {
      inputs.caches.push_back(bench::synthetic_cache(job.spec, program.is_chunk ? 0 : capacity - 1,
                                                     capacity, 1, job.spec.layers));
    }
  }
  return job;
}

void print_counters(const RunCounters& run, Transport& transport) {
  for (std::size_t c = 0; c < run.by_category.size(); ++c) {
    fmt::print("  {:16} {:9} cycles, {:5.2f} %\n", name_of(static_cast<Category>(c)),
               run.by_category[c],
               100.0 * static_cast<double>(run.by_category[c]) / static_cast<double>(run.cycles));
  }
  for (std::size_t b = 0; b < run.banks.size(); ++b) {
    const BankCounters& bank = run.banks[b];
    fmt::print(
        "  bank {}: {} beats, {} cycles a unit waited for it, {} it waited for the unit, {} "
        "written\n",
        b, bank.beats, bank.waiting, bank.full, bank.writes);
  }
  constexpr const char* kUnitNames[kUnits] = {"rows", "product", "heads", "attend", "store"};
  for (std::size_t u = 0; u < kUnits; ++u) {
    const auto at = registers::kUnit + static_cast<std::uint32_t>(24 * u);
    fmt::print("  {:8} busy {:9}, waits for input {:9}, for output {:9}\n", kUnitNames[u],
               transport.read64(at), transport.read64(at + 8), transport.read64(at + 16));
  }
}

void measure(const std::string& cut, std::int64_t rows, std::int64_t mac_rows, int runs) {
  Job job = job_of(cut);
  const auto store = synthetic_store(job.spec, 1);
  const Plan plan = lower_programs(job.programs, engine_size(rows, mac_rows));
  const BoardParameters parameters = load_board(LOGOS_SOURCE_DIR "/configs/boards/d5005.json", {});

  SimTransport transport(make_board(rows, mac_rows, parameters, {}));
  Driver driver(transport, plan.engine);
  driver.reset();
  write_image(
      plan, 0, *store, job.inputs, job.identity, std::byte{0},
      [&](std::int64_t at, std::span<const std::byte> bytes) { driver.write_memory(at, bytes); });
  std::vector<TableRow> table(static_cast<std::size_t>(plan.rows));
  for (std::size_t r = 0; r < table.size(); ++r) {
    if (plan.has_tokens) table[r].token = static_cast<std::uint32_t>(job.inputs.tokens[r] - 1);
    if (plan.has_positions) {
      table[r].position = static_cast<std::uint32_t>(job.inputs.positions[r] - 1);
    }
  }
  std::vector<std::byte> output(static_cast<std::size_t>(plan.host_units * 64));
  std::vector<double> rates;
  RunCounters first;  // on a board that has run nothing, as a lane's
  for (int n = 0; n < runs; ++n) {
    const std::clock_t before = std::clock();
    const std::uint64_t cycles = transport.board().engine_cycles();
    const RunCounters run =
        driver.run({plan.boards[0].program_base, job.identity.sha256, table, output, {}});
    rates.push_back(static_cast<double>(transport.board().engine_cycles() - cycles) *
                    CLOCKS_PER_SEC / 1000 / static_cast<double>(std::clock() - before));
    if (n != 0) continue;
    first = run;
    print_counters(run, transport);
  }
  std::sort(rates.begin(), rates.end());
  const reference::Traffic once = reference::traffic_of(job.programs, job.inputs);
  const auto taken = static_cast<double>(first.cycles);
  // Rows that share a pass share its bytes; each pass reads the weights again.
  fmt::print("{} on {}/{}: {} cycles in {} passes\n", cut, rows, mac_rows, first.cycles,
             first.passes);
  fmt::print("  {} useful bytes of a reading, {:.2f} % of 76.8 GB/s in one pass\n", once.bytes,
             100 * static_cast<double>(once.bytes) / taken / kBytesPerCycle);
  const std::uint64_t macs = traffic_of(plan, job.inputs).weight_macs;
  fmt::print("  {} MACs with weights, {:.2f} % busy, {:.1f} rows/s at 300 MHz\n", macs,
             100 * static_cast<double>(macs) / taken / 256 / static_cast<double>(mac_rows),
             static_cast<double>(plan.rows) * 300e6 / taken);
  fmt::print("  {:.0f} kilocycles/s of CPU time (median of {})\n", rates[rates.size() / 2], runs);
}

}  // namespace
}  // namespace logos::d5005

int main(int count, char** arguments) {
  try {
    const std::string cut = count > 1 ? arguments[1] : "layer:1@decode:1024";
    long rows = 8;
    long mac_rows = 8;
    if (count > 2 && std::sscanf(arguments[2], "%ld/%ld", &rows, &mac_rows) != 2) {
      throw std::runtime_error("ROWS/MAC_ROWS");
    }
    logos::d5005::measure(cut, rows, mac_rows, count > 3 ? std::atoi(arguments[3]) : 3);
  } catch (const std::exception& error) {
    fmt::print(stderr, "rtl_engine_speed: {}\n", error.what());
    return 1;
  }
}
