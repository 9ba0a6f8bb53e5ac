// One board for each engine that is built.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "engine_headers.inc"
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
constexpr Size kSizes[] = {
#include "engine_sizes.inc"
};

std::unique_ptr<Board> sound_board(std::int64_t rows, std::int64_t mac_rows,
                                   const BoardParameters& parameters, const BoardOptions& options) {
  for (const Size& size : kSizes) {
    if (size.rows == rows && size.mac_rows == mac_rows) return size.make(parameters, options);
  }
  std::vector<std::string> built;
  for (const Size& size : kSizes) built.push_back(fmt::format("{}/{}", size.rows, size.mac_rows));
  throw Error("--engine-rows", "no such engine is built", fmt::format("{}/{}", rows, mac_rows),
              fmt::format("{}", fmt::join(built, " or ")));
}

}  // namespace

std::unique_ptr<Board> make_board(std::int64_t rows, std::int64_t mac_rows,
                                  const BoardParameters& parameters, const BoardOptions& options) {
  std::unique_ptr<Board> board = sound_board(rows, mac_rows, parameters, options);
  if (options.engine_fault.kind == PortFault::kNone) return board;
  return with_register_fault(std::move(board), options.engine_fault);
}

}  // namespace logos::d5005
