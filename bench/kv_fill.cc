#include "bench/kv_fill.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "bench/progress.h"
#include "program/error.h"
#include "program/written.h"
#include "sim/weights/store.h"
#include "sim/whole_file.h"

namespace logos::bench {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "caches are kept as they lie in memory");

constexpr std::string_view kMagic = "logos kv cache 1\n";
constexpr std::size_t kDigestDigits = 64;
constexpr std::int64_t kChunk = 64;  // rows of a prefill program that fills a cache
constexpr std::int64_t kProbe = 8;   // positions of a kept cache that are computed again

template <typename T>
void append(std::string& bytes, const std::vector<T>& values) {
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

template <typename T>
void take(std::string_view& bytes, std::vector<T>& values) {
  const std::size_t size = values.size() * sizeof(T);
  std::memcpy(values.data(), bytes.data(), size);
  bytes.remove_prefix(size);
}

std::size_t bytes_of_cache(const KvCache& cache) {
  std::size_t bytes = 0;
  for (const KvCache::Layer& layer : cache.layers) {
    bytes += 2 * (layer.keys.size() + layer.values.size()) + layer.key_exponents.size() +
             layer.value_exponents.size();
  }
  return bytes;
}

/// One line that must be the same for the bytes to be the cache asked for.
std::string header_of(const KvCache& cache, const FillKey& key) {
  const nlohmann::json header = {{"key", key.sha256()},
                                 {"positions", cache.positions},
                                 {"heads", cache.heads},
                                 {"head_columns", cache.head_columns},
                                 {"first_layer", cache.first_layer},
                                 {"layers", cache.layers.size()}};
  return header.dump() + "\n";
}

/// A block as Q16 leaves it: integers within ±32767, the largest of them from 2^14 up.
std::int8_t fill_block(SplitMix64& random, std::span<std::int16_t> block) {
  constexpr std::int64_t kLargest = 32767;
  for (std::int16_t& value : block) {
    const auto bits = static_cast<std::int64_t>(random.next() >> 48);  // 0 … 65535
    value = static_cast<std::int16_t>(std::clamp<std::int64_t>(bits - 32768, -kLargest, kLargest));
  }
  std::int16_t& peak = block[random.next() % block.size()];
  const auto magnitude = static_cast<std::int16_t>(16384 + random.next() % 16384);
  peak = peak < 0 ? static_cast<std::int16_t>(-magnitude) : magnitude;
  return static_cast<std::int8_t>(-17 + static_cast<int>(random.next() % 6));  // |x| about 2^-3 … 8
}

void fill_side(SplitMix64& random, std::int64_t blocks, std::int64_t columns,
               std::vector<std::int16_t>& values, std::vector<std::int8_t>& exponents) {
  const auto width = static_cast<std::size_t>(columns);
  for (std::size_t block = 0; block < static_cast<std::size_t>(blocks); ++block) {
    exponents[block] = fill_block(random, std::span(values).subspan(block * width, width));
  }
}

void copy_prefix(const KvCache& from, KvCache& to) {
  const std::int64_t first = to.first_layer;
  const auto last = first + static_cast<std::int64_t>(to.layers.size());
  for (std::int64_t n = first; n < last; ++n) {
    const KvCache::Layer& source = from.layer(n);
    KvCache::Layer& target = to.layer(n);
    std::copy(source.keys.begin(), source.keys.end(), target.keys.begin());
    std::copy(source.values.begin(), source.values.end(), target.values.begin());
    std::copy(source.key_exponents.begin(), source.key_exponents.end(),
              target.key_exponents.begin());
    std::copy(source.value_exponents.begin(), source.value_exponents.end(),
              target.value_exponents.begin());
  }
}

}  // namespace

std::string FillKey::sha256() const {
  std::string text = fmt::format("{} {}", weights_sha256, program_sha256);
  for (const std::int64_t id : ids) text += fmt::format(" {}", id);
  return sha256_hex(text);
}

std::string serialise_cache(const KvCache& cache, const FillKey& key) {
  std::string bytes = std::string(kMagic) + header_of(cache, key);
  bytes.reserve(bytes.size() + bytes_of_cache(cache) + kDigestDigits);
  for (const KvCache::Layer& layer : cache.layers) {
    append(bytes, layer.keys);
    append(bytes, layer.values);
    append(bytes, layer.key_exponents);
    append(bytes, layer.value_exponents);
  }
  return bytes + sha256_hex(bytes);
}

KvCache parse_cache(std::string_view bytes, const FillKey& key, KvCache cache,
                    std::string_view where) {
  const std::string start = std::string(kMagic) + header_of(cache, key);
  const std::size_t want = start.size() + bytes_of_cache(cache) + kDigestDigits;
  if (bytes.size() != want) {
    throw Error(where, "size in bytes", fmt::to_string(bytes.size()), fmt::to_string(want));
  }
  if (!bytes.starts_with(start)) throw Error(where, "a cache of something else");
  const std::string_view body = bytes.substr(0, bytes.size() - kDigestDigits);
  const std::string digest = sha256_hex(body);
  if (bytes.substr(body.size()) != digest) {
    throw Error(where, "damaged: digest", bytes.substr(body.size()), digest);
  }
  std::string_view rest = body.substr(start.size());
  for (KvCache::Layer& layer : cache.layers) {
    take(rest, layer.keys);
    take(rest, layer.values);
    take(rest, layer.key_exponents);
    take(rest, layer.value_exponents);
  }
  return cache;
}

