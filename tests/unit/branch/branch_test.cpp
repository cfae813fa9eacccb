// Ownership, sets of alternatives, and what Branch does by default.
#include "core/branch/branch.h"

#include <gtest/gtest.h>

#include "core/branch/ownership.h"
#include "tests/unit/saved_objects.h"
#include "tests/unit/senders.h"

namespace tallyfs {
namespace {

TEST(OwnershipTest, OnlyItsUidRootAndTheDaemonMayChangeAThing) {
  const Ownership ownership(kDaemon);
  EXPECT_EQ(ownership.daemon(), kDaemon);
  for (const uid_t trusted : {uid_t{0}, kDaemon}) {
    EXPECT_TRUE(ownership.is_trusted(trusted));
    EXPECT_TRUE(ownership.may_change(kAlice, trusted));
  }
  EXPECT_FALSE(ownership.is_trusted(kAlice));
  EXPECT_TRUE(ownership.may_change(kAlice, kAlice));
  EXPECT_FALSE(ownership.may_change(kAlice, kBob));
  EXPECT_FALSE(ownership.may_change(0, kBob));
}

TEST(OwnershipTest, ARefusalNamesTheOwnerAndTheChange) {
  const Ownership ownership(kDaemon);
  const Ownership::Words words{.thing = "event", .change = "feed it"};
  EXPECT_TRUE(ownership.check(kAlice, kAlice, words));
  const auto refused = ownership.check(kAlice, kBob, words);
  EXPECT_EQ(refused.error().code, ErrorCode::kNotPermitted);
  EXPECT_EQ(refused.error().reason, "the event belongs to uid 1000; only it or root may feed it");
  EXPECT_EQ(refused.error().token_at, 0u);
  const auto since = ownership.check(
      kAlice, kBob, {.thing = "interface", .change = "write to it", .since = " since it fed it"});
  EXPECT_EQ(since.error().reason,
            "the interface belongs to uid 1000 since it fed it; only it or root may write to it");
}

TEST(AlternativesTest, HaveABitForEachAlternativeThatIsNamed) {
  using Variant = std::variant<int, char, long>;
  EXPECT_EQ(AlternativesOf<Variant>::value, 0u);
  EXPECT_EQ((AlternativesOf<Variant, int>::value), 1u);
  EXPECT_EQ((AlternativesOf<Variant, long>::value), 4u);
  EXPECT_EQ((AlternativesOf<Variant, long, int>::value), 5u);
  constexpr auto bit = [](const wire::Line& line) { return 1u << line.index(); };
  EXPECT_EQ(kLines<wire::EventLine>, bit(wire::EventLine{}));
  EXPECT_EQ(kMessages<wire::PackedBlob>, 1u << wire::Message(wire::PackedBlob{}).index());
}

class LinesOnly final : public Branch {
 public:
  Handled handles() const override { return {.lines = kLines<wire::EventLine>}; }
  Result<Done> execute(const wire::Line&, Call&) override { return Done{.number = 5}; }
};

TEST(BranchTest, ByDefaultTakesNoMessageAndSavesNothing) {
  LinesOnly lines;
  Branch& branch = lines;
  EXPECT_EQ(branch.handles().messages, 0u);
  EXPECT_EQ(branch.handles().metered_lines, 0u);
  Call call{.sender = kAlice, .now = {}};
  EXPECT_EQ(branch.execute(wire::EventLine{}, call).value().number, 5u);
  EXPECT_EQ(branch.take(wire::PackedBlob{}, call).error().code, ErrorCode::kInvalid);
  branch.process_ended(7, {});
  EXPECT_EQ(branch.handles().objects, 0u);
  EXPECT_EQ(SavedObjects(branch).size(), 0u);
  EXPECT_EQ(branch.stamp({}), 0u);
  EXPECT_EQ(branch.load({}, {}).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace tallyfs
