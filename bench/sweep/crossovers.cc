#include "bench/sweep/crossovers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace logos::bench {
namespace {

/// The logarithm of how much slower `a` is than `b`, at the points of a stretch where both have a
/// time: consecutive ones, `first` being the stretch's first.
struct Stretch {
  std::size_t first = 0;
  std::vector<double> ratio;
};

std::vector<Stretch> stretches(const Curve& a, const Curve& b) {
  std::vector<Stretch> found;
  bool open = false;
  for (std::size_t i = 0; i < a.seconds.size(); ++i) {
    const bool both = a.seconds[i] && b.seconds[i] && *a.seconds[i] > 0 && *b.seconds[i] > 0;
    if (both && !open) found.push_back({i, {}});
    if (both) found.back().ratio.push_back(std::log(*a.seconds[i] / *b.seconds[i]));
    open = both;
  }
  return found;
}

/// Between the points i and i + 1, a fraction of the way.
double place(const std::vector<double>& x, std::size_t i, double fraction) {
  if (fraction <= 0) return x[i];
  if (fraction >= 1) return x[i + 1];
  if (x[i] <= 0) return x[i] + (x[i + 1] - x[i]) * fraction;
  return x[i] * std::pow(x[i + 1] / x[i], fraction);
}

/// Two lanes along one stretch. `sign` is 1 where the first is the faster one before the crossing.
class Walk {
 public:
  Walk(const std::vector<double>& x, const Stretch& stretch, double sign)
      : x_(x), stretch_(stretch), sign_(sign) {}

  std::size_t size() const { return stretch_.ratio.size(); }
  double at(std::size_t i) const { return sign_ * stretch_.ratio[i]; }
  double x(std::size_t i) const { return x_[stretch_.first + i]; }

  /// Where the ratio has `level` between the points i and i + 1, one below and one not.
  double solve(std::size_t i, double level) const {
    const double fraction = (level - at(i)) / (at(i + 1) - at(i));
    return place(x_, stretch_.first + i, fraction);
  }
  /// The last point up to `from` where the ratio is below `level`.
  std::optional<double> last_below(std::size_t from, double level) const {
    for (std::size_t i = from + 1; i-- > 0;) {
      if (at(i) < level) return x(i);
    }
    return std::nullopt;
  }
  /// The first point from `from` on where the ratio is above `level`.
  std::optional<double> first_above(std::size_t from, double level) const {
    for (std::size_t i = from; i < size(); ++i) {
      if (at(i) > level) return x(i);
    }
    return std::nullopt;
  }

