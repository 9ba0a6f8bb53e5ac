#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace logos::bench {

/// "" where `text` is a trace that Chrome and Perfetto take as it is meant; else the first thing
/// that is wrong. Strict JSON of valid UTF-8 (also no bare NaN, no key twice), the time unit at its
/// head, every process and thread named, times finite and from 0 up, lengths not negative, slices
/// of a thread in order, nested, the longer before the shorter at an equal begin, counters finite
/// and in order.
std::string fault_of_trace(const std::string& text);

/// The events of one phase ("X", "C", "M").
nlohmann::json events_of(const nlohmann::json& trace, const std::string& phase);

}  // namespace logos::bench
