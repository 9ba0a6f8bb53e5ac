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

namespace logos::contract {

/// A model that every lane is tried on: the embedded one, and tiny ones of each family whose
/// columns fill no group of 32.
struct Family {
  std::string name;
  ModelSpec spec;
};
const std::vector<Family>& families();
/// Of a family, or of "gguf": the one of profile B, which d5005 does not take.
const ModelSpec& spec_of(const std::string& family);

/// Every kind of cut: decode, prefill and batch, whole and in parts.
const std::vector<std::string>& cuts();

/// The lanes that are built in, by name.
std::vector<std::string> lane_names();
/// A lane as the bench runs it when nothing is said.
bench::LaneEntry lane_named(const std::string& name);

/// Weights of a family (synthetic ones but for kjv), packed once a process in a store of its own.
const WeightStore& weights_of(const std::string& family, std::uint64_t seed = 1);

/// A cut of a family over chips, in its placeholder form.
struct Job {
  Job(const std::string& family, const std::string& cut, std::int64_t chips);

  std::string text;
  Identity identity;
  std::vector<Program> programs;
  const WeightStore* weights;
};

/// Inputs of a job by seed: tokens, a cache with positions before those of the run, given rows. A
/// step stands at the last position of its cut, a batch's rows at different ones.
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
