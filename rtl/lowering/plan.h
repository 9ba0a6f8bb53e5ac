#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program/model_spec.h"
#include "rtl/lowering/instruction.h"

namespace logos::d5005 {

/// A super-beat: the 64-byte beats at one address of all four banks.
inline constexpr std::int64_t kSuperBeatBytes = 256;
inline constexpr std::int64_t kBanks = 4;

/// An engine's size: the twin of engine_pkg::config_t, and what its board has.
struct EngineSize {
  std::int64_t rows = 8;
  std::int64_t mac_rows = 8;
  std::int64_t vector_words = 8192;
  std::int64_t activation_words = 512;
  std::int64_t query_words = 1024;
  std::int64_t gain_words = 1024;
  std::int64_t scores = 65536;
  std::int64_t positions = 16384;
  std::int64_t fifo_beats = 1024;
  std::int64_t instructions = 2048;
  std::int64_t table_rows = 8192;
  std::int64_t super_beats = std::int64_t{1} << 27;  ///< of the board's memory

  bool operator==(const EngineSize&) const = default;
};

/// The size of the engine that `--engine-rows ROWS/MAC_ROWS` names. Throws Error where there is
/// none.
EngineSize engine_size(std::int64_t rows, std::int64_t mac_rows);

/// Rows of one matrix as they fill output slots: in order from slot `lead` on; with heads, each
/// head begins at a multiple of 4 slots. The slots between hold zeros.
struct MatrixPart {
  std::string tensor;
  std::string bias;  ///< tensor of the bias, or ""
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
  std::int64_t lead = 0;          ///< slots of zeros in front
  std::int64_t head_columns = 0;  ///< 0: no heads
};

/// A matrix, or two whose quads alternate, in the layout of rtl/README.md.
struct MatrixItem {
  std::int64_t base = 0;  ///< super-beats
  std::vector<MatrixPart> parts;
  std::int64_t first_column = 0;  ///< a multiple of 32
  std::int64_t columns = 0;       ///< from first_column on
  std::int64_t lead = 0;          ///< of these, the first ones: another board's, they meet zeros
};

struct GainItem {
  std::int64_t base = 0;
  std::string tensor;
  std::int64_t size = 0;
};

struct EmbeddingItem {
  std::int64_t base = 0;
  std::string tensor;
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

/// Keys and values of one layer.
struct CacheItem {
  std::int64_t layer = 0;  ///< from 1
  std::int64_t base = 0;
  std::int64_t row_stride = 0;  ///< 0: all rows share it
  std::int64_t head_stride = 0;
  std::int64_t values_offset = 0;
  std::int64_t first_head = 0;  ///< of the model
  std::int64_t heads = 0;
};

/// A row's entry of an engine's row table.
struct TableRow {
  std::uint32_t token = 0;     ///< from 0
  std::uint32_t position = 0;  ///< from 0
};

/// Columns [first, first + columns) of a value, as OpStore left them: row t of the run at (offset +
/// t * lines) * 64 bytes, `lines` those that the columns fill.
struct OutputPiece {
  std::int64_t offset = 0;  ///< 64-byte units
  std::int64_t first = 0;
  std::int64_t columns = 0;
  std::int64_t board = 0;  ///< whose output buffer
};

/// What boards give each other between two segments (exchange.h).
enum class ExchangeKind { kHeldRows, kPeaks, kSums };
struct Exchange {
  ExchangeKind kind = ExchangeKind::kHeldRows;
  std::string tensor;        ///< of sums: the matrix, whose row scales go with them; else ""
  std::int64_t columns = 0;  ///< of the value; of peaks, one a board
  std::vector<OutputPiece> pieces;
};

/// Instructions [first, first + count) of a board's program: a program of their own in DDR. Where
/// they address something by rows of the run, each pass has a copy of its own, one behind the
/// other: the rows of the engine's run are those of one pass.
struct Segment {
  std::int64_t base = 0;  ///< super-beats: its header
  std::int64_t first = 0;
  std::int64_t count = 0;  ///< with its OpEnd
  std::int64_t copies = 1;
};

/// What one board holds and does.
struct BoardPlan {
  std::vector<MatrixItem> matrices;
  std::vector<GainItem> gains;
  std::vector<EmbeddingItem> embeddings;  ///< none or one
  std::vector<CacheItem> caches;
  std::int64_t rotary_base = 0;  ///< of position 0
  std::int64_t given_base = 0;   ///< rows of x that come from the host
  std::int64_t peaks_base = 0;   ///< those of a pass, of all boards
  std::int64_t sums_base = 0;    ///< likewise
  std::int64_t program_base = 0;
  std::int64_t super_beats = 0;      ///< all that is used
  std::vector<Instruction> program;  ///< with its OpEnd, or that of each segment
  std::vector<Segment> segments;     ///< none on one board, whose engine goes through all passes
};

/// Where an operation stands in the text: its layer from 1 (0 outside the layers), its line from 1.
struct PlanLine {
  std::int64_t layer = 0;
  std::int64_t line = 0;
  std::string name;  ///< in the dump's names; "" where it has none
};

/// A program lowered for boards: their memory, instructions, outputs. Plain values. Several boards
/// go through the run pass by pass, and in a pass through the segments, all in step; the last
/// segment runs in the last pass only where the outputs are of the run's last row.
struct Plan {
  std::int64_t rows = 0;
  bool is_chunk = false;
  bool has_tokens = false;
  bool has_positions = false;
  bool has_given = false;
  bool each_row_caches = false;
  std::int64_t columns = 0;
  std::int64_t vocabulary = 0;
  std::int64_t head_columns = 0;
  std::int64_t key_heads = 0;  ///< of the model; 0 without caches
  std::int64_t capacity = 0;   ///< positions that a cache has room for
  std::optional<std::int64_t> context;
  Rotary rotary;
  EngineSize engine;
  std::vector<PlanLine> lines;  ///< by operation; instructions and FAULT name one by its number
  std::vector<BoardPlan> boards;
  std::vector<Exchange> exchanges;  ///< after each segment but the last
  std::vector<OutputPiece> outputs;
  bool rows_are_held = false;  ///< of the outputs, each is right on the board that holds its token
  std::int64_t output_rows = 0;
  std::int64_t output_columns = 0;
  std::int64_t host_units = 0;  ///< 64-byte units of the output buffer
};

/// The bytes of an artifact's payload; the same plan gives the same bytes.
std::string serialise_plan(const Plan& plan);

/// Throws Error (where = `where`) for anything that serialise_plan could not have written.
Plan parse_plan(std::string_view payload, std::string_view where);

}  // namespace logos::d5005
