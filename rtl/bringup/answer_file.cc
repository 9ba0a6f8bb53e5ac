#include "rtl/bringup/answer_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "program/error.h"
#include "program/identity.h"
#include "program/printable.h"
#include "program/text_file.h"
#include "sim/file_beside.h"
#include "sim/whole_file.h"

namespace logos::d5005 {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kFormat = "logos d5005 known answer 1";
constexpr const char* kListFormat = "logos d5005 known answers 1";
constexpr const char* kList = "answers.json";
constexpr const char* kExtension = ".answer";
constexpr int kFirstRung = 6;  ///< of those that climb with known answers
constexpr std::int64_t kMostBytes = std::int64_t{1} << 32;
constexpr std::uint64_t kMostListBytes = std::uint64_t{1} << 20;
constexpr std::int64_t kMostSuperBeats = std::int64_t{1} << 28;

/// Pieces as [at, bytes] in the JSON, their bytes behind it.
json describe_pieces(const std::vector<Piece>& pieces, std::string& blob) {
  json list = json::array();
  for (const Piece& piece : pieces) {
    list.push_back({piece.at, piece.bytes.size()});
    blob.append(reinterpret_cast<const char*>(piece.bytes.data()), piece.bytes.size());
  }
  return list;
}

/// Reads what the writer wrote, and refuses everything else.
class Reader {
 public:
  Reader(std::string_view where, std::string_view blob) : where_(where), blob_(blob) {}

  [[noreturn]] void fail(std::string_view what) const { throw Error(where_, what); }

  const json& member(const json& object, const char* key) const {
    if (!object.is_object() || !object.contains(key)) fail(fmt::format("missing key {}", key));
    return object[key];
  }
  std::int64_t number(const json& value, std::int64_t most, const char* key) const {
    if (!value.is_number_integer() || value < 0 || value > most) {
      fail(fmt::format("key {}: no whole number of 0 to {}", key, most));
    }
    return value.get<std::int64_t>();
  }
  std::int64_t number_of(const json& object, const char* key, std::int64_t most) const {
    return number(member(object, key), most, key);
  }
  std::string text_of(const json& object, const char* key) const {
    const json& value = member(object, key);
    if (!value.is_string()) fail(fmt::format("key {}: no text", key));
    std::string text = value.get<std::string>();
    if (escaped(text) != text) fail(fmt::format("key {}: no printable text", key));
    return text;
  }
  const json& list_of(const json& object, const char* key) const {
    const json& value = member(object, key);
    if (!value.is_array()) fail(fmt::format("key {}: no list", key));
    return value;
  }
  std::vector<Piece> pieces_of(const json& object, const char* key, std::int64_t unit,
                               std::int64_t most_at) {
    std::vector<Piece> pieces;
    for (const json& item : list_of(object, key)) {
      if (!item.is_array() || item.size() != 2) fail(fmt::format("key {}: no piece", key));
      Piece piece;
      piece.at = number(item[0], most_at, key);
      const auto size = static_cast<std::size_t>(number(item[1], kMostBytes, key));
      if (size > blob_.size() || static_cast<std::int64_t>(size) % unit != 0) {
        fail(fmt::format("key {}: a piece of {} bytes where {} are left", key, size, blob_.size()));
      }
      const auto* from = reinterpret_cast<const std::byte*>(blob_.data());
      piece.bytes.assign(from, from + size);
      blob_.remove_prefix(size);
      pieces.push_back(std::move(piece));
    }
    return pieces;
  }
  void finish() const {
    if (!blob_.empty()) fail(fmt::format("{} bytes too many", blob_.size()));
  }

