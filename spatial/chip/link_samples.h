#pragma once

#include <vector>

#include "spatial/chip/report.h"
#include "spatial/network/chip_links.h"
#include "spatial/network/network.h"

namespace logos::spatial {

/// Looks at what links carry while a run goes on, at equal distances. However long the run, there
/// are less than kMost samples: once they are that many, every two become one, and from then on
/// they lie twice as far apart.
class LinkSamples {
 public:
  static constexpr std::size_t kMost = 1024;

  /// Cycles to the next sample.
  Cycles stretch() const { return time_.stretch; }
  /// What all links have carried so far.
  void take(const std::vector<std::vector<LinkLoad>>& links,
            const std::vector<ChipLinkLoad>& chips);
  LinkTime taken() { return std::move(time_); }

 private:
  void halve();

  LinkTime time_{.stretch = 16, .flits = {}, .chip_link_cycles = {}};
  std::vector<std::vector<std::uint64_t>> flits_before_;
  std::vector<std::uint64_t> cycles_before_;
};

}  // namespace logos::spatial
