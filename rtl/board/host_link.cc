#include "rtl/board/host_link.h"

#include <algorithm>
#include <cstring>

namespace logos::d5005 {
namespace {

constexpr std::size_t kOpenReads = 512;
constexpr std::size_t kOpenWrites = 128;
constexpr std::uint64_t kAlignment = std::uint64_t{2} << 20;

// What the faults touch.
constexpr std::size_t kStuckByte = 42;  ///< of a line: bit 1 of it stands at 1
constexpr std::byte kStuckMask{0x02};
constexpr double kSlowFactor = 8;

/// Another one than the banks', which have the same stalls.
std::uint64_t seed_of(const Stalls& stalls) { return stalls.seed ^ 0x484F5354; }

}  // namespace

HostLink::HostLink(const HostLinkParameters& parameters, Stalls stalls, PlantedFault fault)
    : parameters_(parameters), stalls_(stalls), fault_(fault), random_(seed_of(stalls)) {
  const double bytes = 64.0 + parameters.header_bytes;
  line_cycles_ = cycles_of_ns(bytes / parameters.gigabytes_per_second);
}

std::uint64_t HostLink::allocate(std::size_t bytes, std::span<std::byte>* memory) {
  const std::uint64_t address = next_address_;
  next_address_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  std::vector<std::byte>& buffer = buffers_[address];
  buffer.resize((bytes + 63) / 64 * 64);
  *memory = std::span(buffer).first(bytes);
  return address;
}

void HostLink::release(std::uint64_t address) { buffers_.erase(address); }

/// The line at an address of a pinned buffer, or null.
std::byte* HostLink::at(std::uint64_t address) {
  auto buffer = buffers_.upper_bound(address);
  if (buffer == buffers_.begin()) return nullptr;
  --buffer;
  const std::uint64_t offset = address - buffer->first;
  return offset + 64 <= buffer->second.size() ? buffer->second.data() + offset : nullptr;
}

void HostLink::set_stalls(Stalls stalls) {
  stalls_ = stalls;
  random_.seed(seed_of(stalls));
}

double HostLink::line_cycles() const {
  return faulty(PortFault::kSlow) ? kSlowFactor * line_cycles_ : line_cycles_;
}

double HostLink::jitter() {
  const double fraction = static_cast<double>(random_() % 1024) / 1024;
  return cycles_of_ns(parameters_.jitter_ns) * fraction;
}

void HostLink::clock(const AxiRequest& request, AxiResponse& response) {
  take(request, response);
  drive(response);
  ++cycles_;
}

void HostLink::take(const AxiRequest& request, const AxiResponse& response) {
  if (response.r_valid && request.r_ready) {
    reads_.erase(reads_.begin());
    r_offered_ = false;
  }
  if (response.b_valid && request.b_ready) {
    writes_answered_.erase(writes_answered_.begin());
    b_offered_ = false;
  }
  if (request.ar_valid && response.ar_ready && !faulty(PortFault::kSilent)) {
    read(request.ar_id, request.ar_address);
  }
  if (request.aw_valid && response.aw_ready)
    addresses_.push_back({request.aw_id, request.aw_address});
  if (request.w_valid && response.w_ready) data_.emplace_back(request.w_data, request.w_strobe);
  if (!addresses_.empty() && !data_.empty()) {
    write(addresses_.front(), data_.front().first, data_.front().second);
    addresses_.erase(addresses_.begin());
    data_.erase(data_.begin());
  }
}

void HostLink::read(std::uint32_t id, std::uint64_t address) {
  read_free_ = std::max(read_free_, static_cast<double>(cycles_)) + line_cycles();
  Answer answer{};
  answer.id = id;
  answer.due = read_free_ + cycles_of_ns(parameters_.read_latency_ns) + jitter();
  const std::byte* line = at(address);
  answer.response = line == nullptr || faulty(PortFault::kReadError) ? 2 : 0;
  if (line != nullptr) std::memcpy(answer.line.data(), line, answer.line.size());
  if (faulty(PortFault::kStuckBit)) answer.line[kStuckByte] |= kStuckMask;
  if (faulty(PortFault::kBitFlip) && faulty_answers_++ % kFlipPeriod == 0) {
    answer.line[static_cast<std::size_t>(fault_.cycle % 64)] ^= std::byte{1};
  }
  bytes_read_ += 64;
  reads_.push_back(answer);
}

void HostLink::write(const Write& write, const Line& line, std::uint64_t strobe) {
  if (faulty(PortFault::kSilent)) return;
  write_free_ = std::max(write_free_, static_cast<double>(cycles_)) + line_cycles();
  Answer answer{};
  answer.id = write.id;
  answer.due = write_free_ + cycles_of_ns(parameters_.write_latency_ns);
  std::byte* to = at(write.address);
  answer.response = to == nullptr || faulty(PortFault::kWriteError) ? 2 : 0;
  if (faulty(PortFault::kLostWrite)) to = nullptr;
  for (std::size_t i = 0; to != nullptr && i < line.size(); ++i) {
    if ((strobe >> i & 1U) != 0) {
      to[i] = line[i];
      ++bytes_written_;
    }
  }
  writes_answered_.push_back(answer);
}

void HostLink::drive(AxiResponse& response) {
  const auto now = static_cast<double>(cycles_);
  const auto first_due = [&](std::vector<Answer>& answers) {
    const auto due =
        std::min_element(answers.begin(), answers.end(),
                         [](const Answer& a, const Answer& b) { return a.due < b.due; });
    if (due == answers.end() || due->due > now) return false;
    std::iter_swap(due, answers.begin());
    return true;
  };
  if (!r_offered_) r_offered_ = !reads_.empty() && !held() && first_due(reads_);
  response.r_valid = r_offered_;
  response.r_last = true;
  if (r_offered_) {
    response.r_id = reads_.front().id;
    response.r_response = reads_.front().response;
    response.r_data = reads_.front().line;
  } else {
    response.r_data.fill(static_cast<std::byte>(cycles_ * 41 + 7));
  }
  if (!b_offered_) b_offered_ = !writes_answered_.empty() && !held() && first_due(writes_answered_);
  response.b_valid = b_offered_;
  if (b_offered_) {
    response.b_id = writes_answered_.front().id;
    response.b_response = writes_answered_.front().response;
  }
  response.ar_ready = reads_.size() < kOpenReads && !held();
  const bool room = writes_answered_.size() + addresses_.size() < kOpenWrites;
  response.aw_ready = room && !held();
  response.w_ready = data_.size() < kOpenWrites && !held();
}

}  // namespace logos::d5005
