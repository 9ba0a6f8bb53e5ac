#include "sim/comparison.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "program/check.h"
#include "program/identity.h"
#include "sim/operation_order.h"

namespace logos {
namespace {

using Digest = std::array<char, 32>;

/// SHA-256 over parts, in one go (OpenSSL EVP).
class Hash {
 public:
  Hash() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    CHECK(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
  }
  Hash& add(const void* data, std::size_t bytes) {
    CHECK(EVP_DigestUpdate(context_.get(), data, bytes) == 1);
    return *this;
  }
  Digest finish() {
    Digest digest{};
    unsigned size = 0;
    CHECK(EVP_DigestFinal_ex(context_.get(), reinterpret_cast<unsigned char*>(digest.data()),
                             &size) == 1);
    CHECK(size == digest.size());
    return digest;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_;
};

/// Everything that must agree of one row of an operation: type, exponents and values.
Digest digest_of(const Observation& o) {
  const std::array<std::uint64_t, 3> sizes = {static_cast<std::uint64_t>(o.type),
                                              o.exponents.size(), o.values.size()};
  return Hash()
      .add(sizes.data(), sizeof sizes)
      .add(o.exponents.data(), o.exponents.size())
      .add(o.values.data(), o.values.size())
      .finish();
}

std::string hex_of(const Digest& digest) {
  std::string text;
  for (const char byte : digest) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

/// What is kept of an operation in the first run: a digest a row.
struct RowDigests {
  int line = 0;
  std::map<std::int64_t, Digest> rows;
};
using RunDigests = std::map<OperationPlace, RowDigests>;

void collect(RunDigests& run, const Observation& o) {
  RowDigests& operation = run[place_of(o.name, o.layer)];
  if (operation.rows.empty()) operation.line = o.line;
  const auto [at, added] = operation.rows.emplace(o.row, digest_of(o));
  if (added) return;
  // The same row once more: both count, so a machine that repeats itself differs.
  const Digest again = digest_of(o);
  at->second =
      Hash().add(at->second.data(), at->second.size()).add(again.data(), again.size()).finish();
}

std::int64_t layer_of(const OperationPlace& place) {
  return place.layer == place_of("logits", 0).layer ? 0 : place.layer;
}

class DigestObserver : public Observer {
 public:
  void observe(const Observation& observation) override { collect(run, observation); }
  RunDigests run;
};

/// One row of one operation.
struct Row {
  OperationPlace place;
  std::int64_t row = 0;
};

/// The first row in program order that only one run has or whose digests differ.
std::optional<Row> first_difference(const RunDigests& expected, const RunDigests& got) {
  auto a = expected.begin();
  auto b = got.begin();
  for (; a != expected.end() || b != got.end(); ++a, ++b) {
    if (b == got.end() || (a != expected.end() && a->first < b->first)) {
      return Row{a->first, a->second.rows.begin()->first};
    }
    if (a == expected.end() || b->first < a->first) {
      return Row{b->first, b->second.rows.begin()->first};
    }
    const auto& x = a->second.rows;
    const auto& y = b->second.rows;
    auto i = x.begin();
    auto j = y.begin();
    for (; i != x.end() && j != y.end(); ++i, ++j) {
      if (*i != *j) return Row{a->first, std::min(i->first, j->first)};
    }
    if (i != x.end()) return Row{a->first, i->first};
    if (j != y.end()) return Row{a->first, j->first};
  }
  return std::nullopt;
}

/// Keeps the values of one row of one operation of the second run.
class Capture : public Observer {
 public:
  explicit Capture(const Row& wanted) : wanted_(wanted) {}

  void observe(const Observation& o) override {
    if (o.row != wanted_.row || place_of(o.name, o.layer) != wanted_.place) return;
    ++times;
    type = o.type;
    values.assign(o.values.begin(), o.values.end());
    exponents.assign(o.exponents.begin(), o.exponents.end());
  }

  std::size_t count() const { return values.size() / bytes_of(type); }
  std::string shape() const {
    if (times == 0) return "nothing";
    return fmt::format("{} {} values, {} exponents, seen {} times", count(), name_of(type),
                       exponents.size(), times);
  }

  int times = 0;
  ElementType type = ElementType::kF32;
  std::vector<std::byte> values;
  std::vector<std::int8_t> exponents;

 private:
  Row wanted_;
};

/// Finds the element where two rows of equal shape part, blocks in order and a block's exponent
/// before its values. Returns whether there is one.
bool find_element(const Capture& expected, const Capture& got, Divergence& divergence) {
  const std::size_t blocks = std::max<std::size_t>(expected.exponents.size(), 1);
  const std::size_t block = std::max<std::size_t>(expected.count() / blocks, 1);
  const std::size_t element = bytes_of(expected.type);
  for (std::size_t i = 0; i < expected.count(); ++i) {
    if (i % block == 0 && i / block < expected.exponents.size()) {
      const int e = expected.exponents[i / block];
      const int f = got.exponents[i / block];
      if (e != f) {
        divergence.column = static_cast<std::int64_t>(i);
        divergence.expected = fmt::format("e={}", e);
        divergence.got = fmt::format("e={}", f);
        return true;
      }
    }
    if (std::memcmp(expected.values.data() + i * element, got.values.data() + i * element,
                    element) != 0) {
      divergence.column = static_cast<std::int64_t>(i);
      divergence.expected = hex_of(expected.type, expected.values, i);
      divergence.got = hex_of(got.type, got.values, i);
      return true;
    }
  }
  return false;
}

/// The line of the program without its indent.
std::string text_of(const std::vector<std::string>& lines, int line) {
  if (line < 1 || static_cast<std::size_t>(line) > lines.size()) return "";
  const std::string& text = lines[static_cast<std::size_t>(line - 1)];
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin);
}

/// For a difference that the second runs did not show again: the first runs' digests.
std::string digest_at(const RunDigests& run, const Row& row) {
  const auto operation = run.find(row.place);
  if (operation == run.end()) return "nothing";
  const auto found = operation->second.rows.find(row.row);
  return found == operation->second.rows.end() ? "nothing" : "sha256=" + hex_of(found->second);
}

}  // namespace

struct LineDigests::Impl {
  RunDigests run;
};

LineDigests::LineDigests() : impl_(std::make_unique<Impl>()) {}
LineDigests::~LineDigests() = default;

void LineDigests::observe(const Observation& observation) { collect(impl_->run, observation); }

std::vector<LineDigest> LineDigests::digests() const {
  std::vector<LineDigest> all;
  for (const auto& [place, operation] : impl_->run) {
    Hash hash;
    for (const auto& [row, digest] : operation.rows) {
      hash.add(&row, sizeof row).add(digest.data(), digest.size());
    }
    all.push_back({std::string(operation_at(place.rank)), layer_of(place), operation.line,
                   hex_of(hash.finish())});
  }
  return all;
}

std::optional<Divergence> first_divergence(const ObservedRun& expected, const ObservedRun& got,
                                           const std::vector<std::string>& lines) {
  DigestObserver first_expected;
  DigestObserver first_got;
  expected(first_expected);
  got(first_got);
  const auto row = first_difference(first_expected.run, first_got.run);
  if (!row) return std::nullopt;

  Divergence divergence;
  const RunDigests& owner =
      first_expected.run.contains(row->place) ? first_expected.run : first_got.run;
  divergence.layer = layer_of(row->place);
  divergence.line = owner.at(row->place).line;
  divergence.name = operation_at(row->place.rank);
  divergence.text = text_of(lines, divergence.line);
  divergence.row = row->row;

  Capture second_expected(*row);
  Capture second_got(*row);
  expected(second_expected);
  got(second_got);
  if (second_expected.shape() != second_got.shape()) {
    divergence.expected = second_expected.shape();
    divergence.got = second_got.shape();
  } else if (!find_element(second_expected, second_got, divergence)) {
    divergence.expected = digest_at(first_expected.run, *row);
    divergence.got = digest_at(first_got.run, *row);
  }
  return divergence;
}

bool same_outputs(const Result& expected, const Result& got) {
  if (expected.rows != got.rows || expected.columns != got.columns ||
      expected.outputs.size() != got.outputs.size()) {
    return false;
  }
  if (!expected.outputs.empty() && std::memcmp(expected.outputs.data(), got.outputs.data(),
                                               expected.outputs.size() * sizeof(float)) != 0) {
    return false;
  }
  if (expected.fault.has_value() != got.fault.has_value()) return false;
  return !expected.fault ||
         (expected.fault->layer == got.fault->layer && expected.fault->line == got.fault->line);
}

}  // namespace logos