 private:
  std::string_view where_;
  std::string_view blob_;
};

KnownRun parse_run(Reader& reader, const json& item) {
  KnownRun run;
  run.image = reader.pieces_of(item, "image", kSuperBeatBytes, kMostSuperBeats);
  run.cache = reader.pieces_of(item, "cache", kSuperBeatBytes, kMostSuperBeats);
  for (const json& row : reader.list_of(item, "table")) {
    if (!row.is_array() || row.size() != 2) reader.fail("key table: no row");
    run.table.push_back({static_cast<std::uint32_t>(reader.number(row[0], UINT32_MAX, "table")),
                         static_cast<std::uint32_t>(reader.number(row[1], UINT32_MAX, "table"))});
  }
  run.output_bytes = reader.number_of(item, "output_bytes", kMostOutputBytes);
  if (run.output_bytes % 64 != 0 || run.table.empty()) reader.fail("no rows or no whole lines");
  run.expected = reader.pieces_of(item, "expected", 1, run.output_bytes);
  for (const Piece& piece : run.expected) {
    if (piece.at + static_cast<std::int64_t>(piece.bytes.size()) > run.output_bytes) {
      reader.fail("a piece outside the output buffer");
    }
  }
  run.left = reader.pieces_of(item, "left", kSuperBeatBytes, kMostSuperBeats);
  for (const json& choice : reader.list_of(item, "greedy")) {
    if (!choice.is_number_unsigned()) reader.fail("key greedy: no choice");
    run.greedy.push_back(choice.get<std::uint64_t>());
  }
  if (run.greedy.size() > run.table.size()) reader.fail("key greedy: more choices than rows");
  const json& fault = reader.member(item, "fault_line");
  if (!fault.is_null()) {
    run.fault_line = static_cast<std::uint32_t>(reader.number(fault, 0xFFFF, "fault_line"));
  }
  if (run.expected.empty() && run.left.empty() && run.greedy.empty() && !run.fault_line) {
    reader.fail("a run that is to give nothing");
  }
  return run;
}

bool is_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

json parse_json(std::string_view text, const std::string& where) {
  json value = json::parse(text, nullptr, false);
  if (value.is_discarded() || !value.is_object()) throw Error(where, "no JSON object");
  return value;
}

std::string file_name(const KnownAnswer& answer) {
  std::string name = fmt::format("{:02}-{}{}", answer.rung, answer.name, kExtension);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ':' || c == '@' || c == '/'; }, '-');
  return name;
}

}  // namespace

std::string answer_bytes(const KnownAnswer& answer) {
  std::string blob;
  json runs = json::array();
  for (const KnownRun& run : answer.runs) {
    json table = json::array();
    for (const TableRow& row : run.table) table.push_back({row.token, row.position});
    // In the order in which the reader takes the pieces.
    json item;
    item["image"] = describe_pieces(run.image, blob);
    item["cache"] = describe_pieces(run.cache, blob);
    item["table"] = std::move(table);
    item["output_bytes"] = run.output_bytes;
    item["expected"] = describe_pieces(run.expected, blob);
    item["left"] = describe_pieces(run.left, blob);
    item["greedy"] = run.greedy;
    item["fault_line"] = run.fault_line ? json(*run.fault_line) : json(nullptr);
    runs.push_back(std::move(item));
  }
  const json head = {{"format", kFormat},
                     {"rung", answer.rung},
                     {"name", answer.name},
                     {"proves", answer.proves},
                     {"look_at", answer.look_at},
                     {"sha256", answer.sha256},
                     {"program", answer.program},
                     {"bank_of", static_cast<int>(answer.bank_of)},
                     {"element_bytes", answer.element_bytes},
                     {"runs", std::move(runs)}};
  return head.dump() + "\n" + blob;
}

