#include "bench/wave_file.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

#include "program/error.h"

namespace logos::bench {
namespace {

namespace fs = std::filesystem;

// GTKWave's fstapi.h: a block is its type, its length (big-endian, with these eight bytes), its
// bytes; the last type stands for one that is still being written.
constexpr std::size_t kLengthBytes = 8;
constexpr int kHeader = 0;
constexpr int kGeometry = 3;
constexpr int kHierarchies[] = {4, 6, 7};
constexpr int kUnfinished = 255;

// What the C library may hold back before it notices.
constexpr std::uintmax_t kLeastRoom = std::uintmax_t{64} << 10;

struct Block {
  int type = 0;
  std::uint64_t length = 0;
};

/// What stands at byte `at`; length 0 where the file ends before.
Block block_at(std::ifstream& stream, std::uint64_t at) {
  std::array<char, 1 + kLengthBytes> head{};
  stream.seekg(static_cast<std::streamoff>(at));
  if (!stream.read(head.data(), head.size())) return {};
  Block block{static_cast<unsigned char>(head[0]), 0};
  for (std::size_t i = 1; i < head.size(); ++i) {
    block.length = block.length << 8 | static_cast<unsigned char>(head[i]);
  }
  return block;
}

/// Whether the header's last time lies behind its first: the two numbers that it begins with.
bool has_times(std::ifstream& stream) {
  std::array<char, 8> first{};
  std::array<char, 8> last{};
  stream.clear();
  stream.seekg(1 + kLengthBytes);
  stream.read(first.data(), first.size());
  stream.read(last.data(), last.size());
  return stream && first != last;
}

}  // namespace

bool check_wave_file(const fs::path& file) {
  const auto refuse = [&](std::string_view what) {
    throw Error(file.string(),
                fmt::format("the waveform is not whole: {}; is the disk full?", what));
  };
  std::error_code failed;
  const std::uintmax_t bytes = fs::file_size(file, failed);
  std::ifstream stream(file, std::ios::binary);
  if (failed || !stream) throw Error(file.string(), "cannot read the waveform");
  std::set<int> types;
  for (std::uint64_t at = 0; at < bytes;) {
    const auto [type, length] = block_at(stream, at);
    if (length < kLengthBytes || length > bytes - at - 1 || type == kUnfinished) {
      refuse(fmt::format("the block at byte {} of {} does not end", at, bytes));
    }
    types.insert(type);
    at += 1 + length;
  }
  if (!types.contains(kHeader)) refuse("no header");
  if (!types.contains(kGeometry)) refuse("no sizes of signals");
  bool named = false;
  for (const int type : kHierarchies) named |= types.contains(type);
  if (!named) refuse("no names of signals");
  const fs::space_info space = fs::space(file, failed);
  if (!failed && space.available < kLeastRoom) refuse("no room is left where it lies");
  return has_times(stream);
}

void remove_broken_wave(const fs::path& file) {
  std::error_code ignored;
  fs::remove(file.string() + ".hier", ignored);
  try {
    if (fs::is_regular_file(file, ignored)) check_wave_file(file);
  } catch (const Error&) {
    fs::remove(file, ignored);
  }
}

}  // namespace logos::bench
