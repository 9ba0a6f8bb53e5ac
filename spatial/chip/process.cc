#include "spatial/chip/process.h"

#include <utility>

namespace logos::spatial {
namespace {

/// A sequencer's deepest calls format an error; the arithmetic keeps its working memory elsewhere.
constexpr std::size_t kStackBytes = std::size_t{128} << 10;

}  // namespace

Process::Process(std::function<void()> body) {
  // The kernel kills no process before its first run.
  if (sc_core::sc_get_status() == sc_core::SC_ELABORATION) sc_core::sc_start(sc_core::SC_ZERO_TIME);
  sc_core::sc_spawn_options options;
  options.set_stack_size(static_cast<int>(kStackBytes));
  handle_ = sc_core::sc_spawn(
      [this, run = std::move(body)] {
        try {
          check();
          run();
        } catch (const Stopped&) {  // as asked
        }
        ended_ = true;
      },
      nullptr, &options);
}

Process::~Process() {
  if (!ended_) handle_.kill();
}

void Process::pause(Cycles cycles) {
  sc_core::wait(sc_core::sc_time::from_value(cycles));
  check();
}

void Process::sleep() {
  check();
  sc_core::wait(event_);
  check();
}

void Process::wake() { event_.notify(); }

void Process::stop() {
  stopping_ = true;
  event_.notify(sc_core::SC_ZERO_TIME);
}

}  // namespace logos::spatial
