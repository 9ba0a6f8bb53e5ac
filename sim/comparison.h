#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/observer.h"
#include "sim/result.h"

namespace logos {

/// Digest of one named operation over all rows of a run, in row order.
struct LineDigest {
  std::string name;
  std::int64_t layer = 0;  ///< from 1; 0 outside the layers
  int line = 0;
  std::string sha256;
};

/// Collects the digest of each named operation of a run, in the canonical order of operations.
class LineDigests : public Observer {
 public:
  LineDigests();
  ~LineDigests() override;
  void observe(const Observation& observation) override;
  std::vector<LineDigest> digests() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Where two machines part: the first operation, in program order, and its first element.
struct Divergence {
  std::int64_t layer = 0;   ///< from 1; 0 outside the layers
  int line = 0;             ///< of the placeholder form
  std::string name;         ///< of the operation, in the dump's names
  std::string text;         ///< the line of the program
  std::int64_t row = 0;     ///< from 0
  std::int64_t column = 0;  ///< from 0, over the whole row of the value
  std::string expected;     ///< hex, as in the golden files; an exponent is given as "e=…"
  std::string got;
};

/// Runs a machine once under an observer.
using ObservedRun = std::function<void(Observer&)>;

/// Runs both machines under observation (twice where they part: once for digests, once for the
/// values of the first operation that differs). `lines` is Program::lines. Null: nothing named
/// differs.
std::optional<Divergence> first_divergence(const ObservedRun& expected, const ObservedRun& got,
                                           const std::vector<std::string>& lines);

/// Equal bit for bit: sizes, every output, and the first line that raised FAULT.
bool same_outputs(const Result& expected, const Result& got);

}  // namespace logos
