#include "bench/history/history.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "bench/history/schema.h"
#include "program/check.h"
#include "program/error.h"
#include "program/printable.h"
#include "program/whole_number.h"

namespace logos::bench {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string now_text() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time({}))); }

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

/// One line, with what is no UTF-8 replaced: as `json_text` does.
std::string line_of(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<std::string> text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

/// Checks the kind of file before a connection could change a byte of it.
const fs::path& checked(const fs::path& file, History::Open open) {
  if (!file.empty()) check_history_file(file, open == History::Open::kExisting);
  return file;
}

/// Whoever reads writes, too, where that is allowed: SQLite's log has an index, for all who use it.
Access access_to(const fs::path& file, History::Open open) {
  if (file.empty() || open == History::Open::kMake) return Access::kWrite;
  const fs::path folder = fs::absolute(file).parent_path();
  const bool writable = ::access(file.c_str(), W_OK) == 0 && ::access(folder.c_str(), W_OK) == 0;
  return writable ? Access::kWrite : Access::kRead;
}

/// A lane's object with where it stands in the result.
struct Row {
  std::int64_t cut_place = 0;
  std::string cut;
  Json identity;  ///< null with --score
  Json object;
};

std::vector<Row> rows_of(const Json& result) {
  std::vector<Row> rows;
  if (!result.contains("cuts")) {
    for (const Json& lane : result["lanes"]) rows.push_back({0, "score", nullptr, lane});
    return rows;
  }
  std::int64_t place = 0;
  for (const Json& cut : result["cuts"]) {
    for (const Json& lane : cut["lanes"]) {
      rows.push_back({place, cut["cut"].get<std::string>(), cut["identity"], lane});
    }
    ++place;
  }
  return rows;
}

void insert(const Database& database, std::int64_t run, std::int64_t place, const Row& row,
            const Json& context) {
  const std::string lane = row.object["lane"].get<std::string>();
  const auto number = [&](const Json& object, const char* key) -> std::optional<std::int64_t> {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number_integer()) return std::nullopt;
    return found->get<std::int64_t>();
  };
  std::optional<double> seconds;
  if (row.object.contains("seconds") && row.object["seconds"].is_number()) {
    seconds = row.object["seconds"].get<double>();
  }
  database
      .statement(
          "INSERT INTO result (run, place, cut_place, cut, identity, program_sha256, chips, "
          "weights_sha256, lane, config_sha256, git_commit, seconds, cycles, object) VALUES (?, ?, "
          "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(run)
      .bind(place)
      .bind(row.cut_place)
      .bind(std::string_view(row.cut))
      .bind(row.identity.is_null() ? std::nullopt : std::optional(line_of(row.identity)))
      .bind(text_in(row.identity, "sha256"))
      .bind(number(row.identity, "chips"))
      .bind(std::string_view(context["weights_sha256"].get<std::string>()))
      .bind(std::string_view(lane))
      .bind(text_in(context["configurations"], lane.c_str()))
      .bind(text_in(context["git"], "commit"))
      .bind(seconds)
      .bind(number(row.object, "cycles"))
      .bind(std::string_view(line_of(row.object)))
      .run();
}

}  // namespace

History::History(const fs::path& file, Open open, std::function<void(std::string_view)> say)
    : file_(checked(file, open)),
      where_(file.empty() ? "history" : file.string()),
      access_(access_to(file_, open)),
      owners_(file_),
      database_(file_, std::move(say), access_) {
  make_or_check();
  if (access_ == Access::kWrite) database_.set_journal();
}

void History::make_or_check() const {
  const auto count = [&](std::string_view sql) {
    Statement statement = database_.statement(sql);
    statement.step();
    return statement.integer(0);
  };
  const auto has_tables = [&] { return count("SELECT count(*) FROM sqlite_master") > 0; };
  if (!has_tables()) {
    if (access_ == Access::kRead) throw Error(where_, "is empty and cannot be written");
    database_.transaction([&] {
      if (has_tables()) return;  // another process was first
      for (const std::string_view table : kTables) database_.run(table);
      database_.run(fmt::format("PRAGMA application_id = {}", kApplicationId));
      database_.run(fmt::format("PRAGMA user_version = {}", kSchema));
    });
  }
  for (const std::string_view table : kTables) {
    Statement found = database_.statement("SELECT 1 FROM sqlite_master WHERE sql = ?");
    if (!found.bind(table).step()) {
      throw Error(where_, "is a history with other tables than this version's");
    }
  }
}

