#include "program/manifest.h"

#include <fmt/format.h>

#include <charconv>

#include "program/check.h"
#include "program/shares.h"
#include "program/text/printer.h"

namespace logos {
namespace {

/// What a name of the manifest stands for: its shape and how the chips of a split program hold it.
struct Role {
  std::string_view name;
  std::int64_t rows = 0;  ///< size of a gain or bias
  std::int64_t columns = 0;
  HeldShare share = HeldShare::kAll;
};

std::string_view noun_of(Declaration::Kind kind) {
  switch (kind) {
    case Declaration::Kind::kWeight:
      return "weight";
    case Declaration::Kind::kGain:
      return "gain";
    case Declaration::Kind::kBias:
      return "bias";
    case Declaration::Kind::kCache:
      return "cache";
    case Declaration::Kind::kRepeat:
      break;
  }
  CHECK_UNREACHABLE();
}

/// The names that a declaration of a kind may have, in the layers' loop or outside it.
std::vector<Role> roles(const ModelSpec& spec, Declaration::Kind kind, bool in_layer) {
  const std::int64_t query = spec.query_heads * spec.head_columns;
  const std::int64_t key = spec.key_heads * spec.head_columns;
  switch (kind) {
    case Declaration::Kind::kWeight:
      if (!in_layer) {
        return {{"embedding", spec.vocabulary, spec.columns, HeldShare::kRows},
                {"head", spec.vocabulary, spec.columns, HeldShare::kRows}};
      }
      return {{"query {n}", query, spec.columns, HeldShare::kQueryHeadRows},
              {"key {n}", key, spec.columns, HeldShare::kKeyHeadRows},
              {"value {n}", key, spec.columns, HeldShare::kKeyHeadRows},
              {"output {n}", spec.columns, query, HeldShare::kQueryHeadColumns},
              {"gate {n}", spec.hidden_columns, spec.columns, HeldShare::kRows},
              {"up {n}", spec.hidden_columns, spec.columns, HeldShare::kRows},
              {"down {n}", spec.columns, spec.hidden_columns, HeldShare::kColumns}};
    case Declaration::Kind::kGain:
      if (!in_layer) return {{"final norm", spec.columns}};
      return {{"input norm {n}", spec.columns},
              {"post norm {n}", spec.columns},
              {"query norm {n}", spec.head_columns},
              {"key norm {n}", spec.head_columns}};
    case Declaration::Kind::kBias:
      if (!in_layer) return {};
      return {{"query {n}", query, 0, HeldShare::kQueryHeadRows},
              {"key {n}", key, 0, HeldShare::kKeyHeadRows},
              {"value {n}", key, 0, HeldShare::kKeyHeadRows}};
    case Declaration::Kind::kCache:
      if (!in_layer) return {};
      return {{"keys {n}", 0, 0, HeldShare::kKeyHeads}, {"values {n}", 0, 0, HeldShare::kKeyHeads}};
    case Declaration::Kind::kRepeat:
      break;
  }
  CHECK_UNREACHABLE();
}

class Unroller {
 public:
  Unroller(const Source& source, const Facts& facts, std::int64_t chip)
      : source_(source), facts_(facts), chip_(chip) {}

  Manifest run(const Syntax& syntax) {
    for (const Declaration& declaration : syntax.manifest) {
      if (declaration.kind != Declaration::Kind::kRepeat) {
        check(declaration, false);
        add(declaration, 0);
        continue;
      }
      check_bounds(declaration);
      for (const Declaration& inner : declaration.body) check(inner, true);
      for (std::int64_t n = first_; n <= last_; ++n) {
        for (const Declaration& inner : declaration.body) add(inner, n);
      }
    }
    return std::move(manifest_);
  }

 private:
  void expect(Place place, std::int64_t found, std::int64_t expected, std::string_view what) const {
    if (found == expected) return;
    refuse(source_, place, fmt::format("{} {}", found, what), fmt::format("{}", expected));
  }

  /// The loop of the manifest runs over the layers of the cut.
  void check_bounds(const Declaration& loop) {
    const bool whole = facts_.cut.part != Cut::Part::kLayer;
    first_ = whole ? 1 : facts_.cut.layer;
    last_ = whole ? facts_.spec.layers : facts_.cut.layer;
    if (loop.name != "n") refuse(source_, loop.name_place, quote(loop.name), "\"n\"");
    expect(loop.from.place, loop.from.integer, first_, "as the first layer");
    if (loop.to.kind == Expression::Kind::kName) {
      refuse(source_, loop.to.place, quote(loop.to.name), fmt::format("{}", last_));
    }
    expect(loop.to.place, loop.to.integer, last_, "as the last layer");
  }

  void check(const Declaration& declaration, bool in_layer) const {
    const auto known = roles(facts_.spec, declaration.kind, in_layer);
    const Role* role = nullptr;
    std::string names;
    for (const Role& candidate : known) {
      if (candidate.name == declaration.name) role = &candidate;
      names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", candidate.name);
    }
    const std::string_view noun = noun_of(declaration.kind);
    if (role == nullptr) {
      refuse(source_, declaration.name_place, fmt::format("{} {}", noun, quote(declaration.name)),
             names.empty() ? fmt::format("no {} {} the layers", noun, in_layer ? "in" : "outside")
                           : "one of " + names);
    }
    if (declaration.kind == Declaration::Kind::kCache) {
      check_cache(declaration);
    } else {
      const bool weight = declaration.kind == Declaration::Kind::kWeight;
      expect(declaration.rows_place, declaration.rows, role->rows, weight ? "rows" : "values");
      if (weight) expect(declaration.columns_place, declaration.columns, role->columns, "columns");
    }
    const HeldShare share = facts_.chips == 1 ? HeldShare::kAll : role->share;
    if (declaration.share == share) return;
    refuse(
        source_, declaration.share_place,
        declaration.share == HeldShare::kAll ? "no share" : quote(share_words(declaration.share)),
        share == HeldShare::kAll ? "no share" : quote(share_words(share)));
  }

