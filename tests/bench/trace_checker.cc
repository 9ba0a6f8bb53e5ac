#include "tests/bench/trace_checker.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

namespace logos::bench {
namespace {

using nlohmann::json;

void hold(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

/// Keys of an object may stand once.
json parse_strict(const std::string& text) {
  std::vector<std::set<std::string>> open;
  const json::parser_callback_t watch = [&](int, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) open.emplace_back();
    if (event == json::parse_event_t::object_end) open.pop_back();
    if (event == json::parse_event_t::key) {
      hold(open.back().insert(parsed.get<std::string>()).second, "a key stands twice");
    }
    return true;
  };
  try {
    return json::parse(text, watch);
  } catch (const json::exception& error) {
    throw std::runtime_error(fmt::format("not strict JSON: {}", error.what()));
  }
}

class Checker {
 public:
  void take(const json& event) {
    hold(event.is_object(), "an event that is no object");
    const std::string phase = text(event, "ph");
    const std::int64_t pid = whole(event, "pid");
    hold(pid > 0, "a process without a number");
    if (phase == "M") return take_name(event, pid);
    if (phase == "X") return take_slice(event, {pid, whole(event, "tid")});
    if (phase == "C") return take_counter(event, pid);
    throw std::runtime_error(fmt::format("a phase that is none: {}", phase));
  }

  void finish() const {
    for (const auto& [thread, last] : threads_) {
      hold(names_.contains(thread), fmt::format("thread {} has no name", thread.second));
    }
    for (const std::int64_t pid : pids_) {
      hold(names_.contains({pid, 0}), fmt::format("process {} has no name", pid));
    }
  }

 private:
  using Thread = std::pair<std::int64_t, std::int64_t>;  // process, thread; 0: the process itself
  struct Slices {
    double begin = 0;
    double end = 0;
    std::vector<double> open;
  };

  static std::string text(const json& event, const char* key) {
    hold(event.contains(key) && event[key].is_string(), fmt::format("no text {}", key));
    std::string value = event[key];
    hold(!value.empty(), fmt::format("an empty {}", key));
    return value;
  }
  static std::int64_t whole(const json& event, const char* key) {
    hold(event.contains(key) && event[key].is_number_integer(), fmt::format("no number {}", key));
    return event[key];
  }
  static double time(const json& event, const char* key) {
    hold(event.contains(key) && event[key].is_number(), fmt::format("no time {}", key));
    const double value = event[key];
    hold(std::isfinite(value) && value >= 0, fmt::format("{} below 0", key));
    return value;
  }

  void take_name(const json& event, std::int64_t pid) {
    pids_.insert(pid);
    const std::string name = text(event, "name");
    hold(event.contains("args") && event["args"].is_object(), "a name without arguments");
    if (name != "process_name" && name != "thread_name") return;
    text(event["args"], "name");
    const Thread thread{pid, name == "thread_name" ? whole(event, "tid") : 0};
    hold((name == "thread_name") == (thread.second > 0), "a thread without a number");
    hold(names_.insert(thread).second, "two names of one");
  }

  void take_slice(const json& event, const Thread& thread) {
    pids_.insert(thread.first);
    text(event, "name");
    const double begin = time(event, "ts");
    const double end = begin + time(event, "dur");
    // Microseconds with three digits: sums are compared to a tenth of a nanosecond.
    constexpr double kSame = 1e-4;
    const auto [at, fresh] = threads_.try_emplace(thread);
    Slices& slices = at->second;
    if (!fresh) {
      hold(begin >= slices.begin, "slices out of order");
      hold(begin > slices.begin || end <= slices.end + kSame, "a child before its parent");
    }
    while (!slices.open.empty() && slices.open.back() <= begin + kSame) slices.open.pop_back();
    hold(slices.open.empty() || end <= slices.open.back() + kSame, "slices that overlap");
    slices.open.push_back(end);
    slices.begin = begin;
    slices.end = end;
  }

  void take_counter(const json& event, std::int64_t pid) {
    pids_.insert(pid);
    const double at = time(event, "ts");
    const auto [before, fresh] = counters_.try_emplace({pid, text(event, "name")}, at);
    hold(fresh || at >= before->second, "a counter out of order");
    before->second = at;
    hold(event.contains("args") && event["args"].is_object() && event["args"].size() == 1,
         "a counter without its value");
    for (const auto& [unit, value] : event["args"].items()) {
      hold(!unit.empty() && value.is_number(), "a counter that is no number");
    }
  }

  std::set<std::int64_t> pids_;
  std::set<Thread> names_;
  std::map<Thread, Slices> threads_;
  std::map<std::pair<std::int64_t, std::string>, double> counters_;
};

}  // namespace

std::string fault_of_trace(const std::string& text) {
  try {
    hold(text.starts_with("{\"displayTimeUnit\":\"ns\","), "no time unit at its head");
    hold(text.ends_with("}\n"), "no line feed at its end");
    const json trace = parse_strict(text);
    hold(trace.contains("traceEvents") && trace["traceEvents"].is_array(), "no events");
    Checker checker;
    for (const json& event : trace["traceEvents"]) checker.take(event);
    checker.finish();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

json events_of(const json& trace, const std::string& phase) {
  json events = json::array();
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == phase) events.push_back(event);
  }
  return events;
}

}  // namespace logos::bench
