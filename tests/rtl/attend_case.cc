#include "tests/rtl/attend_case.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace logos {
namespace {

constexpr std::int64_t kRows = 8;
constexpr std::int8_t kZero = -128;
constexpr std::int64_t kCacheBase = 5;  // the image begins with garbage

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

AttendCase::AttendCase(AttendShape shape, std::uint32_t seed)
    : shape_(std::move(shape)), random_(seed) {
  capacity_ = *std::max_element(shape_.positions.begin(), shape_.positions.end()) + 1 +
              static_cast<std::int64_t>(random_() % 200);
  const std::size_t caches = shape_.one_cache ? 1 : shape_.positions.size();
  layers_.resize(caches);
  const std::int64_t head = values_offset() + blocks() * 32 * words();
  image_.resize(at(kCacheBase + static_cast<std::int64_t>(caches) * shape_.key_heads * head));
  for (auto& beat : image_) {
    for (auto& byte : beat) byte = static_cast<std::uint8_t>(random_());
  }
  for (auto& layer : layers_) fill_layer(&layer);
  for (std::size_t row = 0; row < caches; ++row) lay_out(static_cast<std::int64_t>(row));

  const auto rows = static_cast<std::int64_t>(shape_.positions.size());
  query_words_.resize(at(rows * query_heads() * words()));
  for (auto& word : query_words_) {
    for (auto& q : word) q = static_cast<std::int16_t>(random_() % 65535 - 32767);
  }
  for (std::int64_t i = 0; i < rows * query_heads(); ++i) {
    query_exponents_.push_back(exponent(-15, -11));
  }
  row_positions_.resize(at(kRows));
  for (auto& position : row_positions_) position = static_cast<std::uint32_t>(random_());
  for (std::int64_t r = 0; r < rows; ++r) {
    row_positions_[at(shape_.pass_row + r)] = static_cast<std::uint32_t>(shape_.positions[at(r)]);
  }
}

/// Mostly in a range where softmax has something to choose from, now and then anywhere.
std::int8_t AttendCase::exponent(int low, int high) {
  const auto choice = random_() % 32;
  if (choice == 0) return kZero;
  if (choice == 1) return static_cast<std::int8_t>(static_cast<int>(random_() % 101) - 74);
  // Two of these lie at the bound below which a score is 0.
  if (choice <= 3) return static_cast<std::int8_t>(-50 - static_cast<int>(random_() % 2));
  return static_cast<std::int8_t>(
      low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1)));
}

void AttendCase::fill_layer(KvCache::Layer* layer) {
  const std::int64_t blocks = capacity_ * shape_.key_heads;
  const bool all_zero = random_() % 8 == 0;
  for (std::int64_t i = 0; i < blocks; ++i) {
    layer->key_exponents.push_back(exponent(-16, -12));
    layer->value_exponents.push_back(all_zero ? kZero : exponent(-20, -8));
  }
  for (std::int64_t i = 0; i < blocks * shape_.head_columns; ++i) {
    layer->keys.push_back(static_cast<std::int16_t>(random_() % 65535 - 32767));
    layer->values.push_back(static_cast<std::int16_t>(random_() % 65535 - 32767));
  }
}

std::int64_t AttendCase::blocks() const { return (capacity_ + 127) / 128; }

std::int64_t AttendCase::keys_address(std::int64_t row, std::int64_t key_head) const {
  const std::int64_t head = values_offset() + blocks() * 32 * words();
  return kCacheBase + ((shape_.one_cache ? 0 : row) * shape_.key_heads + key_head) * head;
}

/// Positions up to the row's own; those behind it and the padding stay garbage.
void AttendCase::lay_out(std::int64_t row) {
  const KvCache::Layer& from = layer(row);
  std::int64_t end = shape_.positions[at(row)] + 1;
  if (shape_.one_cache) {
    end = *std::max_element(shape_.positions.begin(), shape_.positions.end()) + 1;
  }
  for (std::int64_t h = 0; h < shape_.key_heads; ++h) {
    const std::int64_t keys = keys_address(row, h);
    for (std::int64_t t = 0; t < end; ++t) {
      const std::int64_t block = t / 128;
      const std::int64_t slot = t % 128 / 4;
      const std::int64_t bank = t % 4 * 64;
      const std::int64_t place = t * shape_.key_heads + h;
      SuperBeat& exponents = image_[at(keys + block * (1 + 32 * words()))];
      exponents[at(bank + 2 * slot)] = static_cast<std::uint8_t>(from.key_exponents[at(place)]);
      exponents[at(bank + 2 * slot + 1)] =
          static_cast<std::uint8_t>(from.value_exponents[at(place)]);
      for (std::int64_t c = 0; c < shape_.head_columns; ++c) {
        const std::int64_t beat = slot * words() + c / 32;
        const std::size_t byte = at(bank + c % 32 * 2);
        std::memcpy(&image_[at(keys + block * (1 + 32 * words()) + 1 + beat)][byte],
                    &from.keys[at(place * shape_.head_columns + c)], 2);
        std::memcpy(&image_[at(keys + values_offset() + block * 32 * words() + beat)][byte],
                    &from.values[at(place * shape_.head_columns + c)], 2);
      }
    }
  }
}

