#include "sim/ddr4/config.h"

#include <array>

#include "program/error.h"
#include "sim/sourced_section.h"

namespace logos::ddr4 {
namespace {

using nlohmann::json;

struct IntegerKey {
  std::string_view name;
  int Parameters::*member;
};

constexpr std::array<IntegerKey, 37> kIntegerKeys = {{
    {"ranks", &Parameters::ranks},
    {"bank_groups", &Parameters::bank_groups},
    {"banks_per_group", &Parameters::banks_per_group},
    {"rows", &Parameters::rows},
    {"columns", &Parameters::columns},
    {"data_bits", &Parameters::data_bits},
    {"burst_length", &Parameters::burst_length},
    {"t_rcd", &Parameters::t_rcd},
    {"t_rp", &Parameters::t_rp},
    {"cl", &Parameters::cl},
    {"cwl", &Parameters::cwl},
    {"t_ras", &Parameters::t_ras},
    {"t_rc", &Parameters::t_rc},
    {"t_ccd_s", &Parameters::t_ccd_s},
    {"t_ccd_l", &Parameters::t_ccd_l},
    {"t_rrd_s", &Parameters::t_rrd_s},
    {"t_rrd_l", &Parameters::t_rrd_l},
    {"t_faw", &Parameters::t_faw},
    {"t_wr", &Parameters::t_wr},
    {"t_wtr_s", &Parameters::t_wtr_s},
    {"t_wtr_l", &Parameters::t_wtr_l},
    {"t_rtp", &Parameters::t_rtp},
    {"t_refi", &Parameters::t_refi},
    {"t_rfc", &Parameters::t_rfc},
    {"rank_switch", &Parameters::rank_switch},
    {"read_to_write_gap", &Parameters::read_to_write_gap},
    {"read_queue", &Parameters::read_queue},
    {"write_queue", &Parameters::write_queue},
    {"bank_queue", &Parameters::bank_queue},
    {"write_high", &Parameters::write_high},
    {"write_low", &Parameters::write_low},
    {"write_wait_limit", &Parameters::write_wait_limit},
    {"starvation_limit", &Parameters::starvation_limit},
    {"refresh_postpone", &Parameters::refresh_postpone},
    {"request_latency", &Parameters::request_latency},
    {"response_latency", &Parameters::response_latency},
    {"in_flight", &Parameters::in_flight},
}};

}  // namespace

Parameters read_parameters(const json& section, std::string_view where) {
  SourcedSection reader(section, where);
  Parameters parameters{};
  for (const IntegerKey& key : kIntegerKeys) parameters.*key.member = reader.integer(key.name);
  parameters.memory_clock_mhz = reader.number("memory_clock_mhz");
  parameters.address_order = reader.text("address_order");
  parameters.response_order = reader.choice("response_order", "in_order", "as_completed")
                                  ? ResponseOrder::kInOrder
                                  : ResponseOrder::kAsCompleted;
  parameters.write_response = reader.choice("write_response", "accepted", "written")
                                  ? WriteResponse::kAccepted
                                  : WriteResponse::kWritten;
  reader.finish();
  validate(parameters, where);
  return parameters;
}

Parameters read_board_channel(const std::filesystem::path& file) {
  const json board = parse_sourced_file(file);
  if (!board.is_object() || !board.contains("ddr4")) {
    throw Error(file.string(), "missing section \"ddr4\"");
  }
  return read_parameters(board["ddr4"], file.string() + ": ddr4");
}

}  // namespace logos::ddr4
