#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "cuda/lowering.h"
#include "cuda/plan.h"

namespace logos::cuda {

/// Where a value of one chip lies while a plan is made. References into Space::kArena hold the
/// number of a storage until `place_storages` gives it an offset.
struct Place {
  Reference data;  ///< Rows, Heads, per-head Blocks (int16), Sums (int64), Peak
  Reference hi;    ///< Block of Rows
  Reference lo;
  Reference exponents;      ///< of a Block, and of the Sums made of it
  std::int64_t pitch = 0;   ///< bytes of a row of hi and lo
  std::int64_t lead = 0;    ///< zero columns before the first one
  std::int64_t stride = 0;  ///< bytes from one chip's part to the next's, where chips read it
  int matrix = -1;          ///< into Program::matrices: whose row scales the Sums take
};

/// A piece of memory that lives from the first group that names it to the last.
struct Storage {
  std::int32_t arena = 0;
  std::int64_t bytes = 0;
};

/// What the functions that lower one kind of operations share.
class LoweringState {
 public:
  LoweringState(const std::vector<Program>& programs, const LoweringOptions& options);

  const Program& program(std::int32_t chip) const;
  const Program& first() const { return programs_.front(); }
  std::int32_t chips() const { return static_cast<std::int32_t>(programs_.size()); }
  const LoweringOptions& options() const { return options_; }

  const Operation& operation(int index) const;
  int operations() const;
  const Value& value(std::int32_t chip, int index) const;
  const Value& result(std::int32_t chip, int operation) const;
  Place& place(std::int32_t chip, int value);

  /// Operations after `operation` that take a value as an argument.
  const std::vector<int>& uses(int value) const;
  /// True where the next operation is of that word and takes the value first.
  bool next_is(int operation, Word word, int value) const;
  /// True where an operation outside [begin, end) takes the value.
  bool used_outside(int value, int begin, int end) const;
  /// True where chips read each other's part of the value.
  bool exchanged(int value) const;

  /// Memory of one chip.
  Reference store(std::int32_t chip, std::int64_t bytes);
  /// Memory of the part of a value that `chip` makes: of its own, or, where chips read each
  /// other's, a piece of one storage that all share. Fills data and stride of the place.
  Reference store_part(std::int32_t chip, int value, std::int64_t element_bytes);
  /// Written only under an observer.
  Reference observed(std::int64_t bytes);
  Reference fault(int operation) const;
  Reference vector(std::int32_t chip, int operation);
  std::int32_t matrix(std::int32_t chip, int operation);
  std::int32_t cache(std::int32_t chip, std::int64_t layer);

  Plan plan;

 private:
  void enter_caches();
  void enter_operations();

  const std::vector<Program>& programs_;
  LoweringOptions options_;
  std::vector<std::vector<Place>> places_;
  std::vector<std::vector<int>> uses_;
  std::vector<Storage> storages_;
  std::map<int, Reference> shared_parts_;
  std::map<std::string_view, std::int32_t> matrices_;
  std::map<std::string_view, std::int32_t> vectors_;

  friend void place_storages(LoweringState& state);
};

/// Gives every storage an offset in its arena, none on another that lives at the same time, and
/// rewrites the references of the plan.
void place_storages(LoweringState& state);

/// Each takes the operations from `begin` on that it fuses, appends their group to the plan and
/// returns the index after the last one.
int lower_embedded(LoweringState& state, int begin);
int lower_norm(LoweringState& state, int begin);
int lower_products(LoweringState& state, int begin);
int lower_heads(LoweringState& state, int begin);
int lower_attended(LoweringState& state, int begin);
int lower_silu(LoweringState& state, int begin);
int lower_quantized(LoweringState& state, int begin);
int lower_add(LoweringState& state, int begin);
int lower_scaled(LoweringState& state, int begin);
int lower_held(LoweringState& state, int begin);
int lower_joined(LoweringState& state, int begin);

/// True where the operation after this one quantizes its rows or takes their peaks: one kernel.
bool row_tail(const LoweringState& state, int operation);
/// What the kernel of `operation`, the group's [begin, end), writes of its rows on a chip.
RowOutputs<Planned> row_outputs(LoweringState& state, std::int32_t chip, int operation, int begin,
                                int end);

/// Says how the result of an operation can be observed, from the places of its value.
void observe(LoweringState& state, Group& group, int operation);
/// The inner values of attention.
void observe_attention(LoweringState& state, Group& group, int operation);

/// int64 to the kernels' int32; throws Error naming what is too large.
std::int32_t narrow(std::int64_t value, std::string_view what);

}  // namespace logos::cuda
