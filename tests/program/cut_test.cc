#include "program/cut.h"

#include "tests/program/helpers.h"

namespace logos {
namespace {

TEST(Cut, ReadsWhatItWrites) {
  for (const char* text :
       {"decode:1", "decode:1024", "prefill:256", "prefill:2147483647", "batch:8x64", "batch:1x1",
        "layer:3@prefill:256", "layer:1@decode:7", "layer:2@batch:4x16", "embedding@decode:512",
        "embedding@batch:2x3", "head@batch:4x16", "head@prefill:9"}) {
    EXPECT_EQ(Cut::parse(text).text(), text);
  }
}

TEST(Cut, HoldsItsNumbers) {
  const Cut cut = Cut::parse("layer:3@batch:8x64");
  EXPECT_EQ(cut.work, Cut::Work::kBatch);
  EXPECT_EQ(cut.part, Cut::Part::kLayer);
  EXPECT_EQ(cut.layer, 3);
  EXPECT_EQ(cut.rows, 8);
  EXPECT_EQ(cut.context, 64);
  const Cut decode = Cut::parse("decode:5");
  EXPECT_EQ(decode.rows, 1);
  EXPECT_EQ(decode.context, 5);
  const Cut chunk = Cut::parse("prefill:5");
  EXPECT_EQ(chunk.rows, 5);
  EXPECT_EQ(chunk.context, 0);
}

TEST(Cut, RefusesAnythingElse) {
  for (const char* text : {"",
                           "decode",
                           "decode:",
                           "decode:0",
                           "decode:01",
                           "decode:-1",
                           "decode:+1",
                           "decode: 1",
                           "decode:1 ",
                           "decode:2147483648",
                           "decode:99999999999999999999999",
                           "decode:1x2",
                           "decode:1.0",
                           "decode:0x10",
                           "prefill:",
                           "batch:8",
                           "batch:8x",
                           "batch:x8",
                           "batch:0x8",
                           "batch:8X64",
                           "batch:8x64x2",
                           "layer:0@decode:1",
                           "layer:@decode:1",
                           "layer:1",
                           "layer:1@",
                           "layer:1@layer:1@decode:1",
                           "embedding:decode:1",
                           "embedding@",
                           "head@head@decode:1",
                           "Decode:1",
                           "decode:1,decode:2"}) {
    EXPECT_THROW(Cut::parse(text), Error) << text;
  }
}

TEST(Cut, SaysWhatItFoundAndWanted) {
  EXPECT_EQ(error_of([] { Cut::parse("decode:0"); }),
            "cut \"decode:0\": a number of the cut; got \"0\", want 1 to 2147483647 without a "
            "leading zero");
  EXPECT_EQ(error_of([] { Cut::parse("decode:"); }),
            "cut \"decode:\": a number of the cut; got \"the end\", want 1 to 2147483647 without a "
            "leading zero");
  EXPECT_EQ(error_of([] { Cut::parse("decode:7 x"); }),
            "cut \"decode:7 x\": text after the cut; got \" x\", want the end");
  EXPECT_EQ(error_of([] { Cut::parse("train:7"); }),
            "cut \"train:7\": not a cut; got \"train:7\", want decode:CTX, prefill:ROWS, "
            "batch:ROWSxCTX, or layer:N@, embedding@ or head@ before one of them");
}

}  // namespace
}  // namespace logos
