#include "sim/ddr4/address_map.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <string>

#include "program/error.h"

namespace logos::ddr4 {
namespace {

int bits_of(int count) { return std::countr_zero(static_cast<unsigned>(count)); }

}  // namespace

AddressMap::AddressMap(const Parameters& parameters, std::string_view where) {
  struct Named {
    std::string_view name;
    Field* field;  ///< null: no bits
    int bits;
    bool seen = false;
  };
  std::array<Named, 6> fields = {{
      {"ch", nullptr, 0},
      {"ra", &rank_, bits_of(parameters.ranks)},
      {"ro", &row_, bits_of(parameters.rows)},
      {"ba", &bank_, bits_of(parameters.banks_per_group)},
      {"bg", &group_, bits_of(parameters.bank_groups)},
      {"co", &column_, bits_of(parameters.columns / parameters.burst_length)},
  }};
  const std::string& order = parameters.address_order;
  const auto refuse = [&] {
    throw Error(fmt::format("{}.address_order", where), "not an order of address fields", order,
                "ch, ra, ro, ba, bg, co, each once, the highest bits first");
  };
  if (order.size() != 2 * fields.size()) refuse();
  int shift = std::countr_zero(static_cast<unsigned>(kLineBytes));
  for (std::size_t at = order.size(); at > 0; at -= 2) {
    const std::string_view name = std::string_view(order).substr(at - 2, 2);
    Named* found = nullptr;
    for (Named& named : fields) {
      if (named.name == name && !named.seen) found = &named;
    }
    if (found == nullptr) refuse();
    found->seen = true;
    if (found->field != nullptr) *found->field = {shift, (1U << found->bits) - 1U};
    shift += found->bits;
  }
  group_bits_ = bits_of(parameters.bank_groups);
  bank_bits_ = bits_of(parameters.banks_per_group);
  bytes_ = std::uint64_t{1} << shift;
}

}  // namespace logos::ddr4
