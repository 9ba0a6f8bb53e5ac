#include "program/written.h"

#include "program/author.h"

namespace logos {
namespace {

Written write(const Facts& facts) {
  Written result;
  result.text = author(facts);
  const Facts placeholder = facts.placeholder();
  result.identity = {facts.cut.text(), facts.chips,
                     sha256_hex(facts == placeholder ? result.text : author(placeholder))};
  return result;
}

}  // namespace

Written written(const ModelSpec& spec, const Cut& cut) { return written_split(spec, cut, 1); }

Written written_in(const ModelSpec& spec, const Cut& cut, std::string_view dir) {
  return written_split(spec, cut, 1, dir);
}

Written written_split(const ModelSpec& spec, const Cut& cut, std::int64_t chips,
                      std::string_view dir) {
  Facts facts;
  facts.spec = spec;
  facts.cut = cut;
  facts.chips = chips;
  facts.directory = dir;
  return write(facts);
}

Written decode_at(const ModelSpec& spec, std::int64_t context, std::int64_t token,
                  std::int64_t position, std::string_view dir) {
  Facts facts;
  facts.spec = spec;
  facts.cut.work = Cut::Work::kDecode;
  facts.cut.context = context;
  facts.tokens = {token};
  facts.positions = {position};
  facts.directory = dir;
  return write(facts);
}

Written batch_at(const ModelSpec& spec, std::int64_t context, std::span<const std::int64_t> tokens,
                 std::span<const std::int64_t> positions, std::string_view dir) {
  Facts facts;
  facts.spec = spec;
  facts.cut.work = Cut::Work::kBatch;
  facts.cut.rows = static_cast<std::int64_t>(tokens.size());
  facts.cut.context = context;
  facts.tokens.assign(tokens.begin(), tokens.end());
  facts.positions.assign(positions.begin(), positions.end());
  facts.directory = dir;
  return write(facts);
}

Written prefill_at(const ModelSpec& spec, std::span<const std::int64_t> tokens,
                   std::int64_t first_position, std::string_view dir) {
  Facts facts;
  facts.spec = spec;
  facts.cut.work = Cut::Work::kPrefill;
  facts.cut.rows = static_cast<std::int64_t>(tokens.size());
  facts.tokens.assign(tokens.begin(), tokens.end());
  facts.positions.reserve(tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    // Wraps to a position that `author` refuses rather than overflow.
    facts.positions.push_back(
        static_cast<std::int64_t>(static_cast<std::uint64_t>(first_position) + i));
  }
  facts.directory = dir;
  return write(facts);
}

}  // namespace logos
