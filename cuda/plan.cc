#include "cuda/plan.h"

#include <utility>

#include "cuda/plan_fields.h"
#include "sim/records.h"

namespace logos::cuda {
namespace {

constexpr std::int64_t kVersion = 2;
constexpr std::int64_t kMostWeight = std::int64_t{1} << 40;  ///< of a share: elements of a matrix

using records::count;
using records::kMaxInt32;
using records::number;

template <typename Archive>
void field(Archive& archive, Reference& reference) {
  number(archive, reference.space, 0, kSpaces - 1);
  count(archive, reference.index);
  count(archive, reference.offset);
}
template <typename Archive>
void field(Archive& archive, std::int32_t& value) {
  count(archive, value);
}
template <typename Archive>
void field(Archive& archive, std::int64_t& value) {
  count(archive, value);
}
template <typename Archive>
void field(Archive& archive, float& value) {
  records::real(archive, value);
}
template <typename Archive>
void field(Archive& archive, double& value) {
  records::real(archive, value);
}

/// Makes `work` hold the alternative of an index.
template <std::size_t kIndex = 0>
void emplace(Work& work, std::size_t index) {
  if constexpr (kIndex < std::variant_size_v<Work>) {
    if (index == kIndex) {
      work.emplace<kIndex>();
    } else {
      emplace<kIndex + 1>(work, index);
    }
  }
}

template <typename Archive>
void transfer(Archive& archive, Step& step) {
  count(archive, step.chip);
  std::size_t index = step.work.index();
  number(archive, index, 0, static_cast<std::int64_t>(std::variant_size_v<Work>) - 1);
  if (index != step.work.index()) emplace(step.work, index);
  std::visit(
      [&](auto& work) {
        if constexpr (std::is_same_v<decltype(work), ProductStep&>) {
          number(archive, work.kernel, 0, 1);
        }
        for_each_field(work, [&](auto& value) {
          if constexpr (kIsReference<decltype(value)>) {
            field(archive, static_cast<Reference&>(value));
          } else {
            field(archive, value);
          }
        });
      },
      step.work);
}

template <typename Archive>
void transfer(Archive& archive, ObservedPart& part) {
  field(archive, part.values);
  field(archive, part.second);
  field(archive, part.exponents);
  count(archive, part.pitch);
  count(archive, part.skip);
  count(archive, part.count);
}

template <typename Archive>
void transfer(Archive& archive, Observed& observed) {
  count(archive, observed.operation);
  archive.text(observed.name);
  number(archive, observed.form, 0, kForms - 1);
  count(archive, observed.rows);
  count(archive, observed.position_row);
  count(archive, observed.width);
  archive.list(observed.parts, [](auto& inner, ObservedPart& part) { transfer(inner, part); });
}

template <typename Archive>
void transfer(Archive& archive, Group& group) {
  archive.list(group.steps, [](auto& inner, Step& step) { transfer(inner, step); });
  archive.list(group.shares, [](auto& inner, TimeShare& share) {
    count(inner, share.operation);
    number(inner, share.weight, 1, kMostWeight);
  });
  archive.list(group.observed, [](auto& inner, Observed& value) { transfer(inner, value); });
}

template <typename Archive>
void transfer_head(Archive& archive, Plan& plan) {
  std::int64_t version = kVersion;
  archive.integer(version, kVersion, kVersion);
  number(archive, plan.profile, 0, 1);
  count(archive, plan.rows);
  for (bool* flag : {&plan.is_chunk, &plan.has_tokens, &plan.has_positions, &plan.has_given,
                     &plan.each_row_caches}) {
    number(archive, *flag, 0, 1);
  }
  for (std::int64_t* value :
       {&plan.columns, &plan.vocabulary, &plan.head_columns, &plan.key_heads, &plan.window}) {
    count(archive, *value);
  }
  std::int64_t context = plan.context.value_or(0);
  count(archive, context);
  plan.context = context == 0 ? std::nullopt : std::optional(context);
  number(archive, plan.rotary.kind, 0, 2);
  for (double* value : {&plan.rotary.base, &plan.rotary.factor, &plan.rotary.low, &plan.rotary.high,
                        &plan.rotary.original}) {
    field(archive, *value);
  }
  number(archive, plan.chips, 1, kMaxInt32);
  count(archive, plan.memory_bytes);
}

}  // namespace

template <typename Archive>
void transfer(Archive& archive, Plan& plan) {
  transfer_head(archive, plan);
  archive.list(plan.matrices, [](auto& inner, PlanMatrix& matrix) {
    inner.text(matrix.tensor);
    number(inner, matrix.rows, 0, kMaxInt32);
    number(inner, matrix.columns, 0, kMaxInt32);
  });
  archive.list(plan.vectors, [](auto& inner, PlanVector& vector) {
    inner.text(vector.tensor);
    number(inner, vector.size, 0, kMaxInt32);
  });
  archive.list(plan.caches, [](auto& inner, PlanCache& cache) {
    count(inner, cache.chip);
    for (std::int64_t* value : {&cache.layer, &cache.first_head, &cache.heads}) {
      number(inner, *value, 0, kMaxInt32);
    }
  });
  for (auto* sizes : {&plan.arenas, &plan.observed}) {
    archive.list(*sizes, [](auto& inner, std::int64_t& bytes) { count(inner, bytes); });
  }
  archive.list(plan.operations, [](auto& inner, PlanOperation& operation) {
    number(inner, operation.layer, 0, kMaxInt32);
    count(inner, operation.line);
  });
  archive.list(plan.groups, [](auto& inner, Group& group) { transfer(inner, group); });
  field(archive, plan.output);
  count(archive, plan.output_rows);
  count(archive, plan.output_columns);
}

std::string serialise_plan(const Plan& plan) { return records::serialise(plan); }

Plan parse_plan(std::string_view payload, std::string_view where) {
  return records::parse<Plan>(payload, where);
}

}  // namespace logos::cuda
