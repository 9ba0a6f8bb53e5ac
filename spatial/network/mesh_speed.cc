#include <fmt/core.h>

#include <charconv>
#include <cstdio>
#include <exception>
#include <limits>
#include <string>
#include <string_view>

#include "program/error.h"
#include "spatial/network/flit_mesh.h"
#include "spatial/network/mesh_traffic.h"
#include "spatial/network/packet_mesh.h"

namespace logos::spatial {
namespace {

/// A number from `lowest` to `highest`.
template <typename Number>
Number parse(const char* what, std::string_view text,
             Number lowest = std::numeric_limits<Number>::lowest(),
             Number highest = std::numeric_limits<Number>::max()) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole) throw Error(what, "not a number", text, "a number");
  if (value >= lowest && value <= highest) return value;
  throw Error(what, "out of range", text, fmt::format("{} to {}", lowest, highest));
}

std::unique_ptr<Network> make_mesh(std::string_view model, const MeshConfig& config) {
  if (model == "flit") return make_flit_mesh(config, {});
  if (model == "packet") return make_packet_mesh(config, {});
  throw Error("MODEL", "unknown model", model, "flit or packet");
}

int run(int argc, char** argv) {
  if (argc < 7 || argc > 8) {
    fmt::print(stderr,
               "usage: mesh_speed flit|packet WIDTH HEIGHT uniform|neighbor|hotspot|multicast RATE "
               "FLITS [CYCLES]\nRATE: flits per tile and cycle. CYCLES: that are measured.\n");
    return 2;
  }
  constexpr Cycles kMostCycles = 1'000'000'000;
  const MeshConfig mesh{.width = parse<std::int32_t>("WIDTH", argv[2]),
                        .height = parse<std::int32_t>("HEIGHT", argv[3])};
  Traffic traffic{.pattern = parse_pattern(argv[4]),
                  .rate = parse<double>("RATE", argv[5], 1e-9, 1),
                  .flits = parse<std::int32_t>("FLITS", argv[6], 1, mesh.buffer_flits)};
  if (argc == 8) traffic.sample = parse<Cycles>("CYCLES", argv[7], 1, kMostCycles);
  const auto network = make_mesh(argv[1], mesh);
  const TrafficResult result = run_traffic(*network, mesh, traffic);
  fmt::print(
      "latency {:.1f} cycles over {:.2f} routers, accepted {:.4f} flits per tile and cycle\n"
      "{} flit-hops and {} packet-hops in {} cycles and {:.2f} CPU seconds: "
      "{:.2f} M flit-hops, {:.2f} M packet-hops, {:.1f} kcycles a second\n",
      result.latency, result.routers, result.accepted, result.flit_hops, result.packet_hops,
      result.cycles, result.cpu_seconds,
      static_cast<double>(result.flit_hops) / 1e6 / result.cpu_seconds,
      static_cast<double>(result.packet_hops) / 1e6 / result.cpu_seconds,
      static_cast<double>(result.cycles) / 1e3 / result.cpu_seconds);
  if (!result.warning.empty()) fmt::print("warning: {}\n", result.warning);
  if (!result.unfinished.empty()) fmt::print("unfinished:\n{}", result.unfinished);
  return result.unfinished.empty() ? 0 : 1;
}

}  // namespace
}  // namespace logos::spatial

int main(int argc, char** argv) {
  try {
    return logos::spatial::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "mesh_speed: {}\n", error.what());
    return 2;
  }
}
