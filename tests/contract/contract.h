#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/lanes.h"
#include "program/facts.h"
#include "program/program.h"
#include "sim/comparison.h"
#include "sim/lane.h"
#include "tests/small_models.h"

namespace logos::contract {

/// The models that every lane is tried on (of tests/small_models.h), without "gguf" of profile B,
/// which d5005 does not take.
const std::vector<std::string>& families();

/// Every kind of cut: decode, prefill and batch, whole and in parts.
const std::vector<std::string>& cuts();

/// The lanes that are built in, by name.
std::vector<std::string> lane_names();
/// A lane as the bench runs it when nothing is said.
bench::LaneEntry lane_named(const std::string& name);

/// A cut of a family over chips, in its placeholder form.
struct Job {
  Job(const std::string& family, const std::string& cut, std::int64_t chips);

  std::string text;
  Identity identity;
  std::vector<Program> programs;
  const WeightStore* weights;
};

/// `random_inputs` of the job's program.
Inputs inputs_of(const Job& job, std::uint64_t seed);

/// What one run of a lane gave and left.
struct Outcome {
  Result result;
  Inputs inputs;  ///< with the caches as the run left them
  std::vector<LineDigest> digests;
};
Outcome run(const bench::LaneEntry& lane, const Job& job, const Inputs& inputs,
            RunOptions options = {});

/// The outputs as one run after another would print them.
std::string digest_of(const std::vector<float>& outputs);

/// "" where two outcomes agree in outputs, fault, caches and every named operation; else what not.
std::string difference(const Outcome& expected, const Outcome& got);

}  // namespace logos::contract
