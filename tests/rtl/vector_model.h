#pragma once

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "program/divide_up.h"
#include "rtl/lowering/instruction.h"

namespace logos {

/// The seed of a test: LOGOS_TEST_SEED where that is set, else the one given. Printed, so that a
/// failure can be run again.
inline std::uint32_t test_seed(std::uint32_t otherwise) {
  const char* text = std::getenv("LOGOS_TEST_SEED");
  const auto seed = text == nullptr ? otherwise : static_cast<std::uint32_t>(std::stoul(text));
  std::printf("[ seed     ] LOGOS_TEST_SEED=%u\n", seed);
  return seed;
}

/// An instruction to a top's port of 512 bits.
template <class Port>
void put_instruction(const d5005::Instruction& instruction, Port& port) {
  const auto bytes = d5005::encode(instruction);
  std::memcpy(&port[0], bytes.data(), bytes.size());
}

/// pass_t: row, first_row, rows.
inline std::uint32_t pass_bits(std::uint32_t rows, std::uint32_t first_row = 0,
                               std::uint32_t row = 0) {
  return row << 22 | first_row << 6 | rows;
}

/// Vector memory behind its ports, as a unit sees it: grants at random, data 2 cycles after the
/// grant, idle data garbage. Checks the stream law: what is asked stays asked until it is granted.
class VectorModel {
 public:
  using Word = std::array<std::uint32_t, 32>;

  VectorModel(std::size_t words, std::uint32_t seed) : words_(words), random_(seed) {
    for (auto& word : words_) {
      for (auto& lane : word) lane = static_cast<std::uint32_t>(random_());
    }
  }

  void set_rates(unsigned read_percent, unsigned write_percent) {
    read_percent_ = read_percent;
    write_percent_ = write_percent;
  }

  Word& word(std::size_t address) { return words_.at(address); }
  std::uint32_t bits(std::size_t base, std::size_t element) const {
    return words_.at(base + element / 32)[element % 32];
  }
  void put(std::size_t base, std::size_t element, std::uint32_t bits) {
    words_.at(base + element / 32)[element % 32] = bits;
  }
  std::size_t reads() const { return reads_; }
  std::size_t writes() const { return writes_; }

  /// Before the clock edge: grants and data of this cycle.
  template <class Top>
  void drive(Top& top) {
    top.vm_read_ready_i = random_() % 100 < read_percent_;
    top.vm_write_ready_i = random_() % 100 < write_percent_;
    top.vm_data_valid_i = returning_[1].valid;
    if (returning_[1].valid) {
      std::memcpy(&top.vm_data_i[0], returning_[1].word.data(), sizeof(Word));
    } else {
      top.vm_data_i[random_() % 32] = static_cast<std::uint32_t>(random_());
    }
  }

  /// At the clock edge, after the top's outputs have settled.
  template <class Top>
  void clock(Top& top) {
    returning_[1] = returning_[0];
    returning_[0].valid = false;
    if (read_asked_) {
      ASSERT_TRUE(top.vm_read_valid_o) << "a read was withdrawn";
      ASSERT_EQ(top.vm_read_address_o, read_address_);
    }
    read_asked_ = top.vm_read_valid_o && !top.vm_read_ready_i;
    read_address_ = top.vm_read_address_o;
    if (top.vm_read_valid_o && top.vm_read_ready_i) {
      ASSERT_LT(top.vm_read_address_o, words_.size());
      returning_[0] = {true, words_[top.vm_read_address_o]};
      ++reads_;
    }
    Word data;
    std::memcpy(data.data(), &top.vm_write_data_o[0], sizeof(Word));
    if (write_asked_) {
      ASSERT_TRUE(top.vm_write_valid_o) << "a write was withdrawn";
      ASSERT_EQ(top.vm_write_address_o, write_address_);
      ASSERT_EQ(data, write_data_);
    }
    write_asked_ = top.vm_write_valid_o && !top.vm_write_ready_i;
    write_address_ = top.vm_write_address_o;
    write_data_ = data;
    if (top.vm_write_valid_o && top.vm_write_ready_i) {
      ASSERT_LT(top.vm_write_address_o, words_.size());
      for (std::size_t lane = 0; lane < 32; ++lane) {
        if ((top.vm_write_slices_o >> (lane / 4) & 1) != 0) {
          words_[top.vm_write_address_o][lane] = data[lane];
        }
      }
      ++writes_;
    }
  }

  /// After a reset: nothing is under way.
  void forget() {
    returning_ = {};
    read_asked_ = false;
    write_asked_ = false;
  }

 private:
  struct Return {
    bool valid = false;
    Word word{};
  };

  std::vector<Word> words_;
  std::mt19937 random_;
  unsigned read_percent_ = 100;
  unsigned write_percent_ = 100;
  std::array<Return, 2> returning_{};
  bool read_asked_ = false;
  bool write_asked_ = false;
  std::uint32_t read_address_ = 0;
  std::uint32_t write_address_ = 0;
  Word write_data_{};
  std::size_t reads_ = 0;
  std::size_t writes_ = 0;
};

/// The bits that the units give for a result: all NaNs are one.
inline std::uint32_t canonical(float x) {
  return std::isnan(x) ? 0x7FC00000U : std::bit_cast<std::uint32_t>(x);
}

/// Bits of binary32 for tests: mostly ordinary numbers, some zeros, subnormals and large ones.
inline float random_float(std::mt19937& random, int exponent_low = -20, int exponent_high = 12) {
  const std::uint32_t kind = static_cast<std::uint32_t>(random()) % 32;
  const std::uint32_t sign = static_cast<std::uint32_t>(random()) << 31;
  const std::uint32_t fraction = static_cast<std::uint32_t>(random()) & 0x7FFFFF;
  if (kind == 0) return std::bit_cast<float>(sign);
  if (kind == 1) return std::bit_cast<float>(sign | fraction);
  const auto span = static_cast<std::uint32_t>(exponent_high - exponent_low + 1);
  const auto field =
      static_cast<std::uint32_t>(exponent_low + 127) + static_cast<std::uint32_t>(random()) % span;
  return std::bit_cast<float>(sign | field << 23 | fraction);
}

}  // namespace logos
