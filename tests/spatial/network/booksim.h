#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "spatial/network/mesh_traffic.h"
#include "tests/spatial/network/meshes.h"

namespace logos::spatial {

/// A mean latency that BookSim2 28f43299 measured on a square mesh of routers as ours (dor, 4
/// channels of 8 flits, islip, credits of 1 cycle, 4 + 1 cycles a hop), and how near to it each
/// model has to come; 0: that model has no bar there.
struct Figure {
  int size;
  const char* pattern;
  double rate;  ///< flits per tile and cycle; hotspot: at the tile in the middle
  int flits;
  double latency;
  double flit_bar;
  double packet_bar;
};

inline std::ostream& operator<<(std::ostream& out, const Figure& figure) {
  return out << figure.size << "x" << figure.size << " " << figure.pattern << " " << figure.rate
             << " " << figure.flits << " flits";
}

inline TrafficResult measure(Model model, const Figure& figure, Cycles cycles) {
  const MeshConfig mesh{.width = figure.size, .height = figure.size};
  const Pattern pattern = parse_pattern(figure.pattern);
  const double tiles = figure.size * figure.size;
  const auto network = make_mesh(model, mesh);
  return run_traffic(*network, mesh,
                     {.pattern = pattern,
                      .rate = pattern == Pattern::kHotspot ? figure.rate / tiles : figure.rate,
                      .flits = figure.flits,
                      .sample = cycles});
}

inline void expect_near_booksim(Model model, const Figure& figure, double bar, Cycles cycles) {
  if (bar == 0) return;
  const TrafficResult result = measure(model, figure, cycles);
  EXPECT_EQ(result.unfinished, "");
  EXPECT_NEAR(result.latency, figure.latency, bar * figure.latency)
      << (model == Model::kFlit ? "flit model, seed 1" : "packet model, seed 1");
}

}  // namespace logos::spatial