KvCache synthetic_cache(const ModelSpec& spec, std::int64_t filled, std::int64_t capacity,
                        std::int64_t first_layer, std::int64_t layers) {
  KvCache cache(capacity, spec.key_heads, spec.head_columns, first_layer, layers);
  const std::int64_t blocks = filled * spec.key_heads;
  for (std::int64_t n = first_layer; n < first_layer + layers; ++n) {
    // A stream for each side of each layer: a longer cache begins with a shorter one's content.
    SplitMix64 keys(static_cast<std::uint64_t>(2 * n));
    SplitMix64 values(static_cast<std::uint64_t>(2 * n + 1));
    KvCache::Layer& layer = cache.layer(n);
    fill_side(keys, blocks, spec.head_columns, layer.keys, layer.key_exponents);
    fill_side(values, blocks, spec.head_columns, layer.values, layer.value_exponents);
  }
  return cache;
}

/// The first positions of a kept cache, computed anew: a file that an older program wrote must not
/// stand in for what this one computes.
void CacheMaker::check_beginning(const KvCache& kept, const Sequence& history) {
  const auto length = std::min<std::int64_t>(static_cast<std::int64_t>(history.size()), kProbe);
  const KvCache fresh = compute(Sequence(history.begin(), history.begin() + length));
  const auto begins = [](const auto& whole, const auto& start) {
    return std::equal(start.begin(), start.end(), whole.begin());
  };
  for (std::int64_t n = 1; n <= model_.spec.layers; ++n) {
    const KvCache::Layer& a = kept.layer(n);
    const KvCache::Layer& b = fresh.layer(n);
    if (!begins(a.keys, b.keys) || !begins(a.values, b.values) ||
        !begins(a.key_exponents, b.key_exponents) ||
        !begins(a.value_exponents, b.value_exponents)) {
      throw Error("kept cache", fmt::format("layer {} is not what the reference computes now", n));
    }
  }
}

KvCache CacheMaker::compute(const Sequence& history) {
  const auto length = static_cast<std::int64_t>(history.size());
  Inputs inputs;
  inputs.caches.emplace_back(length, model_.spec.key_heads, model_.spec.head_columns, 1,
                             model_.spec.layers);
  Progress progress;
  for (std::int64_t done = 0; done < length;) {
    Cut chunk;
    chunk.work = Cut::Work::kPrefill;
    chunk.rows = std::min(kChunk, length - done);
    progress.show_steps(fmt::format("filling the cache: {} of {} positions", done, length),
                        static_cast<double>(done), static_cast<double>(length));
    inputs.tokens.clear();
    inputs.positions.clear();
    for (std::int64_t i = done; i < done + chunk.rows; ++i) {
      inputs.tokens.push_back(history[static_cast<std::size_t>(i)] + 1);
      inputs.positions.push_back(i + 1);
    }
    reference_.run(chunk, inputs);
    done += chunk.rows;
  }
  return std::move(inputs.caches.front());
}

const KvCache& CacheMaker::made(const Sequence& history) {
  Cut smallest;
  smallest.context = 1;
  const FillKey key{model_.weights->sha256(), written(model_.spec, smallest).identity.sha256,
                    history};
  const std::string name = key.sha256();
  if (const auto found = kept_.find(name); found != kept_.end()) return found->second;
  const fs::path file = store_directory() / "caches" / (name + ".kv");
  std::error_code failed;
  if (fs::exists(file, failed)) {
    try {
      const KvCache shape(static_cast<std::int64_t>(history.size()), model_.spec.key_heads,
                          model_.spec.head_columns, 1, model_.spec.layers);
      KvCache kept = parse_cache(read_whole_file(file), key, shape, file.string());
      check_beginning(kept, history);
      return kept_.emplace(name, std::move(kept)).first->second;
    } catch (const Error& error) {
      say(fmt::format("{}; made again", error.what()));
    }
  }
  const KvCache& cache = kept_.emplace(name, compute(history)).first->second;
  try {
    fs::create_directories(file.parent_path(), failed);
    write_whole_file(file, serialise_cache(cache, key));
  } catch (const Error& error) {
    say(fmt::format("the cache is not kept: {}", error.what()));  // a result does not hang on it
  }
  return cache;
}

KvCache CacheMaker::filled(const Sequence& history, std::int64_t capacity, std::int64_t first_layer,
                           std::int64_t layers) {
  if (!model_.path) {
    return synthetic_cache(model_.spec, static_cast<std::int64_t>(history.size()), capacity,
                           first_layer, layers);
  }
  KvCache cache(capacity, model_.spec.key_heads, model_.spec.head_columns, first_layer, layers);
  if (!history.empty()) copy_prefix(made(history), cache);
  return cache;
}

}  // namespace logos::bench
