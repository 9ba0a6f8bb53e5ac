#include "program/cut.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "program/error.h"
#include "program/written.h"

namespace logos {
namespace {

constexpr std::string_view kForms =
    "decode:CTX, prefill:ROWS, batch:ROWSxCTX, or layer:N@, embedding@ or head@ before one of them";

/// A text being read from its front; every refusal quotes the whole of it.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text), rest_(text) {}

  bool skip(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  /// A number from 1 to 2^31-1 without a leading zero.
  std::int64_t number() {
    const std::size_t digits = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    const std::string_view found = rest_.substr(0, digits);
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    std::int64_t value = 0;
    if (digits > 0 && digits <= 10) std::from_chars(found.data(), found.data() + digits, value);
    if (digits == 0 || found.front() == '0' || digits > 10 || value > kMost) {
      fail("a number of the cut", digits == 0 ? (rest_.empty() ? "the end" : rest_) : found,
           fmt::format("1 to {} without a leading zero", kMost));
    }
    rest_.remove_prefix(digits);
    return value;
  }

  void end() const {
    if (!rest_.empty()) fail("text after the cut", rest_, "the end");
  }

  [[noreturn]] void fail(std::string_view what, std::string_view got, std::string_view want) const {
    throw Error(fmt::format("cut \"{}\"", text_.substr(0, 80)), what,
                fmt::format("\"{}\"", got.substr(0, 40)), want);
  }
  [[noreturn]] void fail_form() const { fail("not a cut", rest_, kForms); }

 private:
  std::string_view text_;
  std::string_view rest_;
};

}  // namespace

Cut Cut::parse(std::string_view text) {
  Reader reader(text);
  Cut cut;
  if (reader.skip("layer:")) {
    cut.part = Part::kLayer;
    cut.layer = reader.number();
    if (!reader.skip("@")) reader.fail_form();
  } else if (reader.skip("embedding@")) {
    cut.part = Part::kEmbedding;
  } else if (reader.skip("head@")) {
    cut.part = Part::kHead;
  }
  if (reader.skip("decode:")) {
    cut.work = Work::kDecode;
    cut.context = reader.number();
  } else if (reader.skip("prefill:")) {
    cut.work = Work::kPrefill;
    cut.rows = reader.number();
  } else if (reader.skip("batch:")) {
    cut.work = Work::kBatch;
    cut.rows = reader.number();
    if (!reader.skip("x")) reader.fail_form();
    cut.context = reader.number();
  } else {
    reader.fail_form();
  }
  reader.end();
  return cut;
}

std::string Cut::text() const {
  std::string text;
  switch (part) {
    case Part::kWhole:
      break;
    case Part::kEmbedding:
      text = "embedding@";
      break;
    case Part::kLayer:
      text = fmt::format("layer:{}@", layer);
      break;
    case Part::kHead:
      text = "head@";
      break;
  }
  switch (work) {
    case Work::kDecode:
      return text + fmt::format("decode:{}", context);
    case Work::kPrefill:
      return text + fmt::format("prefill:{}", rows);
    case Work::kBatch:
      return text + fmt::format("batch:{}x{}", rows, context);
  }
  return text;
}

std::string Cut::write(const ModelSpec& spec) const { return written(spec, *this).text; }

}  // namespace logos
