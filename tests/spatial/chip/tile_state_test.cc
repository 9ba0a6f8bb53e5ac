// The full/empty bits of a tile's buffers, on a stage made by hand.
#include "spatial/chip/tile_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "program/error.h"

namespace logos::spatial {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string said_by(const std::function<void()>& run) {
  try {
    run();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

/// A head's stage of one tile: buffers "a" (8 bytes a row) and "b" (4) in one area, blocks of 2
/// rows of 7, two slots.
class TileStates : public testing::Test {
 protected:
  TileStates() {
    plan_.block_rows = 2;
    plan_.slots = 2;
    stage_.kind = StageKind::kHead;
    stage_.width = stage_.height = stage_.tiles = 1;
    stage_.rows = 7;
    stage_.areas = {{"rows", 640, 32, 2, 64, false}, {"others", 656, 16, 2, 64, false}};
    stage_.buffers = {{0, 8, {{8}}}, {1, 4, {{4}}}};
    map_ = std::make_unique<StageMap>(stage_, 0, MeshConfig{.width = 1, .height = 1});
    state_ =
        std::make_unique<TileState>(plan_, stage_, *map_, 0, std::span<std::int64_t>{}, 0xA5A5A5A5);
  }

  Message message(int buffer, std::int32_t block, std::int64_t bytes) const {
    Message message;
    message.block = block;
    message.buffer = buffer;
    message.rows = 2;
    message.segments[0] = {0, bytes};
    message.data.assign(static_cast<std::size_t>(2 * bytes), std::byte{7});
    return message;
  }

  Plan plan_;
  Stage stage_;
  std::unique_ptr<StageMap> map_;
  std::unique_ptr<TileState> state_;
};

TEST_F(TileStates, FillAndEmpty) {
  EXPECT_EQ(*state_->buffer_row(0, 0, 1), std::byte{0xA5});
  const Message rows = message(0, 0, 8);
  EXPECT_FALSE(state_->write(rows, 0, 12, 40));
  EXPECT_FALSE(state_->full(0, 0, 0));
  EXPECT_TRUE(state_->write(rows, 12, 16, 30));
  EXPECT_TRUE(state_->full(0, 0, 0));
  EXPECT_EQ(state_->fill(0, 0, 0).ready, 40u);
  EXPECT_EQ(*state_->buffer_row(0, 0, 1), std::byte{7});
  EXPECT_EQ(*(state_->buffer_row(0, 0, 1) + 8), std::byte{0xA5});
  state_->release(0, 0);
  EXPECT_FALSE(state_->full(0, 0, 2));
  EXPECT_TRUE(state_->write(message(0, 2, 8), 0, 16, 50));
  EXPECT_EQ(state_->due(0, 0, 3), 8);  // the last block has one row
}

TEST_F(TileStates, AnEarlyReadOrReleaseIsAnError) {
  EXPECT_THAT(said_by([&] { state_->require_full(0, 0, 1, "a norm"); }),
              AllOf(HasSubstr("tile 0 of the head"), HasSubstr("a norm of block 1 reads \"rows\""),
                    HasSubstr("got 0 bytes, want 16 bytes")));
  EXPECT_THAT(said_by([&] { state_->release(0, 1); }), HasSubstr("release of block 1"));
}

TEST_F(TileStates, AnOverrunIsAnError) {
  state_->write(message(0, 0, 8), 0, 16, 0);
  EXPECT_THAT(said_by([&] { state_->write(message(0, 0, 8), 0, 4, 0); }),
              AllOf(HasSubstr("more arrives in \"rows\" than is due"),
                    HasSubstr("got 20 bytes, want 16 bytes")));
  EXPECT_THAT(said_by([&] { state_->write(message(0, 2, 8), 0, 4, 0); }),
              AllOf(HasSubstr("which has not been freed"), HasSubstr("got block 2, want block 0")));
  EXPECT_THAT(said_by([&] { state_->write(message(1, 0, 4), 0, 4, 0); }),
              HasSubstr("while it still holds others"));
}

TEST_F(TileStates, WhatIsLeftAtTheEndIsSaid) {
  EXPECT_THAT(state_->unfinished(), HasSubstr("\"rows\" for block 0 holds 0 bytes"));
  state_->write(message(0, 0, 8), 0, 3, 0);
  EXPECT_THAT(state_->unfinished(), HasSubstr("\"rows\" for block 0 holds 3 bytes"));
}

}  // namespace
}  // namespace logos::spatial