  void check_cache(const Declaration& cache) const {
    const bool chunk = facts_.cut.work == Cut::Work::kPrefill;
    if (cache.positions.has_value() == chunk) {
      refuse(source_, cache.positions_place, chunk ? "a number of positions" : "\"the run's\"",
             chunk ? "\"the run's\"" : fmt::format("{}", facts_.cut.context));
    }
    if (cache.positions) {
      expect(cache.positions_place, *cache.positions, facts_.cut.context, "positions");
    }
    expect(cache.heads_place, cache.heads, facts_.spec.key_heads, "heads");
    expect(cache.columns_place, cache.columns, facts_.spec.head_columns, "columns");
    const bool batch = facts_.cut.work == Cut::Work::kBatch;
    if (cache.one_for_each_row != batch) {
      refuse(source_, cache.sharing_place,
             batch ? "\"shared by all rows\"" : "\"one for each row\"",
             batch ? "\"one for each row\"" : "\"shared by all rows\"");
    }
  }

  Share held(HeldShare share, std::int64_t units) const {
    return held_share(share, units, facts_.spec, chip_, facts_.chips);
  }

  /// `layer` 0: outside the loop, where no hole has a value.
  void add(const Declaration& declaration, std::int64_t layer) {
    const HoleValue value = [&](std::string_view name) -> std::optional<std::int64_t> {
      if (layer == 0 || name != "n") return std::nullopt;
      return layer;
    };
    const std::string name = fill_holes(source_, declaration.name_place, declaration.name, value);
    Declared declared;
    declared.declaration = &declaration;
    std::string tensor;
    if (declaration.kind != Declaration::Kind::kCache) {
      tensor = fill_holes(source_, declaration.tensor_place, declaration.tensor, value);
    }
    switch (declaration.kind) {
      case Declaration::Kind::kWeight: {
        const bool columns = declaration.share == HeldShare::kColumns ||
                             declaration.share == HeldShare::kQueryHeadColumns;
        const HeldShare all = HeldShare::kAll;
        declared.index = static_cast<int>(manifest_.matrices.size());
        manifest_.matrices.push_back(
            {name, tensor, declaration.rows, declaration.columns,
             held(columns ? all : declaration.share, declaration.rows),
             held(columns ? declaration.share : all, declaration.columns)});
        break;
      }
      case Declaration::Kind::kGain:
      case Declaration::Kind::kBias:
        declared.index = static_cast<int>(manifest_.vectors.size());
        manifest_.vectors.push_back(
            {name, tensor, declaration.rows, held(declaration.share, declaration.rows)});
        break;
      case Declaration::Kind::kCache:
        declared.index = static_cast<int>(manifest_.caches.size());
        manifest_.caches.push_back({name, layer, declaration.name == "keys {n}",
                                    declaration.positions, declaration.heads, declaration.columns,
                                    declaration.one_for_each_row,
                                    held(declaration.share, declaration.heads)});
        break;
      case Declaration::Kind::kRepeat:
        CHECK_UNREACHABLE();
    }
    const std::string key = fmt::format("{} {}", noun_of(declaration.kind), name);
    if (!manifest_.declared.emplace(key, declared).second) {
      refuse(source_, declaration.name_place, fmt::format("{} again", quote(name)),
             "a name that is new");
    }
  }

  const Source& source_;
  const Facts& facts_;
  std::int64_t chip_;
  std::int64_t first_ = 0;
  std::int64_t last_ = 0;
  Manifest manifest_;
};

}  // namespace

Declared* Manifest::find(std::string_view noun, std::string_view name) {
  const auto found = declared.find(fmt::format("{} {}", noun, name));
  return found == declared.end() ? nullptr : &found->second;
}

std::string fill_holes(const Source& source, Place place, std::string_view text,
                       const HoleValue& value) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '{' && text[i] != '}') {
      result += text[i];
      continue;
    }
    const Place hole_place = {place.line, place.column + 1 + static_cast<int>(i)};
    const std::size_t end = text.find('}', i);
    if (text[i] == '}' || end == std::string_view::npos) {
      refuse(source, hole_place, quote(text.substr(i, 1)), "a hole such as {n} or {n - 1}");
    }
    const std::string_view hole = text.substr(i + 1, end - i - 1);
    const std::string_view name = hole.substr(0, hole.find(" - "));
    std::int64_t minus = 0;
    bool fits = true;
    if (name.size() < hole.size()) {
      const std::string_view digits = hole.substr(name.size() + 3);
      const auto [last, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), minus);
      fits = error == std::errc() && last == digits.data() + digits.size() &&
             digits == fmt::format("{}", minus);
    }
    const auto of_name = value(name);
    if (!fits || !of_name || minus < 0 || minus > *of_name) {
      refuse(source, hole_place, quote(text.substr(i, end - i + 1)),
             "a hole such as {n} or {n - 1}");
    }
    result += fmt::format("{}", *of_name - minus);
    i = end;
  }
  return result;
}

Manifest unroll_manifest(const Source& source, const Syntax& syntax, const Facts& facts,
                         std::int64_t chip) {
  return Unroller(source, facts, chip).run(syntax);
}

}  // namespace logos