d5005::Instruction AttendCase::instruction() const {
  d5005::Instruction i;
  const auto narrow = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  i.op = static_cast<std::uint32_t>(d5005::Op::kAttend);
  i.group = narrow(shape_.group);
  i.heads = narrow(static_cast<std::int64_t>(key_heads().size()));
  i.head_columns = narrow(shape_.head_columns);
  i.window = narrow(shape_.window);
  i.target = static_cast<std::uint32_t>(shape_.stop);
  i.words = narrow(query_heads());
  i.first = narrow(shape_.first);
  i.first_head = narrow(key_heads().front());
  i.source = narrow((key_heads().front() * shape_.group - shape_.missing_front) & 0xFFFF);
  i.only_row = narrow(shape_.only_row + 1);
  i.destination = 7;
  i.destination_stride = narrow((shape_.first + query_heads() * shape_.head_columns + 31) / 32 + 1);
  i.line = 321;
  return i;
}

std::int64_t AttendCase::query_heads() const {
  return shape_.key_heads * shape_.group - shape_.missing_front - shape_.missing_back;
}

std::int64_t AttendCase::first_position(std::int64_t row) const {
  const std::int64_t last = shape_.positions[at(row)];
  return shape_.window == 0 ? 0 : std::max<std::int64_t>(0, last - shape_.window + 1);
}

std::vector<std::int64_t> AttendCase::rows() const {
  if (shape_.only_row >= 0) return {shape_.only_row};
  std::vector<std::int64_t> all;
  for (std::size_t r = 0; r < shape_.positions.size(); ++r) {
    all.push_back(static_cast<std::int64_t>(r));
  }
  return all;
}

std::vector<std::int64_t> AttendCase::key_heads() const {
  if (shape_.only_head >= 0) return {shape_.only_head};
  std::vector<std::int64_t> all;
  for (std::int64_t h = 0; h < shape_.key_heads; ++h) all.push_back(h);
  return all;
}

std::pair<std::int64_t, std::int64_t> AttendCase::heads_of(std::int64_t key_head) const {
  const std::int64_t begin = key_head * shape_.group - shape_.missing_front;
  return {std::max<std::int64_t>(begin, 0), std::min(begin + shape_.group, query_heads())};
}

const KvCache::Layer& AttendCase::layer(std::int64_t row) const {
  return layers_[shape_.one_cache ? 0 : at(row)];
}

std::vector<std::int16_t> AttendCase::query(std::int64_t row, std::int64_t head) const {
  std::vector<std::int16_t> q;
  for (std::int64_t c = 0; c < shape_.head_columns; ++c) {
    q.push_back(query_words_[at((row * query_heads() + head) * words() + c / 32)][at(c % 32)]);
  }
  return q;
}

std::int8_t AttendCase::query_exponent(std::int64_t row, std::int64_t head) const {
  return query_exponents_[at(row * query_heads() + head)];
}

std::deque<SuperBeat> AttendCase::stream() const {
  std::deque<SuperBeat> beats;
  struct Pair {
    std::int64_t row;
    std::int64_t key_head;
  };
  std::vector<Pair> pairs;
  for (const std::int64_t row : rows()) {
    for (const std::int64_t head : key_heads()) pairs.push_back({row, head});
  }
  const auto append = [&](const Pair& pair, bool keys) {
    const std::int64_t last = shape_.positions[at(pair.row)];
    const std::int64_t base = keys_address(pair.row, pair.key_head) + (keys ? 0 : values_offset());
    const std::int64_t stride = (keys ? 1 : 0) + 32 * words();
    for (std::int64_t block = first_position(pair.row) / 128; block <= last / 128; ++block) {
      const std::int64_t slots = block == last / 128 ? last % 128 / 4 + 1 : 32;
      const std::int64_t count = (keys ? 1 : 0) + slots * words();
      for (std::int64_t i = 0; i < count; ++i) {
        beats.push_back(image_[at(base + block * stride + i)]);
      }
    }
  };
  const bool whole = shape_.stop == d5005::AttendStop::kWhole;
  for (std::size_t n = 0; n < pairs.size(); ++n) {
    append(pairs[n], true);
    if (whole && n > 0) append(pairs[n - 1], false);
  }
  if (whole && !pairs.empty()) append(pairs.back(), false);
  return beats;
}

}  // namespace logos
