// Steps on the row stream: a row's way in, norms and quantizers, residuals, a row's way out.
#include <algorithm>
#include <cstring>

#include "program/check.h"
#include "program/divide_up.h"
#include "spatial/chip/sequencer.h"

namespace logos::spatial {
namespace {

constexpr std::int64_t kValue = 4;  ///< bytes of a binary32
constexpr std::int64_t kHeading = sizeof(Heading);
constexpr std::int64_t kInteger = 2;  ///< of an operand

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Appends bytes to a message's data.
void append(std::vector<std::byte>& to, const void* from, std::int64_t bytes) {
  const auto* begin = static_cast<const std::byte*>(from);
  to.insert(to.end(), begin, begin + bytes);
}

std::span<const float> floats(const float* x, std::int64_t count) { return {x, at(count)}; }

}  // namespace

void Sequencer::forward() {
  record_.bound = Category::kMovement;
  const int entry = stage().named.entry;
  state_.require_full(entry, 0, block_, "the leader's forwarding");
  const std::int64_t bytes = stage().buffers[at(entry)].row_bytes;
  auto rows = message(stage_.index, stage().named.row);
  rows->segments[0] = {0, bytes};
  for (std::int64_t r = 0; r < rows_.count; ++r) {
    append(rows->data, state_.buffer_row(entry, block_, r), bytes);
  }
  send_to_all(rows);
  state_.release(entry, block_);
  machine_.entry_freed(stage_, block_, rows->origin);
  if (block_ + 1 >= blocks_of(plan(), stage())) return;
  for (const std::int32_t sender : stage_.senders) {
    const StageRun& before = machine_.stage(sender);
    if (before.stage.rows != stage().rows) continue;
    auto credit = message(sender, -1);
    credit->kind = MessageKind::kCredit;
    credit->from_stage = stage_.index;
    credit->nodes = before.map.nodes_but(0, before.stage.tiles, -1);
    send(credit, false);
  }
}

void Sequencer::release(const Step& step) { state_.release(step.buffer, block_); }

/// Headings, at the leader rotary rows too, stay in registers from the first look at `row` on.
void Sequencer::keep_headings() {
  state_.require_full(stage().named.row, 0, block_, "a look at the headings");
  headings_.resize(at(rows_.count));
  const std::int64_t bytes = x_offset(stage().kind);
  for (std::int64_t r = 0; r < rows_.count; ++r) {
    const std::byte* row = state_.buffer_row(stage().named.row, block_, r);
    std::memcpy(&headings_[at(r)], row, sizeof(Heading));
    if (state_.leads()) append(kept_, row, bytes);
  }
}

void Sequencer::keep_own(const Step& step) {
  record_.bound = Category::kMovement;
  const Share own = share(step);
  for (std::int64_t r = 0; r < rows_.count; ++r) {
    const float* x = x_row(stage().named.row, r) + own.begin;
    std::memcpy(state_.row(stage().own, block_, r, own.size() * kValue), x,
                at(own.size() * kValue));
  }
  access(2 * rows_.count * own.size() * kValue);
}

/// Whether the vector unit's registers hold a row from one pass over it to the next.
bool Sequencer::row_is_kept(std::int64_t row_bytes) const {
  return row_bytes <= machine_.config.vector_bytes;
}

/// Bytes read of a gain for all rows: once for as many as the registers hold.
std::int64_t Sequencer::gain_bytes(std::int64_t row_bytes) const {
  const std::int64_t together = std::max<std::int64_t>(1, machine_.config.vector_bytes / row_bytes);
  return divide_up(rows_.count, together) * row_bytes;
}

void Sequencer::norm(const Step& step) {
  state_.require_full(step.buffer, 0, block_, "a norm");
  const std::int64_t n = plan().columns;
  const auto gain = stage_.vectors[at(step.vector)];
  const auto& chip = machine_.config;
  const std::int64_t all = rows_.count * n;
  const bool kept = row_is_kept(n * kValue);
  const std::int64_t again = kept ? 0 : all * kValue;
  vector_work(chip.maximum, all, all * kValue);
  vector_work(chip.square, all, again);
  vector_work(chip.root, rows_.count, 0);
  vector_work(chip.scale, all, again + gain_bytes(n * kValue));
  if (kept) {
    vector_work(chip.quantize, all, all * kInteger);
  } else {  // the normed row is made a second time, to be quantized at its largest magnitude
    vector_work({chip.scale.interval, chip.scale.latency + chip.quantize.latency}, all,
                again + gain_bytes(n * kValue) + all * kInteger);
  }
  const std::string& name = plan().names[at(step.operation)];
  std::vector<float> y(at(n));
  for (std::int64_t r = 0; r < rows_.count; ++r) {
    auto* q =
        reinterpret_cast<std::int16_t*>(state_.row(stage().operands, block_, r, n * kInteger));
    const std::span<std::int16_t> operands(q, at(n));
    const auto epsilon = static_cast<float>(plan().norm_epsilon);
    if (rms_norm(floats(x_row(step.buffer, r), n), gain, epsilon, y, operands)) {
      machine_.raise_fault(step.operation);
    }
    BlockTag& tag = operand_tags_[at(r)];
    tag = quantize(y, operands);
    if (tag.fault) machine_.raise_fault(step.operation + 1);
    if (!watches(true)) continue;
    put<float>(name, r, n, 0, y);
    put_block(name + ".q16", r, n, 0, operands, tag.exponent);
  }
}

void Sequencer::quantize_attention(const Step& step) {
  const int attention = stage().named.attention;
  const int peak = stage().named.peak;
  state_.require_full(attention, 0, block_, "the quantizer of attention");
  if (peak >= 0) state_.require_full(peak, 0, block_, "the quantizer of attention");
  const std::int64_t n = stage().query_heads.size() * plan().head_columns;
  const std::int64_t all = rows_.count * n;
  if (peak < 0) vector_work(machine_.config.maximum, all, all * kValue);
  const std::int64_t again = peak < 0 && row_is_kept(n * kValue) ? 0 : all * kValue;
  vector_work(machine_.config.quantize, all, again + all * kInteger);
  for (std::int64_t r = 0; r < rows_.count; ++r) {
    const auto x = floats(x_row(attention, r), n);
    std::uint32_t largest = 0;
    if (peak < 0) {
      largest = largest_magnitude(x);
    } else {
      std::memcpy(&largest, state_.buffer_row(peak, block_, r), sizeof largest);
    }
    auto* q =
        reinterpret_cast<std::int16_t*>(state_.row(stage().operands, block_, r, n * kInteger));
    BlockTag& tag = operand_tags_[at(r)];
    tag = quantize_at(x, largest, {q, at(n)});
    if (tag.fault) machine_.raise_fault(step.operation);
    if (machine_.collector.watches() && state_.leads()) {
      const std::int64_t whole = stage_.matrices[at(stage().query_matrix)].rows;
      put_block("attention.q16", r, whole, stage().query_heads.begin * plan().head_columns,
                {q, at(n)}, tag.exponent);
    }
  }
}

void Sequencer::quantize_hidden(const Step& step) {
  const Share own = share(step);
  const int peak = stage().named.peak_2;
  const int hidden = stage().named.hidden;
  state_.require_full(peak, 0, block_, "the quantizer of silu_times");
  const std::int64_t n = own.size();
  vector_work(machine_.config.quantize, rows_.count * n, rows_.count * n * kValue);
  std::vector<std::int16_t> q(at(rows_.count * n));
  for (std::int64_t r = 0; r < rows_.count; ++r) {
    std::uint32_t largest = 0;
    std::memcpy(&largest, state_.buffer_row(peak, block_, r), sizeof largest);
    const auto* x =
        reinterpret_cast<const float*>(state_.row(stage().values, block_, r, n * kValue));
    const std::span<std::int16_t> integers(q.data() + r * n, at(n));
    hidden_tags_[at(r)] = quantize_at(floats(x, n), largest, integers);
    if (hidden_tags_[at(r)].fault) machine_.raise_fault(step.operation);
    if (machine_.collector.watches()) {
      put_block("silu_times.q16", r, plan().hidden, own.begin, integers,
                hidden_tags_[at(r)].exponent);
    }
  }
  // A part that lies in two chunks goes in two. A chunk is sent when the links into the tiles are
  // through with those before it: products begin with the first chunk, and all at once would make
  // it as late as the last.
  const Buffer& buffer = stage().buffers[at(hidden)];
  const Cycles sent_from = machine_.now();
  std::int64_t begin = stage().partitions[at(step.partition)].boundary.front();
  for (std::size_t c = 0; c < buffer.expected.size(); ++c) {
    const std::int64_t end = begin + buffer.expected[c][at(state_.tile())] / kInteger;
    const std::int64_t first = std::max(begin, own.begin);
    const std::int64_t last = std::min(end, own.end);
    begin = end;
    if (last <= first) continue;
    const std::int64_t offset = stage().partitions[at(step.partition)].boundary.front();
    const Cycles before = static_cast<Cycles>(
        rows_.count * (end - buffer.expected[c][at(state_.tile())] / kInteger - offset) * kInteger /
        machine_.config.link_bytes);
    if (machine_.now() < sent_from + before) {
      process_->pause(sent_from + before - machine_.now());
    }
    auto part = message(stage_.index, hidden, static_cast<std::int32_t>(c));
    part->segments[0] = {(first - offset) * kInteger, (last - first) * kInteger};
    for (std::int64_t r = 0; r < rows_.count; ++r) {
      append(part->data, q.data() + r * n + first - own.begin, (last - first) * kInteger);
    }
    send_to_all(part);
  }
}

void Sequencer::add_own(const Step& step) {
  const Share rows = share(step);
  const std::int64_t n = rows.size();
  vector_work(machine_.config.add, rows_.count * n, 3 * rows_.count * n * kValue);
  for (std::int64_t r = 0; r < rows_.count; ++r) {
    auto* own = reinterpret_cast<float*>(state_.row(stage().own, block_, r, n * kValue));
    const auto* y =
        reinterpret_cast<const float*>(state_.row(stage().values, block_, r, n * kValue));
    for (std::int64_t i = 0; i < n; ++i) own[i] = residual_sum(own[i], y[i]);
    if (watches(false) && stage().text_chip == 0) {
      put<float>(plan().names[at(step.operation)], r, plan().columns, rows.begin, floats(own, n));
    }
  }
}

void Sequencer::send_middle(const Step& step) {
  record_.bound = Category::kMovement;
  const Share own = share(step);
  auto part = message(stage_.index, stage().named.middle);
  part->segments[0] = {own.begin * kValue, own.size() * kValue};
  append(part->data, state_.row(stage().own, block_, 0, 0), rows_.count * own.size() * kValue);
  send_to_all(part);
}

void Sequencer::embed(const Step& step) {
  const Share held = share(step);
  const MatrixView& table = stage_.matrices[at(step.matrices.front())];
  const std::int64_t n = plan().columns;
  const bool joins = stage().named.joined >= 0;
  if (joins && state_.leads()) {
    std::vector<std::byte> headings;
    append(headings, headings_.data(), rows_.count * kHeading);
    send_to_peers(stage().named.joined, {stage().text_chip * kHeading, kHeading}, headings);
  }
  for (std::int64_t r = 0; r < rows_.count; ++r) {
    const std::int64_t token = headings_[at(r)].token - 1;
    if (token < held.begin || token >= held.end) continue;
    std::vector<float> x(at(n));
    const std::int64_t bytes = table.columns + scale_bytes(stage().profile, table.groups);
    vector_work(machine_.config.convert, n, bytes);
    const auto q = table.q.subspan(at(token * table.pitch), at(n));
    const std::size_t group = at(token * table.groups);
    if (table.profile() == Profile::kB) {
      embed_halves(q, table.halves.subspan(group, at(table.groups)), x);
    } else {
      embed_bytes(q, table.multipliers.subspan(group, at(table.groups)), table.scales[at(token)],
                  x);
    }
    if (machine_.collector.watches()) put<float>("embedding", r, n, 0, x);
    if (joins) {
      send_held(r, x);
      continue;
    }
    if (stage().next.empty()) {
      std::memcpy(state_.row(stage().own, block_, r, n * kValue), x.data(), at(n * kValue));
      access(n * kValue);
      machine_.show(rows_.first + r, 0, x);
      continue;
    }
    for (const int next : stage().next) {
      const StageRun& to = machine_.stage(next);
      auto row = message(next, to.stage.named.entry);
      row->first_row = static_cast<std::int32_t>(r);
      row->rows = 1;
      row->segments[0] = {x_offset(to.stage.kind), n * kValue};
      append(row->data, x.data(), n * kValue);
      row->nodes = to.map.nodes_but(to.stage.leader, 1, -1);
      send(row, false);
    }
  }
  if (!joins) machine_.result_ready(stage_, block_);
}

/// An embedding alone: a row goes to the leaders of all text chips (held_over_chips).
void Sequencer::send_held(std::int64_t r, const std::vector<float>& x) {
  const std::int64_t bytes = plan().columns * kValue;
  const std::int32_t leader = stage().leader;
  for (const int peer : stage().peers) {
    auto row = message(peer, stage().named.joined);
    row->first_row = static_cast<std::int32_t>(r);
    row->rows = 1;
    row->segments[0] = {plan().text_chips * kHeading, bytes};
    append(row->data, x.data(), bytes);
    const bool to_self = peer == stage_.index && state_.leads();
    row->nodes = machine_.stage(peer).map.nodes_but(leader, 1, to_self ? leader : -1);
    send(row, to_self);
  }
}

void Sequencer::send_next(const Step& step) {
  record_.bound = Category::kMovement;
  for (const int index : stage().next) {
    const StageRun& next = machine_.stage(index);
    if (!takes_part_in_next(next.stage)) continue;
    const bool last_alone = next.stage.rows != stage().rows;
    const std::int32_t first = last_alone ? rows_.count - 1 : 0;
    const std::int32_t count = rows_.count - first;
    const auto to = [&](Segment segment) {
      auto part = message(index, next.stage.named.entry);
      part->block = last_alone ? 0 : block_;
      part->rows = count;
      part->segments[0] = segment;
      part->nodes = next.map.nodes_but(next.stage.leader, 1, -1);
      return part;
    };
    if (state_.leads() && next.stage.text_chip == stage().text_chip) {
      const std::int64_t bytes = x_offset(next.stage.kind);
      auto head = to({0, bytes});
      for (std::int64_t r = first; r < rows_.count; ++r) {
        append(head->data, kept_.data() + r * x_offset(stage().kind), bytes);
      }
      send(head, false);
    }
    if (stage().kind == StageKind::kEmbedding) continue;  // its rows went as they were made
    const Share own = share(step);
    auto part = to({x_offset(next.stage.kind) + own.begin * kValue, own.size() * kValue});
    append(part->data, state_.row(stage().own, block_, first, own.size() * kValue),
           count * own.size() * kValue);
    send(part, false);
  }
}

void Sequencer::show(const Step& step) {
  record_.bound = Category::kMovement;
  machine_.result_ready(stage_, block_);
  const Share own = share(step);
  const bool is_head = stage().kind == StageKind::kHead;
  if (!is_head && stage().text_chip != 0) return;  // all text chips have the same rows
  if (stage().kind == StageKind::kEmbedding) {
    for (std::int64_t r = 0; r < rows_.count && state_.leads(); ++r) {
      const std::byte* held = state_.buffer_row(stage().named.joined, block_, r);
      const auto* x = reinterpret_cast<const float*>(held + plan().text_chips * kHeading);
      machine_.show(rows_.first + r, 0, floats(x, plan().columns));
    }
    return;
  }
  const int area = is_head ? stage().values : stage().own;
  for (std::int64_t r = 0; r < rows_.count; ++r) {
    const auto* x =
        reinterpret_cast<const float*>(state_.row(area, block_, r, own.size() * kValue));
    machine_.show(rows_.first + r, own.begin, floats(x, own.size()));
  }
}

void Sequencer::tell_done() {
  record_.bound = Category::kSynchronisation;
  if (block_ + slots_of(plan(), stage()) >= blocks_of(plan(), stage())) return;
  auto token = message(stage_.index, -1);
  token->kind = MessageKind::kDone;
  send_to_tile(token, stage().leader);
}

}  // namespace logos::spatial
