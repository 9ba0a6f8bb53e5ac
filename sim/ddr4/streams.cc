#include "sim/ddr4/streams.h"

#include <algorithm>

#include "program/check.h"

namespace logos::ddr4 {

StreamSource::StreamSource(const Stream& stream, std::uint64_t memory_bytes, std::uint64_t seed)
    : stream_(stream), memory_bytes_(memory_bytes), random_(seed) {
  CHECK(stream.chunk_bytes % kLineBytes == 0 && stream.chunk_bytes <= memory_bytes);
}

StreamSource::Item StreamSource::next() {
  const std::uint64_t address = [&] {
    if (stream_.chunk_bytes != 0 && left_ == 0) {
      address_ = random_() % (memory_bytes_ / stream_.chunk_bytes) * stream_.chunk_bytes;
      left_ = stream_.chunk_bytes / kLineBytes;
    }
    const std::uint64_t here = address_;
    address_ = (address_ + kLineBytes) % memory_bytes_;
    if (left_ > 0) --left_;
    return here;
  }();
  const bool write = stream_.write_percent > 0 &&
                     random_() % 100 < static_cast<std::uint64_t>(stream_.write_percent);
  return {write ? Operation::kWrite : Operation::kRead, address};
}

namespace {

/// Offers a stream to a channel and keeps the times that the figures need.
class Driver {
  static constexpr std::int64_t kHangClocks = 1'000'000;

 public:
  Driver(Channel& channel, const Stream& stream, const Load& load, std::uint64_t requests,
         std::uint64_t seed)
      : channel_(channel),
        source_(stream, channel.storage().bytes(), seed),
        load_(load),
        requests_(requests) {}

  Measured run() {
    Measured measured{};
    const std::uint64_t skipped = requests_ / 4;
    std::int64_t start = 0;
    std::uint64_t before = 0;
    while (done_ < requests_) {
      offer();
      channel_.tick_slot();
      take_responses();
      // No policy keeps all requests waiting: a channel that answers none hangs.
      CHECK(channel_.now() - last_done_ < kHangClocks);
      if (start == 0 && done_ >= skipped) {
        start = channel_.now();
        before = done_;
        latencies_.clear();
      }
    }
    measured.fraction = static_cast<double>((done_ - before) * kSlotClocks) /
                        static_cast<double>(channel_.now() - start);
    measured.counters = channel_.counters();
    measured.clocks = channel_.now();
    if (!latencies_.empty()) summarise(measured);
    return measured;
  }

 private:
  bool wants_to_offer() const {
    if (issued_ == requests_) return false;
    if (load_.every_clocks > 0) return channel_.now() >= next_offer_ && done_ == issued_;
    return load_.fraction >= 1 || credit_ >= 1;
  }

  void offer() {
    credit_ = std::min(credit_ + load_.fraction, 64.0);
    for (int i = 0; i < kSlotClocks && wants_to_offer(); ++i) {
      if (!has_item_) item_ = source_.next();
      has_item_ = true;
      if (!channel_.try_request({item_.operation, item_.address, issued_, &data_})) return;
      has_item_ = false;
      ++issued_;
      credit_ -= 1;
      next_offer_ = channel_.now() + load_.every_clocks;
    }
  }

  void take_responses() {
    const std::uint64_t before = done_;
    while (const Response* response = channel_.read_response()) {
      latencies_.push_back(static_cast<double>(response->clock - response->accepted));
      channel_.pop_read_response();
      ++done_;
    }
    while (channel_.write_response() != nullptr) {
      channel_.pop_write_response();
      ++done_;
    }
    if (done_ != before || done_ == issued_) last_done_ = channel_.now();
  }

  void summarise(Measured& measured) {
    std::sort(latencies_.begin(), latencies_.end());
    double sum = 0;
    for (const double latency : latencies_) sum += latency;
    measured.mean_latency = sum / static_cast<double>(latencies_.size());
    measured.p50_latency = latencies_[latencies_.size() / 2];
    measured.p99_latency = latencies_[latencies_.size() * 99 / 100];
  }

  Channel& channel_;
  StreamSource source_;
  Load load_;
  std::uint64_t requests_;
  Line data_{};
  StreamSource::Item item_{};
  bool has_item_ = false;
  std::uint64_t issued_ = 0;
  std::uint64_t done_ = 0;
  std::int64_t last_done_ = 0;
  double credit_ = 0;
  std::int64_t next_offer_ = 0;
  std::vector<double> latencies_;
};

}  // namespace

Measured measure(const Parameters& parameters, const Stream& stream, const Load& load,
                 std::uint64_t requests, std::uint64_t seed) {
  Channel channel(parameters, FillPattern{});
  return Driver(channel, stream, load, requests, seed).run();
}

Parameters dramsim3_parameters(const std::string& address_order, int ranks) {
  return {.ranks = ranks,
          .bank_groups = 4,
          .banks_per_group = 4,
          .rows = 65536,
          .columns = 1024,
          .data_bits = 64,
          .burst_length = 8,
          .memory_clock_mhz = 1000 / 0.83,
          .t_rcd = 17,
          .t_rp = 17,
          .cl = 17,
          .cwl = 12,
          .t_ras = 39,
          .t_rc = 56,
          .t_ccd_s = 4,
          .t_ccd_l = 6,
          .t_rrd_s = 4,
          .t_rrd_l = 6,
          .t_faw = 26,
          .t_wr = 18,
          .t_wtr_s = 3,
          .t_wtr_l = 9,
          .t_rtp = 9,
          .t_refi = 9360,
          .t_rfc = 420,
          .rank_switch = 1,        // its tRTRS
          .read_to_write_gap = 1,  // likewise
          .address_order = address_order,
          .read_queue = 32,
          .write_queue = 32,
          .bank_queue = 8,
          .write_high = 32,
          .write_low = 0,
          .write_wait_limit = 10000,
          .starvation_limit = 0,
          .refresh_postpone = 0,
          .request_latency = 2,
          .response_latency = 0,
          .in_flight = 1024,
          .response_order = ResponseOrder::kAsCompleted,
          .write_response = WriteResponse::kAccepted};
}

}  // namespace logos::ddr4
