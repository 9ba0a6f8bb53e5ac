#include "sim/reference/exact.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "program/check.h"
#include "program/error.h"
#include "sim/reference/exact_product.h"
#include "sim/reference/workers.h"
#include "sim/weights/dequantize.h"

namespace logos::reference {
namespace {

/// Keys and values of a layer, `[position][head][column]`.
struct ExactCache {
  std::vector<double> values;
};

double frequency(const Rotary& rotary, std::int64_t pair, std::int64_t head_columns) {
  const double f =
      std::pow(rotary.base, -2.0 * static_cast<double>(pair) / static_cast<double>(head_columns));
  switch (rotary.kind) {
    case Rotary::Kind::kPlain:
      return f;
    case Rotary::Kind::kLinear:
      return f / rotary.factor;
    case Rotary::Kind::kLlama3: {
      const double wavelength = 2 * std::numbers::pi / f;
      if (wavelength < rotary.original / rotary.high) return f;
      if (wavelength > rotary.original / rotary.low) return f / rotary.factor;
      const double s = (rotary.original / wavelength - rotary.low) / (rotary.high - rotary.low);
      return (1 - s) * f / rotary.factor + s * f;
    }
  }
  CHECK_UNREACHABLE();
}

class ExactEvaluation {
 public:
  ExactEvaluation(const Program& program, const ExactWeights& weights, const ExactStart& start,
                  std::int64_t last, int threads);
  std::vector<double> run();

 private:
  struct Cell {
    std::int64_t rows = 0;
    std::vector<double> x;
  };

  void execute(const Operation& operation);
  void embed(const Operation& operation, Cell& to);
  void norm(const Operation& operation, const Cell& x, Cell& to);
  void multiply(const Operation& operation, const Cell& x, Cell& to);
  void bias(const Operation& operation, Cell& to);
  void rotate(const Operation& operation, Cell& to);
  void attend(const Operation& operation, const Cell& query, Cell& to);
  void push(const Operation& operation, const Cell& x);
  void keep_last(Cell& cell) const;

  Cell& cell(int id) { return cells_[static_cast<std::size_t>(id)]; }
  const Value& value(int id) const { return program_.values[static_cast<std::size_t>(id)]; }
  std::vector<double> vector_of(const Operation& operation) const;

