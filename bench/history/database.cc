#include "bench/history/database.h"

#include <fmt/format.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <utility>

#include "program/error.h"

namespace logos::bench {
namespace {

namespace fs = std::filesystem;

constexpr double kSayAfterSeconds = 2;
constexpr double kSayAgainSeconds = 30;

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

[[noreturn]] void fail(std::string_view where, sqlite3* database) {
  const int code = sqlite3_extended_errcode(database);
  const int system = sqlite3_system_errno(database);
  std::string cause = sqlite3_errmsg(database);
  if ((code & 0xFF) == SQLITE_IOERR && system != 0) {
    cause += fmt::format(": {}", std::generic_category().message(system));
  }
  throw Error(where, cause);
}

/// The name by which SQLite reads a file alone, without the log's index beside it, which it could
/// not make (sqlite.org/uri.html: immutable). Not where a log has what the file lacks.
std::string name_to_read(const fs::path& file) {
  const fs::path log = file.string() + "-wal";
  std::error_code none;
  const std::uintmax_t log_bytes = fs::file_size(log, none);
  const bool logged = !none && log_bytes > 0;
  if (logged && !fs::exists(file.string() + "-shm", none)) {
    throw Error(file.string(), fmt::format("cannot be read where its folder cannot be written, for "
                                           "its last lines stand in {}: copy both files",
                                           log.filename().string()));
  }
  std::string name = "file:";
  for (const char c : file.string()) {
    name += c == '%' || c == '?' || c == '#' ? fmt::format("%{:02x}", c) : std::string(1, c);
  }
  return name + (logged ? "" : "?immutable=1");
}

}  // namespace

Statement::Statement(sqlite3* database, std::string_view where, std::string_view sql)
    : database_(database), where_(where) {
  sqlite3_stmt* made = nullptr;
  const int code =
      sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &made, nullptr);
  statement_.reset(made);
  if (code != SQLITE_OK) fail(where_, database_);
}

Statement& Statement::bound(int code) {
  if (code != SQLITE_OK) fail(where_, database_);
  ++next_;
  return *this;
}

Statement& Statement::bind(std::int64_t value) {
  return bound(sqlite3_bind_int64(statement_.get(), next_, value));
}
Statement& Statement::bind(double value) {
  return bound(sqlite3_bind_double(statement_.get(), next_, value));
}
Statement& Statement::bind(std::string_view value) {
  return bound(sqlite3_bind_text64(statement_.get(), next_, value.data(), value.size(),
                                   SQLITE_TRANSIENT, SQLITE_UTF8));
}
Statement& Statement::bind(std::nullptr_t) {
  return bound(sqlite3_bind_null(statement_.get(), next_));
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  fail(where_, database_);
}

void Statement::run() {
  while (step()) {
  }
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}
std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}
double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }
std::string Statement::text(int column) const {
  const auto* bytes = sqlite3_column_text(statement_.get(), column);
  if (bytes == nullptr) return "";
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return {reinterpret_cast<const char*>(bytes), size};
}

Database::Database(const fs::path& file, std::function<void(std::string_view)> say, Access access)
    : file_(file),
      where_(file.empty() ? "history in memory" : file.string()),
      say_(std::move(say)) {
  const fs::path place = file.empty() ? ":memory:" : fs::absolute(file);
  const bool read = access == Access::kRead;
  const std::string name = read ? name_to_read(place) : place.string();
  const int flags = SQLITE_OPEN_EXRESCODE | (read ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
                                                  : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  try {
    if (sqlite3_open_v2(name.c_str(), &database_, flags, nullptr) != SQLITE_OK) {
      fail(where_, database_);
    }
    sqlite3_busy_handler(database_, &Database::on_busy, this);
    run("PRAGMA foreign_keys = ON");
  } catch (...) {
    sqlite3_close(database_);
    throw;
  }
}

Database::~Database() { sqlite3_close(database_); }

void Database::set_journal() {
  if (file_.empty()) return;
  struct statfs info {};
  const bool shared = ::statfs(file_.c_str(), &info) == 0 && is_shared_file_system(info.f_type);
  // Losing the last results with the power is all that NORMAL can cost, and only with a log.
  const char* sql = shared ? "PRAGMA journal_mode = DELETE" : "PRAGMA journal_mode = WAL";
  // A change of the journal does not call the handler of a busy file: hence the loop.
  for (int calls = 0;; ++calls) {
    try {
      run(sql);
      break;
    } catch (const Error&) {
      if ((sqlite3_errcode(database_) & 0xFF) != SQLITE_BUSY) throw;
      wait(calls);
    }
  }
  run(shared ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
}

Statement Database::statement(std::string_view sql) const { return {database_, where_, sql}; }

void Database::transaction(const std::function<void()>& work) const {
  run("BEGIN IMMEDIATE");
  try {
    work();
    run("COMMIT");
  } catch (...) {
    // A full disk has rolled it back already, and then there is nothing to roll back.
    if (sqlite3_get_autocommit(database_) == 0) {
      sqlite3_exec(database_, "ROLLBACK", nullptr, nullptr, nullptr);
    }
    throw;
  }
}

int Database::on_busy(void* self, int calls) {
  return static_cast<Database*>(self)->wait(calls) ? 1 : 0;
}

bool Database::wait(int calls) {
  const double now = now_seconds();
  if (calls == 0) {
    waiting_since_ = now;
    said_at_ = 0;
  }
  const bool due =
      said_at_ == 0 ? now - waiting_since_ >= kSayAfterSeconds : now - said_at_ >= kSayAgainSeconds;
  if (due) {
    say_(fmt::format("{}: another process has it locked; waiting for it ({:.0f} s so far)", where_,
                     now - waiting_since_));
    said_at_ = now;
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(std::min(1 + calls, 50)));
  return true;
}

bool is_shared_file_system(std::int64_t type) {
  // linux/magic.h and the headers of the file systems that are not in the kernel.
  constexpr std::array<std::uint32_t, 13> kShared = {
      0x6969,      // NFS
      0x517B,      // SMB
      0xFF534D42,  // CIFS
      0xFE534D42,  // SMB2
      0x5346414F,  // AFS
      0x6B414653,  // kAFS
      0x00C36400,  // Ceph
      0x01021997,  // 9p
      0x7461636F,  // OCFS2
      0x01161970,  // GFS2
      0x0BD00BD0,  // Lustre
      0x47504653,  // GPFS
      0x19830326,  // BeeGFS
  };
  return std::find(kShared.begin(), kShared.end(), static_cast<std::uint32_t>(type)) !=
         kShared.end();
}

}  // namespace logos::bench
