#include "program/shares.h"

#include "program/check.h"

namespace logos {

Share share_of(std::int64_t units, std::int64_t chip, std::int64_t chips) {
  CHECK(chip >= 0 && chip < chips && chips < (std::int64_t{1} << 31) &&
        units < (std::int64_t{1} << 31));
  return {chip * units / chips, (chip + 1) * units / chips};
}

Share query_heads_of(const ModelSpec& spec, std::int64_t chip, std::int64_t chips) {
  return share_of(spec.query_heads, chip, chips);
}

Share key_heads_of(const ModelSpec& spec, std::int64_t chip, std::int64_t chips) {
  const std::int64_t group = spec.query_heads / spec.key_heads;
  const Share heads = query_heads_of(spec, chip, chips);
  return {heads.begin / group, (heads.end - 1) / group + 1};
}

Share held_share(HeldShare share, std::int64_t units, const ModelSpec& spec, std::int64_t chip,
                 std::int64_t chips) {
  const auto columns_of = [&](Share heads) {
    return Share{heads.begin * spec.head_columns, heads.end * spec.head_columns};
  };
  switch (share) {
    case HeldShare::kAll:
      return {0, units};
    case HeldShare::kRows:
    case HeldShare::kColumns:
      return share_of(units, chip, chips);
    case HeldShare::kQueryHeadRows:
    case HeldShare::kQueryHeadColumns:
      return columns_of(query_heads_of(spec, chip, chips));
    case HeldShare::kKeyHeadRows:
      return columns_of(key_heads_of(spec, chip, chips));
    case HeldShare::kKeyHeads:
      return key_heads_of(spec, chip, chips);
  }
  CHECK_UNREACHABLE();
}

}  // namespace logos
