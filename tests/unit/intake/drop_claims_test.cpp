// No uid, nor all of them, bring the count of dropped samples to its end.
#include "feeders/intake/drop_claims.h"

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

TEST(DropClaimsTest, AllUidsTogetherStayBelowTheEndOfTheType) {
  DropClaims claims;
  std::uint64_t all = 0;
  for (uid_t uid = 0; uid < 3 * DropClaims::kUidsMax; ++uid) all += claims.take(uid, ~0ull);
  EXPECT_EQ(all, (DropClaims::kUidsMax + 1) * DropClaims::kOfUidMax);
}

}  // namespace
}  // namespace tallyfs