std::int64_t History::own_number() {
  if (own_) return *own_;
  database_.statement("INSERT INTO owner (host, process) VALUES (?, ?)")
      .bind(std::string_view(host_name()))
      .bind(static_cast<std::int64_t>(::getpid()))
      .run();
  own_ = database_.last_row();
  owners_.become(*own_);
  return *own_;
}

std::int64_t History::begin(std::string_view command, const Json& result) {
  const std::int64_t owner = own_number();
  std::int64_t run = 0;
  database_.transaction([&] {
    database_
        .statement(
            "INSERT INTO run (owner, started, command, kind, context) VALUES (?, ?, ?, '', '{}')")
        .bind(owner)
        .bind(std::string_view(now_text()))
        .bind(command)
        .run();
    run = database_.last_row();
    write(run, result, false);
  });
  return run;
}

void History::keep(std::int64_t run, Json result, bool ended) {
  const auto unsay = [](Json& lanes) {
    for (Json& lane : lanes) {
      if (lane.contains("agrees")) lane["agrees"] = nullptr;
    }
  };
  if (!ended && result.contains("lanes")) unsay(result["lanes"]);
  if (!ended && result.contains("cuts")) {
    for (Json& cut : result["cuts"]) unsay(cut["lanes"]);
  }
  database_.transaction([&] { write(run, result, ended); });
}

void History::write(std::int64_t run, const Json& result, bool ended) {
  if (written_run_ != run) written_.clear();
  written_run_ = run;
  const std::vector<Row> rows = rows_of(result);
  std::vector<std::string> texts;
  texts.reserve(rows.size());
  for (const Row& row : rows) texts.push_back(row.cut + line_of(row.object));
  const auto same = static_cast<std::size_t>(
      std::mismatch(texts.begin(), texts.end(), written_.begin(), written_.end()).first -
      texts.begin());
  database_.statement("DELETE FROM result WHERE run = ? AND place >= ?")
      .bind(run)
      .bind(static_cast<std::int64_t>(same))
      .run();
  written_.clear();  // where what follows fails, the next write begins anew
  for (std::size_t place = same; place < rows.size(); ++place) {
    insert(database_, run, static_cast<std::int64_t>(place), rows[place], result["context"]);
  }
  database_.statement("UPDATE run SET kind = ?, context = ?, ended = ? WHERE number = ?")
      .bind(std::string_view(result.contains("cuts") ? "cuts" : "score"))
      .bind(std::string_view(line_of(result["context"])))
      .bind(ended ? std::optional(now_text()) : std::nullopt)
      .bind(run)
      .run();
  written_ = std::move(texts);
}

std::vector<KeptRun> History::runs() const {
  std::vector<KeptRun> runs;
  Statement row =
      database_.statement("SELECT number, started, ended, command FROM run ORDER BY number");
  while (row.step()) {
    KeptRun run{row.integer(0), row.text(1), std::nullopt, row.text(3)};
    if (!row.is_null(2)) run.ended = row.text(2);
    runs.push_back(std::move(run));
  }
  return runs;
}

Json History::parse_kept(const std::string& text, std::int64_t run,
                         std::initializer_list<const char*> keys) const {
  Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const std::string what = fmt::format("run {} is damaged", run);
  if (!object.is_object()) throw Error(where_, what, shortened(text, 40), "a JSON object");
  for (const char* key : keys) {
    if (!object.contains(key)) {
      throw Error(where_, what, shortened(text, 40), fmt::format("an object with key {}", key));
    }
  }
  return object;
}

