#include "spatial/chip/process.h"

#include <utility>

#include "spatial/network/stand_on.h"

namespace logos::spatial {
namespace {

/// A sequencer's deepest calls format an error; the arithmetic keeps its working memory elsewhere.
constexpr std::size_t kStackBytes = std::size_t{128} << 10;

/// What is due at this very time happens.
void settle() {
  while (sc_core::sc_pending_activity_at_current_time()) sc_core::sc_start(sc_core::SC_ZERO_TIME);
  stand_on_own();
}

}  // namespace

struct Threads::Thread {
  Thread();
  void work();
  void wait();  ///< for the event
  void wait(Cycles cycles);

  sc_core::sc_event event;
  std::function<void()> body;  ///< none: idle
  bool leaves = false;

 private:
  void go_on() const { stand_on(bottom_, kStackBytes); }

  const std::byte* bottom_ = nullptr;  ///< of its stack, about
};

Threads::Thread::Thread() {
  sc_core::sc_spawn_options options;
  options.set_stack_size(static_cast<int>(kStackBytes));
  sc_core::sc_spawn([this] { work(); }, nullptr, &options);
}

void Threads::Thread::wait() {
  sc_core::wait(event);
  go_on();
}

void Threads::Thread::wait(Cycles cycles) {
  sc_core::wait(sc_core::sc_time::from_value(cycles));
  go_on();
}

void Threads::Thread::work() {
  bottom_ = static_cast<const std::byte*>(__builtin_frame_address(0)) - kStackBytes;
  stand_on_new(bottom_, kStackBytes);
  for (;;) {
    while (!body) {
      if (leaves) return;
      wait();
    }
    try {
      body();
    } catch (const Process::Stopped&) {  // as asked
    }
    body = nullptr;
  }
}

Threads::Threads() = default;

Threads::~Threads() {
  for (const auto& thread : idle_) {
    thread->leaves = true;
    thread->event.notify(sc_core::SC_ZERO_TIME);
  }
  settle();
}

void Threads::reserve(std::size_t count) {
  if (idle_.size() >= count) return;
  while (idle_.size() < count) idle_.push_back(std::make_unique<Thread>());
  settle();  // to their waits
}

Process::Process(Threads& threads, std::function<void()> body) : threads_(threads) {
  if (threads.idle_.empty()) threads.reserve(1);
  thread_ = std::move(threads.idle_.back());
  threads.idle_.pop_back();
  thread_->body = [this, run = std::move(body)] {
    check();
    run();
  };
  thread_->event.notify(sc_core::SC_ZERO_TIME);
}

Process::~Process() {
  if (!ended()) {
    stop();
    settle();
  }
  thread_->event.cancel();
  threads_.idle_.push_back(std::move(thread_));
}

bool Process::ended() const { return !thread_->body; }

void Process::check() const {
  if (stopping_) throw Stopped();
}

void Process::pause(Cycles cycles) {
  thread_->wait(cycles);
  check();
}

void Process::sleep() {
  check();
  thread_->wait();
  check();
}

void Process::wake() { thread_->event.notify(); }

void Process::stop() {
  stopping_ = true;
  thread_->event.notify(sc_core::SC_ZERO_TIME);
}

}  // namespace logos::spatial
