// What is removed, with a daemon and without.
#include "registrar_fixture.h"

namespace tallyfs {
namespace {

TEST_F(RegistrarTest, WhatIsRemovedBeforeTheFirstConnectionIsRemovedThere) {
  Conversation conversation(link_, {.other_epoch = [](std::uint64_t) {},
                                    .confirmed = [](std::uint64_t, Conversation::Taken) {},
                                    .report = [](const std::string&) {}});
  Registrar early(registry_, conversation, {switches_, shapes_, cells_}, {.is_wanted = false});
  link_.disconnect();
  early.remove("old/hits");
  early.remove("old");
  ASSERT_TRUE(link_.connect());
  conversation.begin();
  conversation.request(now_);
  EXPECT_EQ(daemon_->serve(), (Log{"switches", "remove old/hits", "remove old"}));
}

TEST_F(RegistrarTest, WhatIsRemovedWhileADaemonIsAwayIsLeftToTheNext) {
  run_until_idle();
  registrar_.remove("web/hits");
  link_.disconnect();
  registrar_.remove("web");
  ASSERT_TRUE(link_.connect());
  conversation_.begin();
  EXPECT_EQ(run_until_idle(), Log{"switches"});
}

// It goes on with what the last one had.
TEST_F(RegistrarTest, RemovalsThatWaitWhenAnotherDaemonTakesOverAreSentToIt) {
  run_until_idle();
  registrar_.remove("web/hits");
  conversation_.ping(now_, 0);
  daemon_->epoch = 2;
  daemon_->serve();
  conversation_.take_responses(now_);
  EXPECT_EQ(run_until_idle(), (Log{"switches", "remove web/hits"}));
}

TEST_F(RegistrarTest, RemovalsAreSentInTheirOrder) {
  run_until_idle();
  registrar_.remove("web/hits");
  registrar_.remove("disk");
  EXPECT_FALSE(registrar_.is_idle());
  EXPECT_EQ(run_until_idle(), (Log{"remove web/hits", "remove disk"}));
}

TEST_F(RegistrarTest, WithoutADaemonThereIsNothingToRemove) {
  link_.disconnect();
  registrar_.remove("web/hits");
  connect();
  EXPECT_EQ(run_until_idle(), Log{"switches"});
}

TEST_F(RegistrarTest, ARemovalOfWhatIsGoneAlreadyIsDoneAndAnyOtherRefusalReported) {
  run_until_idle();
  daemon_->refuses = {{"web", ENOENT}, {"disk", EPERM}};
  registrar_.remove("web");
  registrar_.remove("disk");
  run_until_idle();
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_NE(reports_[0].find("Operation not permitted"), std::string::npos);
}

TEST_F(RegistrarTest, RemovalsThatFindNoRoomAreSentWhenThereIsSome) {
  run_until_idle();
  fill();
  registrar_.remove("web/hits");
  conversation_.request(now_);
  serve_but_fillers();
  EXPECT_EQ(run_until_idle(), Log{"remove web/hits"});
}

TEST_F(RegistrarTest, OfMoreThan1024RemovalsThatWaitTheOldestAreForgotten) {
  run_until_idle();
  for (int i = 0; i < 1025; ++i) registrar_.remove("web/" + std::to_string(i));
  const Log log = run_until_idle();
  ASSERT_EQ(log.size(), 1024u);
  EXPECT_EQ(log.front(), "remove web/1");
  EXPECT_EQ(log.back(), "remove web/1024");
  EXPECT_LE(daemon_->largest, 8192u);
}

}  // namespace
}  // namespace tallyfs
