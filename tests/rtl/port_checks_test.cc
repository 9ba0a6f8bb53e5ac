// The checkers at the ports of a board see each of its channels: something wrong on any one of them
// is told with that port's name. What stands in for the engine has ports and nothing else.
#include "rtl/board/port_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "program/error.h"

namespace logos::d5005 {
namespace {

using ::testing::HasSubstr;

template <std::size_t Words>
using Wide = std::array<std::uint32_t, Words>;

/// The ports of rtl/design/engine.sv in the types that Verilator gives them.
struct Ports {
  std::uint8_t rst_ni = 1;
  std::uint8_t bank_rst_ni = 0xF;
  std::uint8_t csr_awvalid_i = 0, csr_awready_o = 0;
  std::uint16_t csr_awid_i = 0, csr_awuser_i = 0;
  std::uint32_t csr_awaddr_i = 0;
  std::uint8_t csr_wvalid_i = 0, csr_wready_o = 0;
  std::uint64_t csr_wdata_i = 0;
  std::uint8_t csr_wstrb_i = 0;
  std::uint8_t csr_bvalid_o = 0, csr_bready_i = 0;
  std::uint16_t csr_bid_o = 0, csr_buser_o = 0;
  std::uint8_t csr_bresp_o = 0;
  std::uint8_t csr_arvalid_i = 0, csr_arready_o = 0;
  std::uint16_t csr_arid_i = 0, csr_aruser_i = 0;
  std::uint32_t csr_araddr_i = 0;
  std::uint8_t csr_rvalid_o = 0, csr_rready_i = 0;
  std::uint16_t csr_rid_o = 0, csr_ruser_o = 0;
  std::uint8_t csr_rresp_o = 0;
  std::uint64_t csr_rdata_o = 0;
  std::uint8_t bank_arvalid_o = 0, bank_arready_i = 0;
  std::uint32_t bank_arid_o = 0;
  Wide<5> bank_araddr_o{};
  std::uint32_t bank_arlen_o = 0;
  std::uint16_t bank_arsize_o = 06666;
  std::uint8_t bank_arburst_o = 0x55;
  std::uint8_t bank_rvalid_i = 0, bank_rready_o = 0;
  std::uint32_t bank_rid_i = 0;
  Wide<64> bank_rdata_i{};
  std::uint8_t bank_rresp_i = 0, bank_rlast_i = 0;
  std::uint8_t bank_awvalid_o = 0, bank_awready_i = 0;
  std::uint32_t bank_awid_o = 0;
  Wide<5> bank_awaddr_o{};
  std::uint32_t bank_awlen_o = 0;
  std::uint16_t bank_awsize_o = 06666;
  std::uint8_t bank_awburst_o = 0x55;
  std::uint8_t bank_wvalid_o = 0, bank_wready_i = 0;
  Wide<64> bank_wdata_o{};
  Wide<8> bank_wstrb_o{};
  std::uint8_t bank_wlast_o = 0;
  std::uint8_t bank_bvalid_i = 0, bank_bready_o = 0;
  std::uint32_t bank_bid_i = 0;
  std::uint8_t bank_bresp_i = 0;
  std::uint8_t host_arvalid_o = 0, host_arready_i = 0;
  std::uint16_t host_arid_o = 0;
  std::uint64_t host_araddr_o = 0;
  std::uint8_t host_arlen_o = 0, host_arsize_o = 6, host_arburst_o = 1;
  std::uint8_t host_rvalid_i = 0, host_rready_o = 0;
  std::uint16_t host_rid_i = 0;
  Wide<16> host_rdata_i{};
  std::uint8_t host_rresp_i = 0, host_rlast_i = 1;
  std::uint8_t host_awvalid_o = 0, host_awready_i = 0;
  std::uint16_t host_awid_o = 0;
  std::uint64_t host_awaddr_o = 0;
  std::uint8_t host_awlen_o = 0, host_awsize_o = 6, host_awburst_o = 1;
  std::uint8_t host_wvalid_o = 0, host_wready_i = 0;
  Wide<16> host_wdata_o{};
  std::uint64_t host_wstrb_o = 0;
  std::uint8_t host_wlast_o = 0;
  std::uint8_t host_bvalid_i = 0, host_bready_o = 0;
  std::uint16_t host_bid_i = 0;
  std::uint8_t host_bresp_i = 0;
};

constexpr unsigned kAllClocks = 0x3F;

using Step = std::function<void(Ports&)>;

/// What the checks say to ports that stand so, step by step; "" where nothing is wrong.
std::string said(const std::vector<Step>& steps, bool finish = false) {
  PortChecks checks;
  Ports ports;
  try {
    for (const Step& step : steps) {
      step(ports);
      checks.before(kAllClocks, ports);
    }
    if (finish) checks.finish();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::uint8_t one(std::size_t bank) { return static_cast<std::uint8_t>(1U << bank); }

/// A request of one bank that waits, at a line of its own.
void ask(Ports& p, std::size_t bank, unsigned beats) {
  p.bank_arvalid_o = one(bank);
  p.bank_arlen_o = (beats - 1) << (8 * bank);
  const std::size_t line = 33 * bank + 6;  // address 64
  p.bank_araddr_o[line / 32] |= 1U << (line % 32);
}

class OfBank : public testing::TestWithParam<std::size_t> {
 protected:
  std::string port() const { return "board sim: port: bank " + std::to_string(GetParam()) + " "; }
};

TEST_P(OfBank, ReadRequests) {
  const std::size_t b = GetParam();
  const auto taken = [b](Ports& p) { p.bank_arready_i = one(b); };
  EXPECT_THAT(said({[&](Ports& p) {
                ask(p, b, 64);
                taken(p);
              }}),
              HasSubstr(port() + "AR at 0x40: crosses 4 KB with 64 beats (cycle 0)"));
  EXPECT_THAT(
      said({[&](Ports& p) { ask(p, b, 1); }, [&](Ports& p) { p.bank_arlen_o ^= 0x02020202; }}),
      HasSubstr(port() + "AR at 0x40: changed while it waited (cycle 1)"));
  EXPECT_THAT(
      said({[&](Ports& p) { ask(p, b, 1); }, [&](Ports& p) { p.bank_arid_o = 0x01010101; }}),
      HasSubstr(port() + "AR at 0x40: changed"));
  EXPECT_THAT(said({[&](Ports& p) { ask(p, b, 1); }, [&](Ports& p) { p.bank_arvalid_o = 0; }}),
              HasSubstr(port() + "AR at 0x40: valid fell"));
  EXPECT_THAT(said({[&](Ports& p) {
                ask(p, b, 1);
                taken(p);
                p.bank_arsize_o = 05555;
              }}),
              HasSubstr(port() + "AR at 0x40: has beats of another size"));
  EXPECT_THAT(said({[&](Ports& p) {
                ask(p, b, 1);
                taken(p);
                p.bank_arburst_o = 0xAA;
              }}),
              HasSubstr(port() + "AR at 0x40: is no INCR burst"));
}

TEST_P(OfBank, ReadAnswers) {
  const std::size_t b = GetParam();
  const Step asked = [b](Ports& p) {
    ask(p, b, 2);
    p.bank_arready_i = one(b);
  };
  const Step offered = [b](Ports& p) {
    p.bank_arvalid_o = 0;
    p.bank_rvalid_i = one(b);
  };
  const Step last = [&](Ports& p) {
    offered(p);
    p.bank_rlast_i = p.bank_rready_o = one(b);
  };
  EXPECT_THAT(said({offered}), HasSubstr(port() + "R at 0x0: a beat of id 0 that nothing"));
  EXPECT_THAT(said({asked, offered, [b](Ports& p) { p.bank_rdata_i[16 * b + 15] = 1; }}),
              HasSubstr(port() + "R at 0x40: changed"));
  EXPECT_THAT(said({asked, offered, [b](Ports& p) { p.bank_rresp_i = 0xAA; }}),
              HasSubstr(port() + "R at 0x40: changed"));
  EXPECT_THAT(said({asked, last}), HasSubstr(port() + "R at 0x40: last is early"));
  EXPECT_THAT(said({asked, [](Ports& p) { p.bank_arvalid_o = 0; }}, true),
              HasSubstr(port() + "R at 0x40: was never answered"));
}

TEST_P(OfBank, Writes) {
  const std::size_t b = GetParam();
  const Step address = [b](Ports& p) { p.bank_awvalid_o = p.bank_awready_i = one(b); };
  const Step data = [b](Ports& p) {
    p.bank_awvalid_o = 0;
    p.bank_wvalid_o = p.bank_wready_i = p.bank_wlast_o = one(b);
  };
  const Step answer = [b](Ports& p) {
    p.bank_wvalid_o = 0;
    p.bank_bvalid_i = p.bank_bready_o = one(b);
  };
  EXPECT_EQ(said({address, data, answer}, true), "");
  EXPECT_THAT(
      said({[b](Ports& p) { p.bank_awvalid_o = one(b); },
            [b](Ports& p) { p.bank_awaddr_o[(33 * b + 31) / 32] ^= 1U << (33 * b + 31) % 32; }}),
      HasSubstr(port() + "AW at 0x0: changed"));
  EXPECT_THAT(said({[b](Ports& p) { p.bank_wvalid_o = one(b); },
                    [b](Ports& p) { p.bank_wdata_o[16 * b] = 1; }}),
              HasSubstr(port() + "W at 0x0: changed"));
  EXPECT_THAT(said({address,
                    [&](Ports& p) {
                      data(p);
                      p.bank_wstrb_o[2 * b] = 1;
                      p.bank_wstrb_o[2 * b + 1] = 1;
                    }}),
              HasSubstr(port() + "W at 0x0: has strobes with holes"));
  EXPECT_THAT(said({address,
                    [&](Ports& p) {
                      data(p);
                      p.bank_wlast_o = 0;
                    }}),
              HasSubstr(port() + "W at 0x0: last is missing"));
  EXPECT_THAT(said({address, answer}), HasSubstr(port() + "B at 0x0: an answer of id 0"));
  EXPECT_THAT(said({address, data,
                    [&](Ports& p) {
                      answer(p);
                      p.bank_bid_i = 0x05050505;
                    }}),
              HasSubstr(port() + "B at 0x0: an answer of id 5"));
  EXPECT_THAT(said({address, data, [](Ports& p) { p.bank_wvalid_o = 0; }}, true),
              HasSubstr(port() + "B at 0x0: was never answered"));
}

TEST_P(OfBank, OneInResetIsNotLookedAt) {
  const std::size_t b = GetParam();
  EXPECT_EQ(said({[b](Ports& p) {
              p.bank_rvalid_i = one(b);
              p.bank_rst_ni = static_cast<std::uint8_t>(0xF & ~one(b));
            }}),
            "");
}

INSTANTIATE_TEST_SUITE_P(PortChecks, OfBank, testing::Range<std::size_t>(0, 4));

TEST(PortChecks, OfTheHost) {
  const std::string port = "board sim: port: host ";
  const Step asked = [](Ports& p) {
    p.host_araddr_o = 0x123450040;
    p.host_arvalid_o = p.host_arready_i = 1;
  };
  EXPECT_THAT(said({asked, asked}), HasSubstr(port + "AR at 0x123450040: has id 0 of a read"));
  EXPECT_THAT(said({[&](Ports& p) {
                asked(p);
                p.host_arlen_o = 1;
              }}),
              HasSubstr(port + "AR at 0x123450040: has 2 beats"));
  EXPECT_THAT(said({asked,
                    [](Ports& p) {
                      p.host_arvalid_o = 0;
                      p.host_rvalid_i = 1;
                      p.host_rid_i = 9;
                    }}),
              HasSubstr(port + "R at 0x123450040: a beat of id 9"));
  EXPECT_THAT(said({[](Ports& p) {
                p.host_awaddr_o = 0x30;
                p.host_awvalid_o = p.host_awready_i = 1;
              }}),
              HasSubstr(port + "AW at 0x30: is not aligned"));
  EXPECT_THAT(said({[](Ports& p) {
                p.host_wvalid_o = p.host_wready_i = 1;
                p.host_wstrb_o = 0x8000000000000001;
              }}),
              HasSubstr(port + "W at 0x0: has strobes with holes"));
  EXPECT_THAT(
      said({[](Ports& p) { p.host_wvalid_o = 1; }, [](Ports& p) { p.host_wdata_o[7] = 1; }}),
      HasSubstr(port + "W at 0x0: changed"));
  EXPECT_THAT(said({[](Ports& p) { p.host_bvalid_i = 1; }}),
              HasSubstr(port + "B at 0x0: an answer"));
}

TEST(PortChecks, OfTheRegisters) {
  const std::string port = "board sim: port: csr ";
  const Step read = [](Ports& p) {
    p.csr_araddr_i = 0x98;
    p.csr_arid_i = 3;
    p.csr_arvalid_i = p.csr_arready_o = 1;
  };
  const Step got = [](Ports& p) {
    p.csr_arvalid_i = 0;
    p.csr_rid_o = 3;
    p.csr_rvalid_o = p.csr_rready_i = 1;
  };
  EXPECT_EQ(said({read, got}, true), "");
  EXPECT_THAT(said({read,
                    [&](Ports& p) {
                      got(p);
                      p.csr_rid_o = 2;
                    }}),
              HasSubstr(port + "R at 0x98: id 2, not 3"));
  EXPECT_THAT(said({read,
                    [&](Ports& p) {
                      got(p);
                      p.csr_rready_i = 0;
                    },
                    [](Ports& p) { p.csr_rdata_o = 1; }}),
              HasSubstr(port + "R at 0x98: changed"));
  std::vector<Step> late(102, [](Ports& p) { p.csr_arvalid_i = 0; });
  late.front() = read;
  EXPECT_THAT(said(late), HasSubstr(port + "R at 0x98: no answer within 100 cycles"));
  const Step written = [](Ports& p) {
    p.csr_awaddr_i = 0x90;
    p.csr_awuser_i = 4;
    p.csr_awvalid_i = p.csr_awready_o = p.csr_wvalid_i = p.csr_wready_o = 1;
  };
  EXPECT_THAT(said({written,
                    [](Ports& p) {
                      p.csr_awvalid_i = p.csr_wvalid_i = 0;
                      p.csr_bvalid_o = p.csr_bready_i = 1;
                    }}),
              HasSubstr(port + "B at 0x90: user 0, not 4"));
  EXPECT_THAT(said({[](Ports& p) { p.csr_bvalid_o = p.csr_bready_i = 1; }}),
              HasSubstr(port + "B at 0x0: an answer that nothing asked for"));
  EXPECT_THAT(said({[&](Ports& p) {
                      written(p);
                      p.csr_awready_o = p.csr_wready_o = 0;
                    },
                    [](Ports& p) { p.csr_wstrb_i = 1; }}),
              HasSubstr(port + "W at 0x90: changed"));
}

TEST(PortChecks, SayNothingInThePlatformsReset) {
  EXPECT_EQ(said({[](Ports& p) {
              p.rst_ni = 0;
              p.host_bvalid_i = p.csr_bvalid_o = p.bank_bvalid_i = 1;
            }}),
            "");
}

TEST(PortChecks, LookAtAPortOnlyWhenItsClockRises) {
  PortChecks checks;
  Ports ports;
  ports.bank_bvalid_i = ports.host_bvalid_i = ports.csr_rvalid_o = ports.csr_rready_i = 1;
  EXPECT_NO_THROW(checks.before(1U << Clocks::kEngine | 1U << (Clocks::kBank + 1), ports));
  EXPECT_THROW(checks.before(1U << Clocks::kBank, ports), Error);
}

}  // namespace
}  // namespace logos::d5005
