// How fast the product unit's model runs alone: rtl_product_speed [cycles]
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>

#include "Vproduct_16x16_model.h"
#include "Vproduct_1x1_model.h"
#include "Vproduct_8x8_model.h"
#include "tests/rtl/product_case.h"

namespace logos {
namespace {

/// Thousands of cycles a second of CPU time, median of 3; the super-beats come without a pause.
template <class Top>
void measure(std::uint32_t rows, std::uint32_t all_rows, std::uint64_t cycles) {
  ProductCase made(1, rows, 2048);
  const ProductJob& job = made.product(1024, d5005::Post::kResidual, false, true);
  auto top = std::make_unique<Top>();
  const auto clock = [&] {
    top->clk_i = 1;
    top->eval();
    top->clk_i = 0;
    top->eval();
  };
  top->rst_ni = 0;
  clock();
  clock();
  top->rst_ni = 1;
  top->start_valid_i = 1;
  put_instruction(job.instruction, top->instruction_i);
  top->pass_i = pass_bits(rows);
  top->vm_read_ready_i = 1;
  top->vm_write_ready_i = 1;
  top->stream_valid_i = 1;
  double rates[3] = {};
  std::uint64_t beats = 0;
  std::uint64_t at = 0;
  bool pending[2] = {};
  for (double& rate : rates) {
    const std::clock_t start = std::clock();
    for (std::uint64_t cycle = 0; cycle < cycles; ++cycle) {
      std::memcpy(&top->stream_data_i[0], job.stream[at].data(), 256);
      top->vm_data_valid_i = pending[1];
      pending[1] = pending[0];
      pending[0] = top->vm_read_valid_o != 0;
      if (top->stream_ready_o) {
        ++beats;
        at = at + 1 == job.stream.size() ? 0 : at + 1;
      }
      clock();
    }
    rate = static_cast<double>(cycles) * CLOCKS_PER_SEC / 1000 /
           static_cast<double>(std::clock() - start);
  }
  std::sort(std::begin(rates), std::end(rates));
  fmt::print("{} of {} rows: {:.0f} kilocycles/s, {:.4f} cycles a super-beat\n", rows, all_rows,
             rates[1], 3.0 * static_cast<double>(cycles) / static_cast<double>(beats));
}

}  // namespace
}  // namespace logos

int main(int count, char** arguments) {
  const std::uint64_t cycles =
      count > 1 ? std::strtoull(arguments[1], nullptr, 10) : std::uint64_t{200000};
  logos::measure<Vproduct_1x1_model>(1, 1, cycles);
  logos::measure<Vproduct_8x8_model>(1, 8, cycles);
  logos::measure<Vproduct_8x8_model>(8, 8, cycles);
  logos::measure<Vproduct_16x16_model>(16, 16, cycles);
}
