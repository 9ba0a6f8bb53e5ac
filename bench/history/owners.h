#pragma once

#include <cstdint>
#include <filesystem>

namespace logos::bench {

/// Says whether the process that stands behind a number is still there. Each holds a lock on a byte
/// of the history's file, far behind its end: a lock ends with its process however that ends, also
/// when it is killed, and file systems that machines share pass it on. No clock is asked.
class Owners {
 public:
  /// Makes the file where there is none. An empty path: there is only this process. To be made
  /// before SQLite opens the file and to go after: closing a file ends the locks that SQLite holds
  /// on it for the whole process.
  explicit Owners(const std::filesystem::path& file);
  ~Owners();
  Owners(const Owners&) = delete;
  Owners& operator=(const Owners&) = delete;

  /// Takes a number, which nobody else has, for this process.
  void become(std::int64_t number);
  bool is_alive(std::int64_t number) const;

 private:
  std::filesystem::path file_;
  int descriptor_ = -1;
  std::int64_t own_ = 0;
};

}  // namespace logos::bench