Json History::result(std::int64_t run) const {
  Statement of_run = database_.statement("SELECT kind, context FROM run WHERE number = ?");
  if (!of_run.bind(run).step()) throw Error(where_, fmt::format("has no run {}", run));
  const bool score = of_run.text(0) == "score";
  Json result = {{"context", parse_kept(of_run.text(1), run,
                                        {"model", "weights_sha256", "git", "configurations"})}};
  Json& list = result[score ? "lanes" : "cuts"] = Json::array();
  Statement row = database_.statement(
      "SELECT cut_place, cut, identity, object FROM result WHERE run = ? ORDER BY place");
  row.bind(run);
  std::int64_t last = -1;
  while (row.step()) {
    Json object = parse_kept(row.text(3), run, {"lane"});
    if (score) {
      list.push_back(std::move(object));
      continue;
    }
    if (row.integer(0) != last) {
      list.push_back({{"cut", row.text(1)},
                      {"identity", parse_kept(row.text(2), run, {"chips", "sha256"})},
                      {"lanes", Json::array()}});
    }
    last = row.integer(0);
    list.back()["lanes"].push_back(std::move(object));
  }
  return result;
}

std::int64_t History::run_named(std::string_view text) const {
  std::int64_t number = 0;
  constexpr std::string_view kLast = "last";
  if (text.starts_with(kLast)) {
    const std::string_view back = text.substr(kLast.size());
    const bool known =
        back.empty() || (back.starts_with('-') &&
                         read_whole_number(back.substr(1), number) == std::errc{} && number >= 0);
    if (known) {
      Statement row =
          database_.statement("SELECT number FROM run ORDER BY number DESC LIMIT 1 OFFSET ?");
      if (row.bind(number).step()) return row.integer(0);
      throw Error(where_, fmt::format("has no run {}", text));
    }
  } else if (read_whole_number(text, number) == std::errc{}) {
    Statement row = database_.statement("SELECT 1 FROM run WHERE number = ?");
    if (row.bind(number).step()) return number;
    throw Error(where_, fmt::format("has no run {}", text));
  }
  throw Error("run", "no name of a run", fmt::format("\"{}\"", text),
              "its number (bench history), last, last-1, …");
}

std::int64_t History::sweep(std::string_view key, std::string_view description,
                            std::int64_t points) {
  std::int64_t number = 0;
  database_.transaction([&] {
    Statement known = database_.statement("SELECT number FROM sweep WHERE key = ?");
    if (known.bind(key).step()) {
      number = known.integer(0);
      return;
    }
    database_.statement("INSERT INTO sweep (key, description) VALUES (?, ?)")
        .bind(key)
        .bind(description)
        .run();
    number = database_.last_row();
    for (std::int64_t point = 0; point < points; ++point) {
      database_.statement("INSERT INTO point (sweep, number) VALUES (?, ?)")
          .bind(number)
          .bind(point)
          .run();
    }
  });
  return number;
}

std::optional<std::int64_t> History::claim(std::int64_t sweep, std::int64_t rank,
                                           std::int64_t size) {
  const std::int64_t owner = own_number();
  std::optional<std::int64_t> claimed;
  database_.transaction([&] {
    const std::vector<PointState> states = points(sweep);
    for (std::size_t i = 0; i < states.size(); ++i) {
      if (states[i].run || states[i].claimed) continue;
      const auto number = static_cast<std::int64_t>(i);
      if (!claimed) claimed = number;
      if (number % size != rank) continue;
      claimed = number;
      break;
    }
    if (!claimed) return;
    database_.statement("UPDATE point SET owner = ? WHERE sweep = ? AND number = ?")
        .bind(owner)
        .bind(sweep)
        .bind(*claimed)
        .run();
  });
  return claimed;
}

void History::finish(std::int64_t sweep, std::int64_t point, std::int64_t run, const Json& result) {
  database_.transaction([&] {
    write(run, result, true);
    database_.statement("UPDATE point SET run = ? WHERE sweep = ? AND number = ? AND run IS NULL")
        .bind(run)
        .bind(sweep)
        .bind(point)
        .run();
  });
}

std::vector<PointState> History::points(std::int64_t sweep) const {
  std::vector<PointState> states;
  Statement row =
      database_.statement("SELECT run, owner FROM point WHERE sweep = ? ORDER BY number");
  row.bind(sweep);
  while (row.step()) {
    PointState state;
    if (!row.is_null(0)) state.run = row.integer(0);
    state.claimed = !state.run && !row.is_null(1) && owners_.is_alive(row.integer(1));
    states.push_back(state);
  }
  return states;
}

}  // namespace logos::bench