KnownAnswer parse_answer(std::string_view bytes, std::string_view where) {
  const std::size_t end = bytes.find('\n');
  if (end == std::string_view::npos) throw Error(where, "no line that describes an answer");
  const json head = parse_json(bytes.substr(0, end), std::string(where));
  Reader reader(where, bytes.substr(end + 1));
  if (const std::string format = reader.text_of(head, "format"); format != kFormat) {
    throw Error(where, "another format", format, kFormat);
  }
  KnownAnswer answer;
  answer.rung = static_cast<int>(reader.number_of(head, "rung", 10));
  if (answer.rung < kFirstRung) reader.fail(fmt::format("key rung: below {}", kFirstRung));
  answer.name = reader.text_of(head, "name");
  answer.proves = reader.text_of(head, "proves");
  answer.look_at = reader.text_of(head, "look_at");
  answer.sha256 = reader.text_of(head, "sha256");
  if (!is_sha256(answer.sha256))
    throw Error(where, "sha256: no digest", answer.sha256, "64 digits");
  answer.program = reader.number_of(head, "program", kMostSuperBeats);
  answer.bank_of = static_cast<BankOf>(reader.number_of(head, "bank_of", 3));
  answer.element_bytes = reader.number_of(head, "element_bytes", 8);
  if (answer.element_bytes < 1) throw Error(where, "element_bytes", "0", "1 to 8");
  for (const json& item : reader.list_of(head, "runs")) {
    answer.runs.push_back(parse_run(reader, item));
  }
  if (answer.runs.empty()) reader.fail("key runs: no run");
  reader.finish();
  return answer;
}

void remove_answers(const fs::path& folder) {
  remove_abandoned_files(folder);
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const fs::path& file = entry.path();
    const bool ours = file.extension() == kExtension || file.filename() == kList;
    if (!ours || !entry.is_regular_file()) {
      throw Error(
          folder.string(),
          fmt::format("holds {}, which is no known answer", escaped(file.filename().string())),
          "other files", "a folder that is new or has known answers alone");
    }
    files.push_back(file);
  }
  // The list first: what is left where this ends early is no set.
  std::error_code absent;
  fs::remove(folder / kList, absent);
  for (const fs::path& file : files) fs::remove(file);
}

void write_answers(const AnswerSet& set, const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error(folder.string(), fmt::format("cannot be made: {}", error.message()));
  remove_answers(folder);
  json files = json::array();
  std::set<std::string> names;
  for (const KnownAnswer& answer : set.answers) {
    const std::string name = file_name(answer);
    if (!names.insert(name).second) throw Error(name, "two answers of one name");
    const std::string bytes = answer_bytes(answer);
    write_whole_file(folder / name, bytes);
    files.push_back({{"file", name}, {"rung", answer.rung}, {"sha256", sha256_hex(bytes)}});
  }
  const json list = {{"format", kListFormat},
                     {"rows", set.rows},
                     {"mac_rows", set.mac_rows},
                     {"source", set.source},
                     {"answers", std::move(files)}};
  write_whole_file(folder / kList, list.dump(2) + "\n");
}

AnswerSet read_answers(const fs::path& folder) {
  const fs::path list_file = folder / kList;
  const std::string where = list_file.string();
  const json list = parse_json(read_text_file(list_file, kMostListBytes), where);
  const Reader reader(where, {});
  if (const std::string format = reader.text_of(list, "format"); format != kListFormat) {
    throw Error(where, "another format", format, kListFormat);
  }
  AnswerSet set;
  set.rows = reader.number_of(list, "rows", 32);
  set.mac_rows = reader.number_of(list, "mac_rows", 32);
  set.source = reader.text_of(list, "source");
  std::set<std::string> known = {kList};
  for (const json& item : reader.list_of(list, "answers")) {
    const std::string name = reader.text_of(item, "file");
    const fs::path file = folder / name;
    if (name != fs::path(name).filename() || !known.insert(name).second) {
      throw Error(where, "no name of a file of its own", name, "NAME.answer");
    }
    const std::string bytes = read_text_file(file, kMostBytes);
    const std::string wanted = reader.text_of(item, "sha256");
    if (const std::string got = sha256_hex(bytes); got != wanted) {
      throw Error(file.string(), "another identity than answers.json names", got, wanted);
    }
    set.answers.push_back(parse_answer(bytes, file.string()));
    if (reader.number_of(item, "rung", 10) != set.answers.back().rung) {
      throw Error(file.string(), "another rung than answers.json names");
    }
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (!known.contains(entry.path().filename().string())) {
      throw Error(entry.path().string(), "a file that answers.json does not name");
    }
  }
  if (set.answers.empty()) throw Error(where, "no answers");
  return set;
}

}  // namespace logos::d5005
