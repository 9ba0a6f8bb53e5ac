// One board for each engine that is built.
#include "Vengine_8_8.h"
#include "program/error.h"
#include "rtl/board/board_of.h"
#include "rtl/board/faulty_board.h"

namespace logos::d5005 {
namespace {

std::unique_ptr<Board> sound_board(std::int64_t rows, std::int64_t mac_rows,
                                   const BoardParameters& parameters, const BoardOptions& options) {
  if (rows == 8 && mac_rows == 8) {
    return std::make_unique<BoardOf<Vengine_8_8>>(parameters, options);
  }
  throw Error("--engine-rows", "no such engine is built", fmt::format("{}/{}", rows, mac_rows),
              "8/8");
}

}  // namespace

std::unique_ptr<Board> make_board(std::int64_t rows, std::int64_t mac_rows,
                                  const BoardParameters& parameters, const BoardOptions& options) {
  std::unique_ptr<Board> board = sound_board(rows, mac_rows, parameters, options);
  if (options.engine_fault.kind == PortFault::kNone) return board;
  return with_register_fault(std::move(board), options.engine_fault);
}

}  // namespace logos::d5005