  const Program& program_;
  const ExactWeights& weights_;
  const ExactStart& start_;
  std::int64_t last_;
  Workers workers_;
  std::vector<Cell> cells_;
  std::vector<ExactCache> caches_;
  bool in_layers_ = false;  ///< a layer's operation was seen
  bool in_head_ = false;    ///< and then one outside: only the last rows are wanted from there on
};

ExactEvaluation::ExactEvaluation(const Program& program, const ExactWeights& weights,
                                 const ExactStart& start, std::int64_t last, int threads)
    : program_(program),
      weights_(weights),
      start_(start),
      last_(last),
      workers_(threads),
      cells_(program.values.size()),
      caches_(program.caches.size()) {
  CHECK(last >= 1 && start.first >= 0);
  CHECK(start.first == 0 || program.caches.empty() || start.before != nullptr);
  CHECK(start.given.size() % static_cast<std::size_t>(program.columns) == 0);
  if (program.chips != 1) {
    throw Error("exact evaluation", "takes cuts on one chip",
                fmt::format("{} over {} chips", program.identity.cut, program.chips), "over 1");
  }
  for (const std::int64_t token : start.tokens) {
    if (token >= 1 && token <= program.vocabulary) continue;
    throw Error("exact evaluation", "token outside the vocabulary", fmt::to_string(token),
                fmt::format("1 to {}", program.vocabulary));
  }
}

std::vector<double> ExactEvaluation::run() {
  std::vector<std::size_t> last_use(cells_.size(), 0);
  for (std::size_t i = 0; i < program_.operations.size(); ++i) {
    for (const int argument : program_.operations[i].arguments) {
      last_use[static_cast<std::size_t>(argument)] = i;
    }
  }
  for (std::size_t i = 0; i < program_.operations.size(); ++i) {
    const Operation& operation = program_.operations[i];
    if (operation.word == Word::kShow) return std::move(cell(operation.arguments.front()).x);
    execute(operation);
    for (const int argument : operation.arguments) {
      if (last_use[static_cast<std::size_t>(argument)] == i) cell(argument) = Cell{};
    }
  }
  CHECK_UNREACHABLE();
}

void ExactEvaluation::execute(const Operation& operation) {
  in_layers_ |= operation.layer > 0;
  if (in_layers_ && operation.layer == 0 && !in_head_) {
    in_head_ = true;
    for (const int argument : operation.arguments) keep_last(cell(argument));
  }
  Cell none;
  const Cell& x = operation.arguments.empty() ? none : cell(operation.arguments.front());
  Cell result;
  switch (operation.word) {
    case Word::kGiven:
      result.x = start_.given;
      result.rows = static_cast<std::int64_t>(result.x.size()) / program_.columns;
      break;
    case Word::kEmbedded:
      embed(operation, result);
      break;
    case Word::kRmsNorm:
      norm(operation, x, result);
      break;
    case Word::kProduct:
      multiply(operation, x, result);
      break;
    case Word::kQuantized:
    case Word::kHeads:
      result = x;
      break;
    case Word::kLastRow:
      result = x;
      keep_last(result);
      break;
    case Word::kWithBias:
      result = x;
      bias(operation, result);
      break;
    case Word::kRotated:
      result = x;
      rotate(operation, result);
      break;
    case Word::kPush:
      push(operation, x);
      return;
    case Word::kAttended:
      attend(operation, x, result);
      break;
    case Word::kSilu:
      result = x;
      for (double& v : result.x) v = v / (1 + std::exp(-v));
      break;
    case Word::kMultiply:
    case Word::kAdd: {
      result = x;
      const Cell& y = cell(operation.arguments[1]);
      const bool add = operation.word == Word::kAdd;
      for (std::size_t i = 0; i < result.x.size(); ++i) {
        result.x[i] = add ? result.x[i] + y.x[i] : result.x[i] * y.x[i];
      }
      break;
    }
    default:
      CHECK_UNREACHABLE();  // a word of split programs: refused before
  }
  cell(operation.result) = std::move(result);
}

/// What the cache holds from position 0 on: the numbers that its integers stand for, then the rows.
void ExactEvaluation::push(const Operation& operation, const Cell& x) {
  const Cache& declared = program_.caches[static_cast<std::size_t>(operation.keys)];
  std::vector<double>& values = caches_[static_cast<std::size_t>(operation.keys)].values;
  values.clear();
  if (start_.first > 0) {
    CHECK(start_.first <= start_.before->positions);
    const KvCache::Layer& layer = start_.before->layer(declared.layer);
    const auto& integers = declared.keys ? layer.keys : layer.values;
    const auto& exponents = declared.keys ? layer.key_exponents : layer.value_exponents;
    const auto blocks = static_cast<std::size_t>(start_.first * declared.heads);
    const auto columns = static_cast<std::size_t>(declared.head_columns);
    values.reserve(blocks * columns + x.x.size());
    for (std::size_t i = 0; i < blocks * columns; ++i) {
      values.push_back(std::ldexp(integers[i], exponents[i / columns]));  // ZE: all are 0
    }
  }
  values.insert(values.end(), x.x.begin(), x.x.end());
}

void ExactEvaluation::keep_last(Cell& cell) const {
  if (cell.rows <= last_) return;
  const std::size_t columns = cell.x.size() / static_cast<std::size_t>(cell.rows);
  const std::size_t kept = static_cast<std::size_t>(last_) * columns;
  cell.x.erase(cell.x.begin(), cell.x.end() - static_cast<std::ptrdiff_t>(kept));
  cell.rows = last_;
}

std::vector<double> ExactEvaluation::vector_of(const Operation& operation) const {
  const Vector& vector = program_.vectors[static_cast<std::size_t>(operation.vector)];
  std::vector<double> values(static_cast<std::size_t>(vector.size));
  weights_.vector(vector.tensor, values);
  return values;
}

void ExactEvaluation::embed(const Operation& operation, Cell& to) {
  const Matrix& matrix = program_.matrices[static_cast<std::size_t>(operation.matrix)];
  const auto columns = static_cast<std::size_t>(matrix.columns);
  const std::vector<std::int64_t>& tokens = start_.tokens;
  to.rows = static_cast<std::int64_t>(tokens.size());
  to.x.resize(tokens.size() * columns);
  for (std::size_t r = 0; r < tokens.size(); ++r) {
    weights_.row(matrix.tensor, tokens[r] - 1, std::span(to.x).subspan(r * columns, columns));
  }
}

void ExactEvaluation::norm(const Operation& operation, const Cell& x, Cell& to) {
  const std::vector<double> gain = vector_of(operation);
  to = x;
  for (std::size_t begin = 0; begin < to.x.size(); begin += gain.size()) {
    double squares = 0;
    for (std::size_t i = 0; i < gain.size(); ++i) squares += to.x[begin + i] * to.x[begin + i];
    const double mean = squares / static_cast<double>(gain.size());
    const double r = 1 / std::sqrt(mean + program_.norm_epsilon);
    for (std::size_t i = 0; i < gain.size(); ++i) to.x[begin + i] *= r * gain[i];
  }
}

void ExactEvaluation::multiply(const Operation& operation, const Cell& x, Cell& to) {
  constexpr std::int64_t kBlock = 16;  // weight rows read and kept at a time
  const Matrix& matrix = program_.matrices[static_cast<std::size_t>(operation.matrix)];
  to.rows = x.rows;
  to.x.resize(static_cast<std::size_t>(x.rows * matrix.rows));
  workers_.share(matrix.rows, kBlock, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> block(static_cast<std::size_t>(kBlock * matrix.columns));
    for (std::int64_t n = begin; n < end; n += kBlock) {
      const std::int64_t rows = std::min(kBlock, end - n);
      const auto used = std::span(block).first(static_cast<std::size_t>(rows * matrix.columns));
      for (std::int64_t i = 0; i < rows; ++i) {
        weights_.row(matrix.tensor, n + i,
                     used.subspan(static_cast<std::size_t>(i * matrix.columns),
                                  static_cast<std::size_t>(matrix.columns)));
      }
      exact_products(used, x.x, x.rows, matrix.columns, to.x.data() + n, matrix.rows);
    }
  });
}

void ExactEvaluation::bias(const Operation& operation, Cell& to) {
  const std::vector<double> bias = vector_of(operation);
  for (std::size_t i = 0; i < to.x.size(); ++i) to.x[i] += bias[i % bias.size()];
}

void ExactEvaluation::rotate(const Operation& operation, Cell& to) {
  const Value& type = value(operation.result);
  const std::int64_t pairs = type.columns / 2;
  for (std::int64_t r = 0; r < to.rows; ++r) {
    for (std::int64_t j = 0; j < pairs; ++j) {
      const double angle = static_cast<double>(start_.first + r) *
                           frequency(program_.rotary, j, program_.head_columns);
      const double c = std::cos(angle);
      const double s = std::sin(angle);
      for (std::int64_t h = 0; h < type.heads; ++h) {
        double* head = to.x.data() + (r * type.heads + h) * type.columns;
        const double p = head[j];
        const double q = head[j + pairs];
        head[j] = p * c - q * s;
        head[j + pairs] = p * s + q * c;
      }
    }
  }
}

void ExactEvaluation::attend(const Operation& operation, const Cell& query, Cell& to) {
  const Value& type = value(operation.arguments.front());
  const std::int64_t columns = type.columns;
  const std::int64_t key_heads = type.heads / program_.query_group;
  ExactCache& key_cache = caches_[static_cast<std::size_t>(operation.keys)];
  ExactCache& value_cache = caches_[static_cast<std::size_t>(operation.cache_values)];
  const double* keys = key_cache.values.data();
  const double* values = value_cache.values.data();
  to.rows = query.rows;
  to.x.assign(query.x.size(), 0);
  workers_.share(query.rows * type.heads, 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> scores;
    for (std::int64_t unit = begin; unit < end; ++unit) {
      const std::int64_t row = unit / type.heads;
      const std::int64_t head = unit % type.heads / program_.query_group;
      const std::int64_t own = start_.first + row;  // the row's position
      const std::int64_t first =
          program_.window ? std::max<std::int64_t>(0, own - *program_.window + 1) : 0;
      const double* q = query.x.data() + unit * columns;
      scores.clear();
      for (std::int64_t t = first; t <= own; ++t) {
        const double* k = keys + (t * key_heads + head) * columns;
        double sum = 0;
        for (std::int64_t i = 0; i < columns; ++i) sum += q[i] * k[i];
        scores.push_back(sum / std::sqrt(static_cast<double>(columns)));
      }
      const double greatest = *std::max_element(scores.begin(), scores.end());
      double total = 0;
      for (double& score : scores) total += score = std::exp(score - greatest);
      double* output = to.x.data() + unit * columns;
      for (std::int64_t t = first; t <= own; ++t) {
        const double weight = scores[static_cast<std::size_t>(t - first)] / total;
        const double* v = values + (t * key_heads + head) * columns;
        for (std::int64_t i = 0; i < columns; ++i) output[i] += weight * v[i];
      }
    }
  });
  key_cache = {};  // a layer attends once
  value_cache = {};
}

