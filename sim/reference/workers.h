#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace logos::reference {

/// Host threads that share out a range of independent units. With one thread the caller does all.
class Workers {
 public:
  explicit Workers(int threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Calls `work(begin, end)` over [0, units) in pieces that are multiples of `step` (but the
  /// last), each unit once, and returns when all are done. What `work` throws first is thrown again
  /// here, after the other pieces.
  void share(std::int64_t units, std::int64_t step,
             const std::function<void(std::int64_t, std::int64_t)>& work);

  int threads() const { return static_cast<int>(threads_.size()) + 1; }

 private:
  void help(const std::stop_token& stop);
  void take_pieces();

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::condition_variable_any done_;
  std::uint64_t round_ = 0;  ///< counts calls of `share`
  int helping_ = 0;          ///< helpers that have not finished the round
  std::int64_t next_ = 0;
  std::int64_t units_ = 0;
  std::int64_t piece_ = 1;
  const std::function<void(std::int64_t, std::int64_t)>* work_ = nullptr;
  std::exception_ptr thrown_;          ///< of the round
  std::vector<std::jthread> threads_;  ///< last, so that it stops before the rest is gone
};

}  // namespace logos::reference
