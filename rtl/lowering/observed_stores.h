#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "rtl/lowering/observed_additions.h"

namespace logos::d5005 {

/// Rows of vector memory.
struct VectorRows {
  std::int64_t base = 0;
  std::int64_t stride = 0;
};

template <typename Enum>
std::uint32_t code(Enum value) {
  return static_cast<std::uint32_t>(value);
}

/// Collects additions to a board's program: their instructions, what these store and which
/// operation that is of.
class ObservedStores {
 public:
  ObservedStores(const Plan& plan, std::size_t board, std::vector<ObservedOperation>* operations);

 protected:
  const Plan& plan() const { return plan_; }
  const BoardPlan& board() const { return plan_.boards[board_]; }
  std::int64_t rows_of_pass() const { return rows_of_pass_; }  ///< of the largest
  std::int64_t rows_of_run() const { return rows_of_run_; }    ///< of the engine
  /// What all boards hold whole is shown by the first.
  bool is_first() const { return board_ == 0; }
  const PlanLine& line_of(const Instruction& i) const;
  const PlanLine& block_of(const Instruction& i) const;  ///< of what it quantizes

  /// The place in the program of the instruction at hand.
  void go_to(std::size_t place) { place_ = place; }
  /// Begins an addition in front of the instruction at hand, or behind it.
  void before() { additions_.push_back({place_, {}, 0, {}}); }
  void after() { additions_.push_back({place_ + 1, {}, 0, {}}); }
  Addition& current() { return additions_.back(); }
  void add(const Instruction& i);
  std::vector<Addition> take() { return std::move(additions_); }

  /// Appends a store of what `like` is of and gives where its rows go.
  ObservedPiece store(const Instruction& like, StoreSource what, Instruction shape,
                      std::int64_t lines);
  ObservedPiece store_vector(const Instruction& like, const VectorRows& from, std::int64_t columns);
  /// Says that a piece belongs to the operation of that name in the layer of `like`.
  void show(std::string_view name, const Instruction& like, StoreSource what,
            const ObservedPiece& piece);
  void show_vector(std::string_view name, const Instruction& like, const VectorRows& from,
                   std::int64_t columns);
  /// The values that the instruction's own operation left.
  void show_after(const Instruction& i, const VectorRows& from);
  /// Heads that begin at multiples of 4 columns.
  void show_heads(std::string_view name, const Instruction& like, const VectorRows& from,
                  std::int64_t slots);
  void show_activation(std::string_view name, const Instruction& i);
  void show_query(std::string_view name, const Instruction& i);

 private:
  const PlanLine& line_at(std::size_t index) const;
  /// Key heads that the board before holds, too, are shown by that one.
  void show_own_heads(std::string_view name, const Instruction& like, StoreSource what,
                      ObservedPiece piece);
  std::int64_t shared_heads(std::string_view name, std::int64_t layer) const;

  const Plan& plan_;
  std::size_t board_;
  std::vector<ObservedOperation>& operations_;
  std::int64_t rows_of_pass_;
  std::int64_t rows_of_run_;
  std::size_t place_ = 0;
  std::vector<Addition> additions_;
  std::int64_t added_ = 0;
};

inline constexpr const char* kObservation = "d5005: observation";  ///< where errors come from
inline constexpr std::int64_t kLineBytes = 64;
std::int64_t lines_of(std::int64_t bytes);
/// A number of an instruction; Error for one of a damaged plan.
std::uint32_t narrow_observed(std::int64_t value);

}  // namespace logos::d5005
