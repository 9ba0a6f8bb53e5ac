#include "spatial/chip/link_samples.h"

namespace logos::spatial {

void LinkSamples::take(const std::vector<std::vector<LinkLoad>>& links,
                       const std::vector<ChipLinkLoad>& chips) {
  if (time_.flits.size() == kMost) halve();
  flits_before_.resize(links.size());
  auto& flits = time_.flits.emplace_back(links.size());
  for (std::size_t chip = 0; chip < links.size(); ++chip) {
    flits_before_[chip].resize(links[chip].size());
    for (std::size_t link = 0; link < links[chip].size(); ++link) {
      const std::uint64_t now = links[chip][link].flits;
      flits[chip].push_back(static_cast<std::uint32_t>(now - flits_before_[chip][link]));
      flits_before_[chip][link] = now;
    }
  }
  cycles_before_.resize(chips.size());
  auto& cycles = time_.chip_link_cycles.emplace_back();
  for (std::size_t link = 0; link < chips.size(); ++link) {
    cycles.push_back(chips[link].busy_cycles - cycles_before_[link]);
    cycles_before_[link] = chips[link].busy_cycles;
  }
}

void LinkSamples::halve() {
  for (std::size_t i = 0; i < kMost / 2; ++i) {
    auto& to = time_.flits[i];
    if (i > 0) to = std::move(time_.flits[2 * i]);
    const auto& second = time_.flits[2 * i + 1];
    for (std::size_t chip = 0; chip < to.size(); ++chip) {
      for (std::size_t link = 0; link < to[chip].size(); ++link)
        to[chip][link] += second[chip][link];
    }
    auto& cycles = time_.chip_link_cycles[i];
    if (i > 0) cycles = std::move(time_.chip_link_cycles[2 * i]);
    const auto& later = time_.chip_link_cycles[2 * i + 1];
    for (std::size_t link = 0; link < cycles.size(); ++link) cycles[link] += later[link];
  }
  time_.flits.resize(kMost / 2);
  time_.chip_link_cycles.resize(kMost / 2);
  time_.stretch *= 2;
}

}  // namespace logos::spatial
