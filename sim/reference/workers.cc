#include "sim/reference/workers.h"

#include <algorithm>
#include <utility>

#include "program/check.h"

namespace logos::reference {

Workers::Workers(int threads) {
  CHECK(threads >= 1);
  for (int i = 1; i < threads; ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { help(stop); });
  }
}

Workers::~Workers() {
  for (auto& thread : threads_) thread.request_stop();
}

void Workers::share(std::int64_t units, std::int64_t step,
                    const std::function<void(std::int64_t, std::int64_t)>& work) {
  CHECK(units >= 0 && step >= 1);
  if (units == 0) return;
  if (threads_.empty() || units <= step) {
    work(0, units);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    // Four pieces a thread: one that is late costs a quarter of its share at most.
    const std::int64_t pieces = 4 * static_cast<std::int64_t>(threads_.size() + 1);
    piece_ = std::max<std::int64_t>(1, (units + pieces * step - 1) / (pieces * step)) * step;
    next_ = 0;
    units_ = units;
    work_ = &work;
    helping_ = static_cast<int>(threads_.size());
    ++round_;
  }
  wake_.notify_all();
  take_pieces();
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return helping_ == 0; });
  work_ = nullptr;
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void Workers::help(const std::stop_token& stop) {
  std::uint64_t seen = 0;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      if (!wake_.wait(lock, stop, [&] { return round_ != seen; })) return;
      seen = round_;
    }
    take_pieces();
    {
      const std::lock_guard lock(mutex_);
      --helping_;
    }
    done_.notify_all();
  }
}

void Workers::take_pieces() {
  while (true) {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    {
      const std::lock_guard lock(mutex_);
      if (next_ >= units_) return;
      begin = next_;
      end = std::min(units_, begin + piece_);
      next_ = end;
    }
    try {
      (*work_)(begin, end);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!thrown_) thrown_ = std::current_exception();
    }
  }
}

}  // namespace logos::reference
