#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "cuda/plan.h"

namespace logos::cuda {

/// The names of the steps' kinds, in the order of Work.
inline constexpr std::array<std::string_view, std::variant_size_v<Work>> kWorkNames = {
    "embed",     "norm", "silu",  "quantize", "product", "heads",
    "attention", "add",  "scale", "held",     "join"};

/// Visits each field of an argument struct in order: references, int32, int64 or float.
template <typename Arguments, typename Visit>
void for_each_field(Arguments& arguments, Visit&& visit) {
  std::apply([&](auto&... fields) { (visit(fields), ...); }, arguments.members());
}
template <typename Visit>
void for_each_field(ProductStep& step, Visit&& visit) {
  for_each_field(step.arguments, visit);
}

template <typename Field>
inline constexpr bool kIsReference = std::is_base_of_v<Reference, std::remove_cvref_t<Field>>;

/// Visits each reference of a step.
template <typename Visit>
void for_each_reference(Step& step, Visit&& visit) {
  std::visit(
      [&](auto& work) {
        for_each_field(work, [&](auto& field) {
          if constexpr (kIsReference<decltype(field)>) visit(static_cast<Reference&>(field));
        });
      },
      step.work);
}

/// Visits each reference of a group: those of its steps, then those of what is observed.
template <typename Visit>
void for_each_reference(Group& group, Visit&& visit) {
  for (Step& step : group.steps) for_each_reference(step, visit);
  for (Observed& observed : group.observed) {
    for (ObservedPart& part : observed.parts) {
      visit(part.values);
      visit(part.second);
      visit(part.exponents);
    }
  }
}

}  // namespace logos::cuda