/// log of the sum of exponentials, the largest taken out first.
template <typename T>
double log_sum(std::span<const T> values) {
  const double greatest = static_cast<double>(*std::max_element(values.begin(), values.end()));
  double sum = 0;
  for (const T value : values) sum += std::exp(static_cast<double>(value) - greatest);
  return greatest + std::log(sum);
}

}  // namespace

ExactWeights exact_weights(const Checkpoint& checkpoint) {
  const auto read = [&checkpoint](std::string_view tensor, std::int64_t row,
                                  std::span<double> values) {
    std::vector<float> narrow(values.size());
    checkpoint.read_row(tensor, row, narrow);
    std::copy(narrow.begin(), narrow.end(), values.begin());
  };
  return {read,
          [read](std::string_view tensor, std::span<double> values) { read(tensor, 0, values); }};
}

ExactWeights exact_weights(const WeightStore& weights) {
  return {[&weights](std::string_view tensor, std::int64_t row, std::span<double> values) {
            dequantize_row(weights.matrix(tensor), row, values);
          },
          [&weights](std::string_view tensor, std::span<double> values) {
            const auto narrow = weights.vector(tensor);
            CHECK(narrow.size() == values.size());
            std::copy(narrow.begin(), narrow.end(), values.begin());
          }};
}

