#include "bench/default_inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <utility>

#include "program/error.h"

namespace logos::bench {
namespace {

bool takes_tokens(const Cut& cut) {
  return cut.part == Cut::Part::kWhole || cut.part == Cut::Part::kEmbedding;
}
bool takes_positions(const Cut& cut) {
  return cut.part == Cut::Part::kWhole || cut.part == Cut::Part::kLayer;
}
bool takes_rows(const Cut& cut) {
  return cut.part == Cut::Part::kLayer || cut.part == Cut::Part::kHead;
}

Cut part_of(const Cut& cut, Cut::Part part, std::int64_t layer = 0) {
  Cut result = cut;
  result.part = part;
  result.layer = layer;
  return result;
}

/// What the rows that enter a part are computed from, as a key.
std::string key_of(const Plan& plan, std::int64_t layers) {
  return fmt::format("{} {} {} {} {} {}", part_of(plan.cut, Cut::Part::kWhole).text(), layers,
                     plan.capacity, plan.tokens, plan.positions, plan.histories);
}

}  // namespace

std::vector<float> synthetic_rows(std::int64_t rows, std::int64_t columns, std::uint64_t stream) {
  SplitMix64 random(stream);
  std::vector<float> values(static_cast<std::size_t>(rows * columns));
  for (float& value : values) {
    const auto bits = static_cast<std::int32_t>(random.next() >> 40);  // 24 bits
    value = static_cast<float>(bits - (1 << 23)) * 0x1p-23f;
  }
  return values;
}

std::vector<KvCache> InputMaker::caches(const Plan& plan, std::int64_t first_layer,
                                        std::int64_t layers) {
  std::vector<KvCache> caches;
  const std::int64_t count = plan.cut.work == Cut::Work::kBatch ? plan.cut.rows : 1;
  for (std::int64_t row = 0; row < count; ++row) {
    if (row > 0 && plan.histories.size() == 1) {
      caches.push_back(caches.front());
      continue;
    }
    caches.push_back(caches_.filled(plan.history(row), plan.capacity, first_layer, layers));
  }
  return caches;
}

/// The rows after the embedding and `layers` layers of the whole cut, each part run on its own.
std::vector<float> InputMaker::computed_rows(const Plan& plan, std::int64_t layers) {
  const std::string key = key_of(plan, layers);
  if (const auto found = given_.find(key); found != given_.end()) return found->second;
  Inputs inputs;
  if (layers == 0) {
    inputs.tokens = plan.tokens;
  } else {
    inputs.given = computed_rows(plan, layers - 1);
    inputs.positions = plan.positions;
    inputs.caches = caches(plan, layers, 1);
  }
  const Cut part = layers == 0 ? part_of(plan.cut, Cut::Part::kEmbedding)
                               : part_of(plan.cut, Cut::Part::kLayer, layers);
  return given_.emplace(key, reference_.run(part, inputs).result.outputs).first->second;
}

std::vector<float> InputMaker::given(const Plan& plan) {
  const std::int64_t before =
      plan.cut.part == Cut::Part::kHead ? model_.spec.layers : plan.cut.layer - 1;
  if (!model_.path) {
    return synthetic_rows(plan.cut.rows, model_.spec.columns,
                          static_cast<std::uint64_t>(before) + 1);
  }
  return computed_rows(plan, before);
}

Inputs InputMaker::inputs(const Plan& plan) {
  Inputs inputs;
  if (takes_tokens(plan.cut)) inputs.tokens = plan.tokens;
  if (takes_rows(plan.cut)) inputs.given = given(plan);
  if (takes_positions(plan.cut)) {
    inputs.positions = plan.positions;
    const bool layer = plan.cut.part == Cut::Part::kLayer;
    inputs.caches = caches(plan, layer ? plan.cut.layer : 1, layer ? 1 : model_.spec.layers);
  }
  return inputs;
}

void check_host_memory(const Cut& cut, const ModelSpec& spec, std::int64_t capacity,
                       std::string_view option) {
  const double caches = cut.work == Cut::Work::kBatch ? static_cast<double>(cut.rows) : 1.0;
  const double layers = cut.part == Cut::Part::kWhole   ? static_cast<double>(spec.layers)
                        : cut.part == Cut::Part::kLayer ? 1.0
                                                        : 0.0;
  const double block_bytes = 2.0 * (2.0 * static_cast<double>(spec.head_columns) + 1.0);
  const double cache_bytes = caches * static_cast<double>(capacity) * layers *
                             static_cast<double>(spec.key_heads) * block_bytes;
  // Two row streams of binary32; two words for each token of a history.
  const double row_bytes = 8.0 * static_cast<double>(cut.rows) * static_cast<double>(spec.columns);
  const double token_bytes =
      16.0 * (caches * static_cast<double>(capacity) + static_cast<double>(cut.rows));
  const double need = cache_bytes + row_bytes + token_bytes;
  const double have =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (have > 0 && need > have) {
    constexpr double kGib = 1024.0 * 1024.0 * 1024.0;
    throw Error(option.empty() ? cut.text() : fmt::format("{} for {}", option, cut.text()),
                "the inputs do not fit into this host's memory",
                fmt::format("{:.1f} GiB needed", need / kGib),
                fmt::format("at most {:.1f} GiB", have / kGib));
  }
}

}  // namespace logos::bench
