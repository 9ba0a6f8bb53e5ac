#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cuda/kernels/arguments.h"
#include "program/model_spec.h"
#include "program/program.h"

namespace logos::cuda {

/// What a reference points into.
enum class Space : std::uint8_t {
  kNull,
  kArena,     ///< index: a chip, or `chips` for what chips read of each other
  kObserved,  ///< index into observed: written only where an observer is given, else null
  kMatrix,    ///< q of matrices[index]; likewise its multipliers and scales
  kMultipliers,
  kScales,
  kVector,     ///< vectors[index]
  kTokens,     ///< int32 `[rows]`, from 0
  kPositions,  ///< int32 `[rows]`, from 0
  kCosines,    ///< binary32 `[rows, head_columns / 2]`
  kSines,
  kGiven,  ///< binary32 `[rows, columns]`
  kKeys,   ///< int16 `[caches, capacity, heads, head_pitch]` of caches[index]; sizes set by the run
  kKeyExponents,
  kValues,
  kValueExponents,
  kFault,   ///< uint32, one for each operation
  kScratch  ///< of attention, by chip and Scratch: index = chip * kScratches + kind
};
inline constexpr int kSpaces = static_cast<int>(Space::kScratch) + 1;

/// Buffers of attention, whose sizes depend on the positions that a run reaches.
enum class Scratch { kScores, kMaxima, kTops, kWeightSums, kValueSums, kWeights, kTotals };
inline constexpr int kScratches = 7;

/// A place in the memory of a run, before the run gives it an address.
struct Reference {
  Space space = Space::kNull;
  std::int32_t index = 0;
  std::int64_t offset = 0;  ///< bytes

  explicit operator bool() const { return space != Space::kNull; }
  bool operator==(const Reference&) const = default;
};
template <typename T>
struct Planned : Reference {
  Planned() = default;
  Planned(const Reference& reference) : Reference(reference) {}  // NOLINT: any reference will do
};

/// Which kernels of the ladder a product takes.
enum class ProductKernel { kDp4a, kMma };

struct ProductStep {
  ProductKernel kernel = ProductKernel::kDp4a;
  ProductArguments<Planned> arguments;
};

/// What a step does: one launch, but for attention: three a tile of rows.
using Work = std::variant<EmbedArguments<Planned>, NormArguments<Planned>, SiluArguments<Planned>,
                          QuantizeArguments<Planned>, ProductStep, HeadsArguments<Planned>,
                          AttentionArguments<Planned>, AddArguments<Planned>,
                          ScaleArguments<Planned>, HeldArguments<Planned>, JoinArguments<Planned>>;

struct Step {
  std::int32_t chip = 0;
  Work work;
};

/// How the values of a named operation lie in memory, for an observer.
enum class Form : std::uint8_t {
  kRows,        ///< binary32 `[rows, pitch]`
  kHeldRows,    ///< the same, +0 but on the chip that holds the row
  kBlock,       ///< planes hi (values) and lo (second), exponents `[rows]`
  kHeadsBlock,  ///< int16 `[rows, units, width]`, exponents `[rows, units]`
  kScores,      ///< of attention: binary32 a visible position, head after head
  kWeights,     ///< likewise, int32
  kWeightSums   ///< int64 a head
};
inline constexpr int kForms = static_cast<int>(Form::kWeightSums) + 1;

/// What one chip adds to an observed row: `count` columns (heads for kHeadsBlock and the forms of
/// attention) from `skip` on, of `pitch` in memory.
struct ObservedPart {
  Reference values;
  Reference second;
  Reference exponents;
  std::int64_t pitch = 0;
  std::int64_t skip = 0;
  std::int64_t count = 0;
};

struct Observed {
  std::int32_t operation = 0;  ///< into Plan::operations
  std::string name;            ///< in the dump's names
  Form form = Form::kRows;
  std::int64_t rows = 0;
  std::int64_t position_row = 0;  ///< the row of the cut whose position row 0 has
  std::int64_t width = 1;         ///< columns of a unit
  std::vector<ObservedPart> parts;
};

/// An operation's part of the time of a group's launches, in proportion to the weights.
struct TimeShare {
  std::int32_t operation = 0;  ///< into Plan::operations
  std::int64_t weight = 1;
};

/// Launches that belong together, and what can be observed after them, in the program's order.
struct Group {
  std::vector<Step> steps;
  std::vector<TimeShare> shares;  ///< for timelines; none of a group without steps
  std::vector<Observed> observed;
};

struct PlanMatrix {
  std::string tensor;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

struct PlanVector {
  std::string tensor;
  std::int64_t size = 0;
};

/// The keys and values of a layer that one chip holds.
struct PlanCache {
  std::int32_t chip = 0;
  std::int64_t layer = 0;  ///< from 1
  std::int64_t first_head = 0;
  std::int64_t heads = 0;
};

struct PlanOperation {
  std::int64_t layer = 0;  ///< from 1; 0 outside the layers
  std::int32_t line = 0;
};

/// A program lowered for a GPU: memory, launches in order, what may be observed. Plain values.
struct Plan {
  Profile profile = Profile::kA;  ///< of every matrix
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
  std::int64_t window = 0;     ///< 0: none
  std::optional<std::int64_t> context;
  Rotary rotary;
  std::int64_t chips = 1;
  std::int64_t memory_bytes = 0;  ///< of the GPU; a run that needs more is refused
  std::vector<PlanMatrix> matrices;
  std::vector<PlanVector> vectors;
  std::vector<PlanCache> caches;
  std::vector<std::int64_t> arenas;    ///< bytes, one a chip and one for what chips read of others
  std::vector<std::int64_t> observed;  ///< bytes
  std::vector<PlanOperation> operations;
  std::vector<Group> groups;
  Reference output;  ///< binary32 `[output_rows, output_columns]`
  std::int64_t output_rows = 0;
  std::int64_t output_columns = 0;
};

/// The bytes of an artifact's payload; the same plan gives the same bytes.
std::string serialise_plan(const Plan& plan);

/// Throws Error (where = `where`) for anything that serialise_plan did not write or could not have
/// written: kinds and counts out of range, surplus, missing or ill-typed fields.
Plan parse_plan(std::string_view payload, std::string_view where);

/// The plan for people: memory, then a line for each launch with its kernel, grid, block, shared
/// bytes and traffic, for a run that reaches `positions` cache positions.
std::string describe(const Plan& plan, std::int64_t positions);

}  // namespace logos::cuda
