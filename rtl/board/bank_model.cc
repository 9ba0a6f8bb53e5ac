#include "rtl/board/bank_model.h"

namespace logos::d5005 {
namespace {

constexpr std::size_t kBursts = 4;   ///< that wait at the port
constexpr std::size_t kWrites = 16;  ///< likewise

// What the faults touch.
constexpr std::size_t kStuckByte = 21;  ///< of a line: bit 4 of it stands at 1
constexpr std::byte kStuckMask{0x10};
constexpr std::uint64_t kDeadAddressBit = std::uint64_t{1} << 20;  ///< of a byte address
constexpr std::uint64_t kSlowCycles = 3;  ///< of 4 in which a slow bank rests

}  // namespace

BankModel::BankModel(const ddr4::Parameters& parameters, const ddr4::FillPattern& fill,
                     Stalls stalls, PlantedFault fault)
    : channel_(parameters, fill), stalls_(stalls), fault_(fault), random_(stalls.seed) {}

void BankModel::set_stalls(Stalls stalls) {
  stalls_ = stalls;
  random_.seed(stalls.seed);
}

void BankModel::clock(const AxiRequest& request, AxiResponse& response) {
  take(request, response);
  access();
  drive(response);
  ++cycles_;
}

/// What changes hands at this edge.
void BankModel::take(const AxiRequest& request, const AxiResponse& response) {
  if (request.ar_valid && response.ar_ready) {
    const std::uint64_t dead = faulty(PortFault::kAddressLine) ? kDeadAddressBit : 0;
    bursts_.push_back({request.ar_id, request.ar_address & ~dead, request.ar_beats});
  }
  if (request.aw_valid && response.aw_ready) {
    const std::uint64_t dead = faulty(PortFault::kAddressLine) ? kDeadAddressBit : 0;
    writes_.push_back({request.aw_id, request.aw_address & ~dead});
  }
  if (request.w_valid && response.w_ready) {
    write_data_.push_back({request.w_data, request.w_strobe});
  }
  if (response.r_valid && request.r_ready) {
    read_answers_.pop_front();
    r_offered_ = false;
  }
  if (response.b_valid && request.b_ready) {
    write_answers_.pop_front();
    b_offered_ = false;
  }
}

BankModel::Answer BankModel::read_answer(const ddr4::Response& read) {
  Answer answer{};
  answer.id = static_cast<std::uint32_t>(read.id >> 1);
  answer.last = (read.id & 1) != 0;
  answer.response = faulty(PortFault::kReadError) ? 2 : 0;
  answer.line = read.data;
  if (faulty(PortFault::kStuckBit)) answer.line[kStuckByte] |= kStuckMask;
  if (faulty(PortFault::kBitFlip) && faulty_answers_++ % kFlipPeriod == 0) {
    answer.line[static_cast<std::size_t>(fault_.cycle % 64)] ^= std::byte{1};
  }
  return answer;
}

/// One line of the oldest write, else of the oldest burst, goes to the controller.
void BankModel::access() {
  ddr4::Request request{};
  const ddr4::Request* offered = nullptr;
  const bool writes = !writes_.empty() && !write_data_.empty();
  if (writes) {
    request = {ddr4::Operation::kWrite, writes_.front().address, writes_.front().id,
               &write_data_.front().line,
               faulty(PortFault::kLostWrite) ? 0 : write_data_.front().strobe};
    offered = &request;
  } else if (!bursts_.empty()) {
    const Burst& burst = bursts_.front();
    const bool last = burst.beats == 1;
    request = {ddr4::Operation::kRead, burst.address, std::uint64_t{burst.id} << 1 | (last ? 1 : 0),
               nullptr};
    offered = &request;
  }
  const ddr4::Channel::UserClock slot = channel_.user_clock(offered);
  if (slot.read != nullptr && !faulty(PortFault::kSilent)) {
    read_answers_.push_back(read_answer(*slot.read));
  }
  if (slot.write != nullptr && !faulty(PortFault::kSilent)) {
    Answer answer{};
    answer.id = static_cast<std::uint32_t>(slot.write->id);
    answer.response = faulty(PortFault::kWriteError) ? 2 : 0;
    write_answers_.push_back(answer);
  }
  if (!slot.accepted) return;
  if (writes) {
    writes_.pop_front();
    write_data_.pop_front();
  } else if (offered != nullptr) {
    Burst& burst = bursts_.front();
    burst.address += 64;
    if (--burst.beats == 0) bursts_.pop_front();
  }
}

void BankModel::drive(AxiResponse& response) {
  response.ar_ready = bursts_.size() < kBursts && !held();
  response.aw_ready = writes_.size() < kWrites && !held();
  response.w_ready = write_data_.size() < kWrites && !held();
  // What is offered stays; what is new may be held back.
  const bool rests = faulty(PortFault::kSlow) && cycles_ % 4 < kSlowCycles;
  response.r_valid = !read_answers_.empty() && (r_offered_ || (!rests && !held()));
  r_offered_ = response.r_valid;
  if (response.r_valid) {
    const Answer& answer = read_answers_.front();
    response.r_id = answer.id;
    response.r_response = answer.response;
    response.r_last = answer.last;
    response.r_data = answer.line;
  } else {
    // Idle data lines carry anything but what is wanted.
    response.r_data.fill(static_cast<std::byte>(cycles_ * 37 + 11));
    response.r_id = static_cast<std::uint32_t>(cycles_);
  }
  response.b_valid = !write_answers_.empty() && (b_offered_ || !held());
  b_offered_ = response.b_valid;
  if (response.b_valid) {
    response.b_id = write_answers_.front().id;
    response.b_response = write_answers_.front().response;
  }
}

}  // namespace logos::d5005