std::vector<double> exact_outputs(const Program& program, const ExactWeights& weights,
                                  const ExactStart& start, std::int64_t last, int threads) {
  return ExactEvaluation(program, weights, start, last, threads).run();
}

std::vector<double> exact_logits(const Program& program, const ExactWeights& weights,
                                 std::span<const std::int64_t> tokens, std::int64_t last,
                                 int threads) {
  const auto& operations = program.operations;
  const auto has = [&](Word word) {
    return std::any_of(operations.begin(), operations.end(),
                       [word](const Operation& operation) { return operation.word == word; });
  };
  if (has(Word::kGiven) || !has(Word::kAttended)) {
    throw Error("exact evaluation", "the logits of tokens are those of a whole cut",
                program.identity.cut, "a decode step, chunk or batch");
  }
  CHECK(last <= static_cast<std::int64_t>(tokens.size()));
  const ExactStart start{.tokens = {tokens.begin(), tokens.end()}};
  return exact_outputs(program, weights, start, last, threads);
}

double largest_difference(std::span<const float> outputs, std::span<const double> exact) {
  CHECK(outputs.size() == exact.size());
  double largest = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(outputs[i]) - exact[i]));
  }
  return largest;
}

ErrorOfArithmetic error_of_arithmetic(std::span<const float> logits, std::span<const double> exact,
                                      std::int64_t columns) {
  CHECK(columns > 0 && logits.size() == exact.size() && !exact.empty());
  const auto width = static_cast<std::size_t>(columns);
  CHECK(exact.size() % width == 0);
  const std::size_t rows = exact.size() / width;
  ErrorOfArithmetic error;
  for (std::size_t row = 0; row < rows; ++row) {
    const auto got = logits.subspan(row * width, width);
    const auto want = exact.subspan(row * width, width);
    const double got_sum = log_sum(got);
    const double want_sum = log_sum(want);
    for (std::size_t i = 0; i < width; ++i) {
      const double got_logit = static_cast<double>(got[i]);
      error.max_logit_error = std::max(error.max_logit_error, std::abs(got_logit - want[i]));
      error.kl += std::exp(want[i] - want_sum) * ((want[i] - want_sum) - (got_logit - got_sum));
    }
    const auto got_best = std::max_element(got.begin(), got.end()) - got.begin();
    const auto want_best = std::max_element(want.begin(), want.end()) - want.begin();
    if (got_best == want_best) error.top1 += 1;
  }
  error.kl = std::max(0.0, error.kl / static_cast<double>(rows));  // its sum is rounded
  error.top1 /= static_cast<double>(rows);
  return error;
}

}  // namespace logos::reference
