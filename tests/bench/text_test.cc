#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program/written.h"
#include "sim/whole_file.h"
#include "tests/bench/process.h"
#include "tests/sim/core/temporary_folder.h"

namespace logos::bench {
namespace {

using nlohmann::json;
using testing::HasSubstr;

ModelSpec spec() { return resolve_model("kjv").reading.spec; }

class Text : public testing::Test {
 protected:
  Ended run(const std::string& text, std::vector<std::string> more = {}) {
    write_whole_file(file_, text);
    more.insert(more.end(), {"--text", file_, "--format", "json"});
    return run_bench(more);
  }
  std::string digest(const std::string& text, const std::vector<std::string>& more = {}) {
    const Ended ended = run(text, more);
    EXPECT_EQ(ended.status, 0) << ended.err << ended.out;
    const json object = json::parse(ended.out, nullptr, false);
    return object.is_discarded() ? "" : object["cuts"][0]["lanes"][1]["output_sha256"];
  }
  std::string cut_digest(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--format", "json"});
    return json::parse(run_bench(arguments).out)["cuts"][0]["lanes"][1]["output_sha256"];
  }

  TemporaryFolder folder_;
  std::string file_ = (folder_ / "t.lg").string();
};

TEST_F(Text, OfACutRunsAsTheCut) {
  EXPECT_EQ(digest(written(spec(), Cut::parse("prefill:5")).text),
            cut_digest({"--cut", "prefill:5"}));
  EXPECT_EQ(digest(written(spec(), Cut::parse("layer:2@decode:5")).text),
            cut_digest({"--cut", "layer:2@decode:5"}));
}

TEST_F(Text, StatesItsChips) {
  const std::string text = written_split(spec(), Cut::parse("prefill:5"), 2).text;
  EXPECT_EQ(digest(text), cut_digest({"--cut", "prefill:5"}));
  const Ended ended = run(text, {"--chips", "4"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("--chips: not those of the text; got 4, want 2"));
}

TEST_F(Text, WithItsOwnInputsRunsAtThem) {
  const std::vector<std::int64_t> tokens = {66, 67, 68};
  EXPECT_EQ(digest(prefill_at(spec(), tokens, 1).text),
            cut_digest({"--cut", "prefill:3", "--prompt", "ABC"}));
  EXPECT_EQ(digest(prefill_at(spec(), tokens, 4).text),
            cut_digest({"--cut", "prefill:3", "--prompt", "ABC", "--position", "4"}));
  const Ended ended = run(prefill_at(spec(), tokens, 1).text, {"--tokens", "1,2,3"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("states its own inputs"));
}

TEST_F(Text, ThatIsNotGenuineIsRefusedWithBothDigests) {
  std::string text = written(spec(), Cut::parse("prefill:5")).text;
  const std::string sum = "Return x + down.";
  ASSERT_NE(text.find(sum), std::string::npos);
  const std::string genuine_digest = sha256_hex(text);
  text.replace(text.find(sum), sum.size(), "Return down + x.");
  const Ended ended = run(text);
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr(file_));
  EXPECT_THAT(ended.err, HasSubstr(genuine_digest));
  EXPECT_THAT(ended.err, HasSubstr(sha256_hex(text)));
  EXPECT_THAT(ended.err, HasSubstr("Return down + x."));
  EXPECT_EQ(ended.out, "");
}

TEST_F(Text, OfAnotherModelIsRefusedWithBothIdentities) {
  ModelSpec other = spec();
  other.norm_epsilon = 1e-6;
  const Written written_text = written(other, Cut::parse("prefill:5"));
  const Ended ended = run(written_text.text);
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr(written_text.identity.sha256));
  EXPECT_THAT(ended.err, HasSubstr(written(spec(), Cut::parse("prefill:5")).identity.sha256));
}

TEST_F(Text, SaysWhereItsWeightsLie) {
  const std::string dir = LOGOS_SOURCE_DIR "/models/kjv";
  const std::vector<std::int64_t> tokens = {66, 67, 68};
  const Ended ended = run(prefill_at(spec(), tokens, 1, dir).text);
  ASSERT_EQ(ended.status, 0) << ended.err;
  const json object = json::parse(ended.out);
  EXPECT_EQ(object["context"]["model"], dir);
  EXPECT_EQ(object["cuts"][0]["lanes"][1]["output_sha256"],
            cut_digest({"--cut", "prefill:3", "--prompt", "ABC"}));
}

TEST_F(Text, ThatIsMissingIsNamed) {
  const Ended ended = run_bench({"--text", "/no/such.lg"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("/no/such.lg"));
}

}  // namespace
}  // namespace logos::bench
