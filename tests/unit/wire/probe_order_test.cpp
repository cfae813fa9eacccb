#include "core/wire/probe_order.h"

#include <gtest/gtest.h>

#include "core/wire/order.h"

namespace tallyfs::wire {
namespace {

TEST(ProbeOrderTest, OrdersComeBackAsTheyWerePrinted) {
  const ProbeOrder order{.number = 7,
                         .serial = 12,
                         .is_known = true,
                         .kind = 'r',
                         .event = "alloc",
                         .text = "/lib/libc.so.6:0x10 size=%di"};
  EXPECT_EQ(print(order), "probe 7 12 known r alloc /lib/libc.so.6:0x10 size=%di");
  const auto parsed = std::get<ProbeOrder>(parse_order(print(order)).value());
  EXPECT_EQ(parsed.number, 7u);
  EXPECT_EQ(parsed.serial, 12u);
  EXPECT_TRUE(parsed.is_known);
  EXPECT_EQ(parsed.kind, 'r');
  EXPECT_EQ(parsed.event, "alloc");
  EXPECT_EQ(parsed.text, order.text);
  const UnprobeOrder unprobe{.number = 8, .serials = {3, 4}};
  EXPECT_EQ(print(unprobe), "unprobe 8 3,4");
  EXPECT_EQ(std::get<UnprobeOrder>(parse_order(print(unprobe)).value()).serials, unprobe.serials);
  EXPECT_TRUE(
      std::get<ProbesOrder>(parse_order(print(ProbesOrder{.number = 9})).value()).serials.empty());
}

TEST(ProbeOrderTest, RepliesComeBackAsTheyWerePrinted) {
  const Probed probed{.number = 7,
                      .serial = 12,
                      .id = 1400,
                      .text = "/lib/libc.so.6:0x10 size=%di",
                      .format = "name: alloc\nID: 1400\n"};
  const auto parsed = std::get<Probed>(parse_reply(print(probed)).value());
  EXPECT_EQ(parsed.serial, 12u);
  EXPECT_EQ(parsed.id, 1400u);
  EXPECT_EQ(parsed.text, probed.text);
  EXPECT_EQ(parsed.format, probed.format);
  const Error error{.code = ErrorCode::kExists,
                    .reason = "Probe type is different from existing probe",
                    .token_at = 5,
                    .location = "trace_uprobe"};
  const auto refused = std::get<Refused>(parse_reply(print(Refused{8, error})).value());
  EXPECT_EQ(refused.number, 8u);
  EXPECT_EQ(refused.error.code, error.code);
  EXPECT_EQ(refused.error.reason, error.reason);
  EXPECT_EQ(refused.error.token_at, 5u);
  EXPECT_EQ(refused.error.location, "trace_uprobe");
  const auto plain = std::get<Refused>(
      parse_reply(print(Refused{9, {ErrorCode::kNoDevice, "no uprobes"}})).value());
  EXPECT_EQ(plain.error.token_at, Error::kNoToken);
  EXPECT_EQ(plain.error.location, "");
}

TEST(ProbeOrderTest, ASearchComesBackAsItWasPrinted) {
  const FindOrder order{.number = 7, .kind = 'r', .place = "/lib/libc.so.6:malloc"};
  EXPECT_EQ(print(order), "find 7 r /lib/libc.so.6:malloc");
  const auto parsed = std::get<FindOrder>(parse_order(print(order)).value());
  EXPECT_EQ(parsed.number, 7u);
  EXPECT_EQ(parsed.kind, 'r');
  EXPECT_EQ(parsed.place, order.place);
  const Found found{.number = 7, .text = "x86_64\n4096 0\n"};
  EXPECT_EQ(std::get<Found>(parse_reply(print(found)).value()).text, found.text);
  EXPECT_EQ(std::get<Working>(parse_reply(print(Working{8})).value()).number, 8u);
}

TEST(ProbeOrderTest, HitsComeBackAsFarAsTheyFit) {
  const auto order = std::get<ProfileOrder>(parse_order(print(ProfileOrder{7, 3, 2})).value());
  EXPECT_EQ(order.serial, 3u);
  EXPECT_EQ(order.place, 2u);
  Profiled reply{
      .number = 7,
      .places = {{3, 12, 0, "8:1:77", "/bin/x:0x10(0x8)"}, {4, 0, 9, "-", "/bin/y:0x20", "gone"}}};
  EXPECT_EQ(print(reply),
            "profiled 7\n3 12 0 8:1:77 /bin/x:0x10(0x8)\n4 0 9 - /bin/y:0x20 gone\n");
  auto parsed = std::get<Profiled>(parse_reply(print(reply)).value());
  ASSERT_EQ(parsed.places.size(), 2u);
  EXPECT_EQ(parsed.places[0].hits, 12u);
  EXPECT_EQ(parsed.places[1].place, "/bin/y:0x20");
  EXPECT_EQ(parsed.places[1].missed, 9u);
  EXPECT_EQ(parsed.places[0].leaving, "");
  EXPECT_EQ(parsed.places[1].leaving, "gone");
  EXPECT_TRUE(std::get<Profiled>(parse_reply("profiled 7\n").value()).places.empty());
  reply.places.assign(kOrderBytesMax, {4, 1, 0, "-", "/bin/y:0x20"});
  EXPECT_LE(print(reply).size(), kOrderBytesMax);
  parsed = std::get<Profiled>(parse_reply(print(reply)).value());
  EXPECT_GT(parsed.places.size(), 1'000u);
}

TEST(ProbeOrderTest, WhatIsNoneIsNotTaken) {
  for (const char* const text :
       {"probe", "probe 1", "probe 1 2", "probe 1 2 old p a /x:0x1", "probe 1 2 new q a /x:0x1",
        "probe 1 2 new p5 a vfs_read", "probe 1 2 new rx a vfs_read", "probe 1 2 new p",
        "probe 1 2 new p a /x:0x1\n-:tallyfs_1_2/a", "unprobe 1 2,x", "probes x", "profile 1 2",
        "profile 1 2 3 4", "find 1", "find 1 x /a:f", "find 1 p"}) {
    EXPECT_FALSE(parse_order(text)) << text;
  }
  for (const char* const text :
       {"probed 1", "probed 1 2 3 /x:0x1", "probed 1 2 x - /x:0x1\nname: a", "refused 1",
        "refused 1 EIO - - no", "refused 1 EINVAL x - no", "found 1", "found 1 x", "profiled 1",
        "profiled 1\n1 2 -", "profiled 1\n1 2 - /x:0x1", "profiled 1\n1 x - /x:0x1",
        "profiled 1\n1 2 3 - /x:0x1 a b", "working", "working 1 2"}) {
    EXPECT_FALSE(parse_reply(text)) << text;
  }
}

}  // namespace
}  // namespace tallyfs::wire
