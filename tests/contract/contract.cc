#include "tests/contract/contract.h"

#include <fmt/format.h>

#include <algorithm>

#include "program/genuine.h"
#include "program/written.h"

namespace logos::contract {
namespace {

bool same_caches(const Inputs& a, const Inputs& b) {
  if (a.caches.size() != b.caches.size()) return false;
  for (std::size_t i = 0; i < a.caches.size(); ++i) {
    if (a.caches[i].layers.size() != b.caches[i].layers.size()) return false;
    for (std::size_t n = 0; n < a.caches[i].layers.size(); ++n) {
      const KvCache::Layer& x = a.caches[i].layers[n];
      const KvCache::Layer& y = b.caches[i].layers[n];
      if (x.keys != y.keys || x.values != y.values || x.key_exponents != y.key_exponents ||
          x.value_exponents != y.value_exponents) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

const std::vector<std::string>& families() {
  static const std::vector<std::string> all = {"llama", "mistral", "qwen2", "qwen3", "kjv"};
  return all;
}

const std::vector<std::string>& cuts() {
  static const std::vector<std::string> all = {
      "decode:5",           "prefill:12",          "batch:11x4",          "prefill:1",
      "embedding@decode:5", "embedding@prefill:7", "embedding@batch:3x4", "layer:1@decode:5",
      "layer:2@prefill:7",  "layer:2@batch:3x4",   "head@decode:5",       "head@prefill:7",
      "head@batch:3x4"};
  return all;
}

std::vector<std::string> lane_names() {
  std::vector<std::string> names;
  for (const bench::LaneKind& kind : bench::lane_table()) {
    if (kind.make) names.push_back(kind.name);
  }
  return names;
}

bench::LaneEntry lane_named(const std::string& name) {
  bench::Options options;
  options.lanes = {name};
  return std::move(bench::make_lanes(bench::lane_table(), options).front());
}

Job::Job(const std::string& family, const std::string& cut, std::int64_t chips)
    : weights(&small_weights(family)) {
  const Written written = written_split(small_model(family), Cut::parse(cut), chips);
  text = written.text;
  identity = written.identity;
  programs = read_genuine(text, "contract", identity);
}

Inputs inputs_of(const Job& job, std::uint64_t seed) {
  return random_inputs(job.programs.front(), seed);
}

Outcome run(const bench::LaneEntry& lane, const Job& job, const Inputs& inputs,
            RunOptions options) {
  const Artifact artifact = lane.lane->lower(job.text, job.identity, *job.weights, lane.config);
  LineDigests digests;
  options.observer = &digests;
  Inputs left = inputs;
  Result result = lane.lane->run(artifact, job.identity, *job.weights, lane.config, left, options);
  return {std::move(result), std::move(left), digests.digests()};
}

std::string digest_of(const std::vector<float>& outputs) {
  return sha256_hex(
      {reinterpret_cast<const char*>(outputs.data()), outputs.size() * sizeof(float)});
}

std::string difference(const Outcome& expected, const Outcome& got) {
  const std::size_t common = std::min(expected.digests.size(), got.digests.size());
  for (std::size_t i = 0; i < common; ++i) {
    const LineDigest& a = expected.digests[i];
    const LineDigest& b = got.digests[i];
    if (a.name != b.name || a.layer != b.layer || a.line != b.line || a.sha256 != b.sha256) {
      return fmt::format("operation {} of layer {}, line {} (got {} of layer {}, line {})", a.name,
                         a.layer, a.line, b.name, b.layer, b.line);
    }
  }
  if (expected.digests.size() != got.digests.size()) return "another number of operations";
  if (!same_outputs(expected.result, got.result)) return "outputs";
  if (!same_caches(expected.inputs, got.inputs)) return "the caches left";
  return "";
}

}  // namespace logos::contract
