#include "program/check_facts.h"

#include <fmt/format.h>

#include <limits>

#include "program/error.h"

namespace logos {
namespace {

constexpr std::int64_t kMostPosition = std::numeric_limits<std::int32_t>::max();

void check_cut(const Facts& facts, std::string_view where) {
  const Cut& cut = facts.cut;
  const bool chunk = cut.work == Cut::Work::kPrefill;
  const bool step = cut.work == Cut::Work::kDecode;
  const auto check = [&](std::string_view what, std::int64_t value, std::int64_t least,
                         std::int64_t most) {
    if (value >= least && value <= most) return;
    const std::string want = least == most  ? fmt::format("{}", least)
                             : most < least ? "none of it"
                                            : fmt::format("{} to {}", least, most);
    throw Error(where, what, fmt::format("{}", value), want);
  };
  check("rows of the cut", cut.rows, 1, step ? 1 : kMostPosition);
  check("cache positions of the cut", cut.context, chunk ? 0 : 1, chunk ? 0 : kMostPosition);
  const bool layer = cut.part == Cut::Part::kLayer;
  check("layer of the cut", cut.layer, layer ? 1 : 0, layer ? facts.spec.layers : 0);
  if (facts.chips < 1 || facts.chips > facts.spec.query_heads) {
    throw Error(where, "every chip needs a query head of its own",
                fmt::format("{} chips", facts.chips),
                fmt::format("1 to {} chips", facts.spec.query_heads));
  }
}

/// `values` is a run's list; `name` is "tokens" or "positions".
void check_count(const Facts& facts, std::string_view where, std::string_view name, bool takes,
                 const std::vector<std::int64_t>& values) {
  const std::int64_t want = takes ? facts.cut.rows : 0;
  if (static_cast<std::int64_t>(values.size()) == want) return;
  throw Error(where, fmt::format("another count of {} than the cut takes", name),
              fmt::format("{} {}", values.size(), name), fmt::format("{} {}", want, name));
}

void check_inputs(const Facts& facts, std::string_view where) {
  // The placeholder form has neither list; a run's has all that its cut takes.
  if (facts.tokens.empty() && facts.positions.empty()) return;
  if (facts.cut.rows > kMostRunRows) {
    throw Error(where, "too many rows of a run", fmt::format("{}", facts.cut.rows),
                fmt::format("at most {}", kMostRunRows));
  }
  check_count(facts, where, "tokens", takes_tokens(facts.cut), facts.tokens);
  check_count(facts, where, "positions", takes_positions(facts.cut), facts.positions);
  for (std::size_t i = 0; i < facts.tokens.size(); ++i) {
    if (facts.tokens[i] >= 1 && facts.tokens[i] <= facts.spec.vocabulary) continue;
    throw Error(where,
                fmt::format("token {} of {} is not of the vocabulary", i + 1, facts.tokens.size()),
                fmt::format("{}", facts.tokens[i]),
                fmt::format("1 to {} (counted from 1)", facts.spec.vocabulary));
  }
  const bool chunk = facts.cut.work == Cut::Work::kPrefill;
  const std::int64_t most = chunk ? kMostPosition : facts.cut.context;
  for (std::size_t i = 0; i < facts.positions.size(); ++i) {
    const std::int64_t position = facts.positions[i];
    if (position < 1 || position > most) {
      throw Error(
          where,
          fmt::format("position {} of {} is not in the cache", i + 1, facts.positions.size()),
          fmt::format("{}", position), fmt::format("1 to {} (counted from 1)", most));
    }
    if (chunk && i > 0 && position != facts.positions[i - 1] + 1) {
      throw Error(where, "a chunk's positions are consecutive", fmt::format("{}", position),
                  fmt::format("{}", facts.positions[i - 1] + 1));
    }
  }
}

void check_directory(std::string_view directory, std::string_view where) {
  for (const char c : directory) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7F && c != '"') continue;
    throw Error(where, "a program cannot name this directory of weights",
                fmt::format("byte 0x{:02x} in it", byte), "no quote and no control character");
  }
}

}  // namespace

bool takes_tokens(const Cut& cut) {
  return cut.part == Cut::Part::kWhole || cut.part == Cut::Part::kEmbedding;
}

bool takes_positions(const Cut& cut) {
  return cut.part == Cut::Part::kWhole || cut.part == Cut::Part::kLayer;
}

void check_facts(const Facts& facts) {
  const std::string where = facts.cut.text();
  validate(facts.spec, where);
  check_cut(facts, where);
  check_inputs(facts, where);
  check_directory(facts.directory, where);
}

}  // namespace logos
