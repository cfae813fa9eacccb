// No uid, nor all of them, bring the count of dropped samples to its end.
#include "feeders/intake/fair_share/drop_claims.h"

#include <gtest/gtest.h>

namespace tallyfs {
namespace {

TEST(DropClaimsTest, CountsWhatIsClaimedUpToTheBoundOfTheUid) {
  DropClaims claims;
  EXPECT_EQ(claims.take(7, 15), 15u);
  EXPECT_EQ(claims.take(7, ~0ull), DropClaims::kOfUidMax - 15);
  EXPECT_EQ(claims.take(7, 1), 0u);
  EXPECT_EQ(claims.take(8, 1), 1u);
}

// A user namespace has more uids than there are accounts.
TEST(DropClaimsTest, OneOfManyUidsDoesNotUseUpWhatOthersMayClaim) {
  DropClaims claims;
  for (uid_t uid = 0; uid < 2 * DropClaims::kUidsMax; ++uid) claims.take(uid, ~0ull);
  EXPECT_EQ(claims.take(60'005, 1000), 1000u);
  EXPECT_EQ(claims.take(60'006, ~0ull), DropClaims::kClaimOfOthersMax);
}

TEST(DropClaimsTest, AllUidsTogetherStayBelowTheEndOfTheType) {
  constexpr std::uint64_t kOfUids = DropClaims::kUidsMax * DropClaims::kOfUidMax;
  static_assert(kOfUids + DropClaims::kOfOthersMax < UINT64_MAX);
  DropClaims claims;
  std::uint64_t all = 0;
  for (uid_t uid = 0; uid < 3 * DropClaims::kUidsMax; ++uid) all += claims.take(uid, ~0ull);
  EXPECT_EQ(all, kOfUids + 2 * DropClaims::kUidsMax * DropClaims::kClaimOfOthersMax);
}

}  // namespace
}  // namespace tallyfs
