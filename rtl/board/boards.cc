// One board for each engine that is built.
#include "Vengine_16_16.h"
#include "Vengine_1_1.h"
#include "Vengine_32_16.h"
#include "Vengine_8_8.h"
#include "program/error.h"
#include "rtl/board/board_of.h"
#include "rtl/board/faulty_board.h"

namespace logos::d5005 {
namespace {

template <typename Model>
std::unique_ptr<Board> board_of(const BoardParameters& parameters, const BoardOptions& options) {
  return std::make_unique<BoardOf<Model>>(parameters, options);
}

struct Size {
  std::int64_t rows;
  std::int64_t mac_rows;
  std::unique_ptr<Board> (*make)(const BoardParameters&, const BoardOptions&);
};
constexpr Size kSizes[] = {{1, 1, board_of<Vengine_1_1>},
                           {8, 8, board_of<Vengine_8_8>},
                           {16, 16, board_of<Vengine_16_16>},
                           {32, 16, board_of<Vengine_32_16>}};

std::unique_ptr<Board> sound_board(std::int64_t rows, std::int64_t mac_rows,
                                   const BoardParameters& parameters, const BoardOptions& options) {
  for (const Size& size : kSizes) {
    if (size.rows == rows && size.mac_rows == mac_rows) return size.make(parameters, options);
  }
  throw Error("--engine-rows", "no such engine is built", fmt::format("{}/{}", rows, mac_rows),
              "1/1, 8/8, 16/16 or 32/16");
}

}  // namespace

std::unique_ptr<Board> make_board(std::int64_t rows, std::int64_t mac_rows,
                                  const BoardParameters& parameters, const BoardOptions& options) {
  std::unique_ptr<Board> board = sound_board(rows, mac_rows, parameters, options);
  if (options.engine_fault.kind == PortFault::kNone) return board;
  return with_register_fault(std::move(board), options.engine_fault);
}

}  // namespace logos::d5005