 private:
  const std::vector<double>& x_;
  const Stretch& stretch_;
  double sign_;
};

/// Logarithm of the most that a ratio of times with these errors can be off, the numerator's time
/// too low and the denominator's too high.
double band(double numerator, double denominator) {
  if (numerator >= 1) return std::numeric_limits<double>::infinity();
  return std::log1p(denominator) - std::log1p(-numerator);
}

/// The crossing between the last point where one lane was faster and the first where the other is;
/// the two are equal at the points between, if there are any.
Crossover crossing(const Walk& walk, std::size_t last, std::size_t next, const Curve& from,
                   const Curve& to) {
  Crossover crossover{from.lane, to.lane, 0, std::nullopt, std::nullopt, false};
  crossover.at = next == last + 1 ? walk.solve(last, 0) : walk.x((last + next) / 2);
  // `from` is surely the faster one below -low, `to` above high.
  crossover.at_least = walk.last_below(last, -band(to.error, from.error));
  crossover.at_most = walk.first_above(next, band(from.error, to.error));
  return crossover;
}

/// The crossings of one stretch, in order.
std::vector<Crossover> crossings_in(const std::vector<double>& x, const Stretch& stretch,
                                    const Curve& a, const Curve& b) {
  std::vector<Crossover> found;
  std::optional<std::size_t> last;
  for (std::size_t i = 0; i < stretch.ratio.size(); ++i) {
    if (stretch.ratio[i] == 0) continue;
    if (last && (stretch.ratio[*last] < 0) != (stretch.ratio[i] < 0)) {
      const bool a_first = stretch.ratio[*last] < 0;
      const Walk walk(x, stretch, a_first ? 1 : -1);
      found.push_back(crossing(walk, *last, i, a_first ? a : b, a_first ? b : a));
    }
    last = i;
  }
  return found;
}

/// The stretches of points within the band around equality that no crossing explains.
void find_undecided(const std::vector<double>& x, const Stretch& stretch, const Curve& a,
                    const Curve& b, const std::vector<Crossover>& crossovers,
                    std::vector<Undecided>& undecided) {
  const double low = -band(b.error, a.error);
  const double high = band(a.error, b.error);
  if (low == 0 && high == 0) return;
  const auto inside = [&](std::size_t i) {
    return stretch.ratio[i] >= low && stretch.ratio[i] <= high;
  };
  for (std::size_t i = 0; i < stretch.ratio.size(); ++i) {
    if (!inside(i)) continue;
    std::size_t end = i;
    while (end + 1 < stretch.ratio.size() && inside(end + 1)) ++end;
    // A crossing next to the stretch has it in its own band.
    const double begin_x = x[stretch.first + (i > 0 ? i - 1 : i)];
    const double end_x = x[stretch.first + std::min(end + 1, stretch.ratio.size() - 1)];
    const bool explained =
        std::any_of(crossovers.begin(), crossovers.end(), [&](const Crossover& crossover) {
          return crossover.at >= begin_x && crossover.at <= end_x;
        });
    if (!explained) {
      undecided.push_back({a.lane, b.lane, x[stretch.first + i], x[stretch.first + end]});
    }
    i = end;
  }
}

std::optional<double> seconds_at(const std::vector<double>& x, const Curve& curve, double at) {
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    if (at < x[i] || at > x[i + 1] || !curve.seconds[i] || !curve.seconds[i + 1]) continue;
    const double fraction = x[i] > 0 ? std::log(at / x[i]) / std::log(x[i + 1] / x[i])
                                     : (at - x[i]) / (x[i + 1] - x[i]);
    return *curve.seconds[i] * std::pow(*curve.seconds[i + 1] / *curve.seconds[i], fraction);
  }
  return std::nullopt;
}

/// Says of a crossing whether no third curve is lower there, and whether one may be.
void find_leader(const std::vector<double>& x, const std::vector<Curve>& curves,
                 Crossover* crossover) {
  std::optional<double> both;
  double error = 0;  // of the lane that overtakes
  for (const Curve& curve : curves) {
    if (curve.lane == crossover->from_lane) both = seconds_at(x, curve, crossover->at);
    if (curve.lane == crossover->to_lane) error = curve.error;
  }
  crossover->leader = true;
  if (!both) return;
  for (const Curve& curve : curves) {
    if (curve.lane == crossover->from_lane || curve.lane == crossover->to_lane) continue;
    const auto other = seconds_at(x, curve, crossover->at);
    if (!other) continue;
    if (*other < *both) crossover->leader = false;
    if (std::log(*other / *both) <= band(curve.error, error)) crossover->leader_open = true;
  }
  crossover->leader_open = crossover->leader && crossover->leader_open;
}

}  // namespace

Crossings crossings_of(const std::vector<double>& x, const std::vector<Curve>& curves) {
  Crossings all;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    for (std::size_t j = i + 1; j < curves.size(); ++j) {
      for (const Stretch& stretch : stretches(curves[i], curves[j])) {
        std::vector<Crossover> found = crossings_in(x, stretch, curves[i], curves[j]);
        find_undecided(x, stretch, curves[i], curves[j], found, all.undecided);
        for (Crossover& crossover : found) {
          find_leader(x, curves, &crossover);
          all.crossovers.push_back(std::move(crossover));
        }
      }
    }
  }
  std::stable_sort(all.crossovers.begin(), all.crossovers.end(),
                   [](const Crossover& a, const Crossover& b) { return a.at < b.at; });
  return all;
}

double error_of_note(std::string_view note) {
  const std::size_t begin = note.find("+-");
  if (begin == std::string_view::npos) return 0;
  double percent = 0;
  const std::string_view text = note.substr(begin + 2);
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), percent);
  const std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  const bool stated = code == std::errc{} && (rest.starts_with(" %") || rest.starts_with("%"));
  return stated ? percent / 100 : 0;
}

}  // namespace logos::bench
