#include "program/attention_bound.h"

#include <fmt/format.h>

#include <algorithm>

#include "program/error.h"

namespace logos {

void check_attended(std::int64_t position, std::optional<std::int64_t> window,
                    std::string_view where) {
  const std::int64_t attended = window ? std::min(position, *window) : position;
  if (attended <= kMostAttended) return;
  throw Error(where, "attention over more positions than its sums are exact for",
              fmt::format("{} positions", attended), fmt::format("at most {}", kMostAttended));
}

}  // namespace logos
