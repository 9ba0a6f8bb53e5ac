#include "sim/artifact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "sim/whole_file.h"
#include "tests/sim/core/temporary_folder.h"

namespace logos {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Artifact example() {
  Artifact artifact;
  artifact.lane = "cuda";
  artifact.identity = {"decode:64", 2, sha256_hex("the text")};
  artifact.weights_sha256 = sha256_hex("weights");
  artifact.config_sha256 = sha256_hex("{}");
  artifact.payload = std::string("plan\n\0\xFF", 7);
  return artifact;
}

std::string parse_error(std::string_view bytes) {
  return error_of([&] { parse_artifact(bytes, "file.artifact"); });
}

/// The bytes with the first `from` replaced, which must be there.
std::string replaced(std::string bytes, std::string_view from, std::string_view to) {
  const std::size_t at = bytes.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return bytes.replace(at, from.size(), to);
}

void expect_equal(const Artifact& a, const Artifact& b) {
  EXPECT_EQ(a.lane, b.lane);
  EXPECT_EQ(a.identity, b.identity);
  EXPECT_EQ(a.weights_sha256, b.weights_sha256);
  EXPECT_EQ(a.config_sha256, b.config_sha256);
  EXPECT_EQ(a.payload, b.payload);
}

TEST(Artifact, SurvivesSavingAndLoading) {
  const TemporaryFolder folder;
  const auto file = folder / "a.artifact";
  save(example(), file);
  expect_equal(load_artifact(file), example());
  EXPECT_EQ(folder.entries(), 1);
}

TEST(Artifact, ReplacesAnOlderFileWhole) {
  const TemporaryFolder folder;
  const auto file = folder / "a.artifact";
  std::ofstream(file) << std::string(1 << 20, 'x');
  save(example(), file);
  EXPECT_EQ(read_whole_file(file), serialise(example()));
}

TEST(Artifact, AnEmptyPayloadIsAPayload) {
  Artifact artifact = example();
  artifact.payload.clear();
  expect_equal(parse_artifact(serialise(artifact), "bytes"), artifact);
}

TEST(Artifact, EqualArtifactsSerialiseToEqualBytes) {
  EXPECT_EQ(serialise(example()), serialise(example()));
}

TEST(Artifact, EveryTruncationIsRefused) {
  const std::string bytes = serialise(example());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT(parse_error(std::string_view(bytes).substr(0, size)), HasSubstr("truncated"))
        << size << " of " << bytes.size() << " bytes";
  }
}

TEST(Artifact, EveryFlippedBitIsRefused) {
  const std::string bytes = serialise(example());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      EXPECT_NE(parse_error(damaged), "") << "byte " << at << " bit " << bit;
    }
  }
}

TEST(Artifact, SurplusBytesAreRefusedWithBothSizes) {
  EXPECT_THAT(parse_error(serialise(example()) + "x"),
              AllOf(HasSubstr("bytes too many"), HasSubstr("got 8, want 7")));
}

TEST(Artifact, AnotherKindOfFileIsRefused) {
  EXPECT_THAT(parse_error("{\"lane\": \"cuda\"}\n"), HasSubstr("no artifact"));
  EXPECT_THAT(parse_error(replaced(serialise(example()), "artifact 1", "artifact 2")),
              HasSubstr("another version"));
}

TEST(Artifact, ADamagedPayloadIsNamedWithBothDigests) {
  const std::string error = parse_error(replaced(serialise(example()), "plan", "plam"));
  EXPECT_THAT(error, AllOf(HasSubstr("file.artifact"), HasSubstr("digest of the payload"),
                           HasSubstr(sha256_hex(example().payload))));
}

TEST(Artifact, AChangedHeaderIsRefusedWhereEveryFieldIsWellFormed) {
  EXPECT_THAT(parse_error(replaced(serialise(example()), "decode:64", "decode:65")),
              HasSubstr("digest of the header"));
  EXPECT_THAT(parse_error(replaced(serialise(example()), "\"chips\":2", "\"chips\":4")),
              HasSubstr("digest of the header"));
}

TEST(Artifact, ASurplusOrRepeatedKeyIsRefused) {
  EXPECT_THAT(parse_error(replaced(serialise(example()), "{\"lane\"", "{\"note\":1,\"lane\"")),
              HasSubstr("surplus"));
  EXPECT_THAT(
      parse_error(replaced(serialise(example()), "{\"lane\"", "{\"lane\":\"cuda\",\"lane\"")),
      HasSubstr("surplus"));
}

TEST(Artifact, HostileHeadersAreRefused) {
  const std::string magic = "LOGOS artifact 1\n";
  EXPECT_THAT(parse_error(magic + "[]\n"), HasSubstr("no JSON object"));
  EXPECT_THAT(parse_error(magic + "{}\n"), HasSubstr("\"lane\""));
  EXPECT_THAT(parse_error(magic + std::string(1 << 17, '[')), HasSubstr("too long"));
  const std::string bytes = serialise(example());
  for (const char* size : {"-1", "18446744073709551615", "9223372036854775808", "1e300", "null"}) {
    EXPECT_NE(parse_error(
                  replaced(bytes, "\"payload_bytes\":7", std::string("\"payload_bytes\":") + size)),
              "")
        << size;
  }
}

TEST(CheckArtifact, TakesTheOneAskedFor) {
  const Artifact a = example();
  EXPECT_NO_THROW(check_artifact(a, "cuda", a.identity, a.weights_sha256, a.config_sha256));
}

TEST(CheckArtifact, EachRefusalNamesBothValues) {
  const Artifact a = example();
  EXPECT_THAT(error_of([&] {
                check_artifact(a, "spatial", a.identity, a.weights_sha256, a.config_sha256);
              }),
              AllOf(HasSubstr("got cuda"), HasSubstr("want spatial")));
  for (const Identity& other :
       {Identity{"decode:65", 2, a.identity.sha256}, Identity{"decode:64", 1, a.identity.sha256},
        Identity{"decode:64", 2, sha256_hex("another")}}) {
    EXPECT_THAT(
        error_of([&] { check_artifact(a, "cuda", other, a.weights_sha256, a.config_sha256); }),
        AllOf(HasSubstr(a.identity.text()), HasSubstr(other.text())));
  }
  const std::string other = sha256_hex("other");
  EXPECT_THAT(error_of([&] { check_artifact(a, "cuda", a.identity, other, a.config_sha256); }),
              AllOf(HasSubstr("weights"), HasSubstr(a.weights_sha256), HasSubstr(other)));
  EXPECT_THAT(error_of([&] { check_artifact(a, "cuda", a.identity, a.weights_sha256, other); }),
              AllOf(HasSubstr("configuration"), HasSubstr(a.config_sha256), HasSubstr(other)));
}

}  // namespace
}  // namespace logos
