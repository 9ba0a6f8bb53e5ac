#include "spatial/network/wakeup.h"

#include <systemc>
#include <utility>

#include "program/check.h"
#include "spatial/network/stand_on.h"

namespace logos::spatial {

struct Wakeup::Process {
  sc_core::sc_event event;
  sc_core::sc_process_handle handle;
};

Wakeup::Wakeup(std::function<void()> body) : process_(std::make_unique<Process>()) {
  // The kernel kills no process before its first run.
  if (sc_core::sc_get_status() == sc_core::SC_ELABORATION) sc_core::sc_start(sc_core::SC_ZERO_TIME);
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.dont_initialize();
  options.set_sensitivity(&process_->event);
  process_->handle = sc_core::sc_spawn(
      [run = std::move(body)] {
        stand_on_own();
        run();
      },
      nullptr, &options);
}

Wakeup::~Wakeup() {
  process_->event.cancel();
  process_->handle.kill();
}

void Wakeup::at(Cycles when) {
  CHECK(when >= now());
  process_->event.notify(sc_core::sc_time::from_value(when - now()));
}

Cycles Wakeup::now() { return sc_core::sc_time_stamp().value(); }

void simulate() {
  // A run without anything to do is one that the kernel warns of.
  if (sc_core::sc_pending_activity()) sc_core::sc_start();
  stand_on_own();
}

}  // namespace logos::spatial

/// The kernel's library wants one; who uses the kernel has a `main` and calls `simulate`.
int sc_main(int /*argc*/, char** /*argv*/) { return 0; }
