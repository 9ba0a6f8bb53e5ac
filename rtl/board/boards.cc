// One board for each engine that is built.
#include "Vengine_8_8.h"
#include "program/error.h"
#include "rtl/board/board_of.h"

namespace logos::d5005 {

std::unique_ptr<Board> make_board(std::int64_t rows, std::int64_t mac_rows,
                                  const BoardParameters& parameters, const BoardOptions& options) {
  if (rows == 8 && mac_rows == 8) {
    return std::make_unique<BoardOf<Vengine_8_8>>(parameters, options);
  }
  throw Error("--engine-rows", "no such engine is built", fmt::format("{}/{}", rows, mac_rows),
              "8/8");
}

}  // namespace logos::d5005
