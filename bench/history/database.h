#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace logos::bench {

/// A prepared statement. Values are bound in order, from 1; columns count from 0.
class Statement {
 public:
  Statement(sqlite3* database, std::string_view where, std::string_view sql);

  Statement& bind(std::int64_t value);
  Statement& bind(double value);
  Statement& bind(std::string_view value);
  Statement& bind(std::nullptr_t);
  template <typename T>
  Statement& bind(const std::optional<T>& value) {
    return value ? bind(*value) : bind(nullptr);
  }

  /// True where there is a row. Throws Error with the file and the cause.
  bool step();
  /// Runs it to its end.
  void run();

  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  Statement& bound(int code);

  sqlite3* database_;
  std::string where_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int next_ = 1;
};

enum class Access {
  kWrite,  ///< reads and writes; makes the file where there is none
  kRead    ///< for a file that may not be written, or that lies where no file can be made
};

/// A connection to an SQLite file, or to one in memory (an empty path). Another's lock is waited
/// for, however long it lasts (it ends with its process), and that is said.
class Database {
 public:
  Database(const std::filesystem::path& file, std::function<void(std::string_view)> say,
           Access access = Access::kWrite);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  Statement statement(std::string_view sql) const;
  void run(std::string_view sql) const { statement(sql).run(); }
  /// Sets the journal that the file's place allows. Not before the file has its tables: else those
  /// stand in the log alone, and the file itself would not say what it is.
  void set_journal();

  std::int64_t last_row() const { return sqlite3_last_insert_rowid(database_); }

  /// All of `work` or nothing of it, with the only right to write from its start on.
  void transaction(const std::function<void()>& work) const;

 private:
  static int on_busy(void* self, int calls);
  bool wait(int calls);

  std::filesystem::path file_;
  std::string where_;
  std::function<void(std::string_view)> say_;
  sqlite3* database_ = nullptr;
  double waiting_since_ = 0;
  double said_at_ = 0;
};

/// Whether a file system (statfs's f_type) is one that several machines share: there the shared
/// memory of SQLite's write-ahead log cannot be, and the rollback journal takes its place.
bool is_shared_file_system(std::int64_t type);

}  // namespace logos::bench
