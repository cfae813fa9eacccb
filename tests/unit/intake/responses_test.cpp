// What requests are answered with, and what feeders say of themselves.
#include <cerrno>

#include "feeders/intake/switch_page.h"
#include "tests/unit/intake/intake_fixture.h"

namespace tallyfs {
namespace {

std::string a_request(std::uint32_t sequence, std::string_view text) {
  wire::DatagramWriter writer(0);
  writer.request(sequence, text);
  return std::string(writer.bytes());
}

class ResponsesTest : public IntakeTest {
 protected:
  // The one response to a line that is sent as a request.
  wire::Response ask(std::string_view text) {
    feeder_.send(a_request(++sequence_, text));
    intake_.drain_feeders();
    const auto responses = feeder_.responses();
    EXPECT_EQ(responses.size(), 1u) << text;
    if (responses.empty()) return {};
    EXPECT_EQ(responses.front().sequence, sequence_);
    return responses.front();
  }

  Feeder feeder_{path_};
  std::uint32_t sequence_ = 0;
};

TEST_F(ResponsesTest, ACreateSaysWhetherItWasThere) {
  EXPECT_EQ(ask("create web").made, wire::Made::kNew);
  EXPECT_EQ(ask("create web").made, wire::Made::kWasThere);
  const auto made = ask("create web/hits on=1");
  EXPECT_EQ(made.made, wire::Made::kNew);
  const auto again = ask("create web/hits type=range");
  EXPECT_EQ(again.made, wire::Made::kWasThere);
  EXPECT_EQ(again.number, made.number);
  EXPECT_TRUE(again.text->starts_with("it exists with type=value and stays so")) << *again.text;
  EXPECT_EQ(ask("attach web/hits").made, wire::Made::kNew) << "it is not asked to make anything";
  EXPECT_EQ(ask("define web on=1").made, wire::Made::kNew);
}

struct Refused {
  const char* text;
  std::uint32_t error;
  std::uint32_t at;
  const char* reason;
};

TEST_F(ResponsesTest, ARefusalSaysWhereTheFaultIsAndWhy) {
  ask("create web/hits on=1");
  for (const auto& [text, error, at, reason] :
       {Refused{"create web/size type=list", EINVAL, 16, "entries_max"},
        Refused{"create we=b", EINVAL, 7, "not an interface's name"},
        Refused{"create web lifetime=feeder on=1", EINVAL, 27, "lifetime=feeder"},
        Refused{"create web lifetime=feeder", EINVAL, 11, "no process can be watched here"},
        Refused{"define nothing on=1", ENOENT, 7, "no such interface"},
        Refused{"define web on=2", EINVAL, 11, "on"},
        Refused{"attach web/size", ENOENT, 7, "no such statistic"},
        Refused{"remove tallyfs", EBUSY, 7, "daemon's own"},
        Refused{"tallyfs/samples 1", EBUSY, 0, "daemon's own"},
        Refused{"web/hits x", EINVAL, 9, ""}, Refused{"garbage", EINVAL, 0, "neither"}}) {
    const auto response = ask(text);
    EXPECT_EQ(response.error, error) << text;
    EXPECT_EQ(response.at, at) << text;
    EXPECT_NE(response.reason.find(reason), std::string_view::npos)
        << text << ": " << response.reason;
    EXPECT_FALSE(response.reason.empty()) << text;
  }
}

TEST_F(ResponsesTest, AnEmptyRequestIsAnsweredBehindWhatWasSentBefore) {
  feeder_.send("web/hits 5");
  const auto response = ask("");
  EXPECT_EQ(response.error, 0u);
  EXPECT_EQ(response.number, 0u);
  EXPECT_EQ(read("web"), "hits 1 5 5.000 5\n");
  EXPECT_EQ(own("rejects"), 0u);
}

TEST_F(ResponsesTest, ManyRefusalsOfADatagramComeInOrderAndInDatagramsThatFit) {
  constexpr std::uint32_t kRequests = 500;
  wire::DatagramWriter writer(0);
  for (std::uint32_t i = 1; i <= kRequests; ++i) writer.request(i, "create web/size type=list");
  feeder_.send(writer.bytes());
  while (own("rejects") < kRequests) intake_.drain_feeders();  // one may be cut
  std::uint32_t expected = 0;
  for (auto responses = feeder_.responses(); !responses.empty(); responses = feeder_.responses()) {
    for (const auto& response : responses) EXPECT_EQ(response.sequence, ++expected);
  }
  EXPECT_GE(expected, 100u);
  EXPECT_EQ(expected<kRequests, own("answers_dropped")> 0);
}

TEST_F(ResponsesTest, AnAnswerThatCouldNotHaveBeenReadIsNoDroppedOne) {
  {
    Feeder brief(path_);
    brief.send(a_request(1, "create web"));
  }
  intake_.drain_feeders();
  {
    Feeder brief(path_);
    brief.send_with_channel(a_request(1, "create db"));
    intake_.drain_feeders();
    brief.send(a_request(2, "create mail"));
  }
  intake_.drain_feeders();
  EXPECT_EQ(read("mail"), "") << "it was made all the same";
  EXPECT_EQ(own("answers_dropped"), 0u);
}

TEST_F(ResponsesTest, DropsCountInAllAndByTheirFeeder) {
  wire::DatagramWriter writer(0);
  writer.dropped(12);
  writer.dropped(3);
  feeder_.send(writer.bytes());
  intake_.drain_feeders();
  EXPECT_EQ(own("dropped"), 15u);
  std::array<char, 32> line;
  std::snprintf(line.data(), line.size(), "\ndropped_by 0x%x 15\n", ::getpid());
  EXPECT_NE(read("tallyfs").find(line.data()), std::string::npos) << read("tallyfs");
  EXPECT_TRUE(feeder_.responses().empty());
  writer.clear(0);
  writer.dropped(~0ull);
  feeder_.send(writer.bytes());
  intake_.drain_feeders();
  EXPECT_EQ(own("dropped"), DropClaims::kOfUidMax) << "a claim does not bring it to its end";
}

TEST_F(ResponsesTest, WithoutAPageSwitchesAreRefused) {
  const auto response = ask("switches");
  EXPECT_EQ(response.error, static_cast<std::uint32_t>(ENOENT));
  EXPECT_EQ(response.at, 0u);
  EXPECT_EQ(response.reason, "this daemon has no page of switches");
  EXPECT_FALSE(feeder_.attached().valid());
}

class SwitchesResponseTest : public IntakeTest {
 protected:
  SwitchPage page_ = SwitchPage::create(1000).value();
  EventLoop own_loop_;
  Intake with_page_{own_loop_, socket_,
                    dependencies({.fd = page_.fd_for_feeders(), .bytes = page_.bytes()})};
};

TEST_F(SwitchesResponseTest, TheDescriptorComesWithTheVeryAnswer) {
  Feeder feeder(path_);
  wire::DatagramWriter writer(0);
  writer.request(1, "create web/a");
  writer.request(2, "switches");
  writer.request(3, "create web/b");
  feeder.send(writer.bytes());
  with_page_.drain_feeders();
  const auto first = feeder.responses();
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].sequence, 1u);
  EXPECT_FALSE(feeder.attached().valid());
  const auto second = feeder.responses();
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].sequence, 2u);
  EXPECT_EQ(second[0].error, 0u);
  EXPECT_EQ(second[0].number, page_.bytes());
  EXPECT_TRUE(feeder.attached().valid());
  const auto third = feeder.responses();
  ASSERT_EQ(third.size(), 1u);
  EXPECT_EQ(third[0].sequence, 3u);
  EXPECT_FALSE(feeder.attached().valid());
}

TEST_F(SwitchesResponseTest, AChannelBringsAllOfItsFeederAndOfNoOther) {
  Feeder feeder(path_), other(path_);
  wire::DatagramWriter writer(0);
  writer.request(1, "create web/a");
  writer.request(2, "switches");
  feeder.send_with_channel(writer.bytes());
  other.send(a_request(3, "create web/b"));
  with_page_.drain_feeders();
  EXPECT_TRUE(feeder.responses().empty()) << "at its address";
  const auto first = feeder.responses_by_channel();
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].sequence, 1u);
  const auto second = feeder.responses_by_channel();
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].number, page_.bytes());
  EXPECT_TRUE(feeder.attached().valid());
  ASSERT_EQ(other.responses().size(), 1u);
  feeder.send(a_request(4, "create web/c"));
  with_page_.drain_feeders();
  EXPECT_EQ(feeder.responses_by_channel().size(), 1u) << "it goes on";
  EXPECT_EQ(own("fds_refused"), 0u);
  EXPECT_NE(read("tallyfs").find("\nchannels "), std::string::npos);
}

TEST_F(SwitchesResponseTest, ALineOfTextIsRefusedAndTheOthersTaken) {
  Feeder feeder(path_);
  feeder.send("web/hits 1\nswitches\nweb/hits 1");
  with_page_.drain_feeders();
  EXPECT_TRUE(feeder.responses().empty());
  EXPECT_EQ(read("web"), "hits 2 1 1.000 1\n");
  EXPECT_EQ(own("rejects"), 1u);
  EXPECT_NE(errors_.render(clock_.now(), 1 << 20).value().find("  Command: switches\n"),
            std::string::npos);
}

TEST_F(SwitchesResponseTest, AnUnboundClientGetsNothingAndCostsNothing) {
  const Fd unbound(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const sockaddr_un daemon = address_of(path_);
  const std::string request = a_request(1, "switches");
  const int next_before = Fd(::dup(0)).get();
  for (int i = 0; i < 5; ++i) {
    ASSERT_GT(::sendto(unbound.get(), request.data(), request.size(), 0,
                       reinterpret_cast<const sockaddr*>(&daemon), sizeof daemon),
              0);
    with_page_.drain_feeders();
  }
  EXPECT_EQ(Fd(::dup(0)).get(), next_before);
  EXPECT_EQ(own("answers_dropped"), 0u);
  EXPECT_EQ(own("rejects"), 0u);
}

TEST_F(SwitchesResponseTest, AClientThatNeverReadsCostsNoDescriptorAndHasItsAnswersDropped) {
  const int next_before = Fd(::dup(0)).get();
  {
    Feeder deaf(path_);
    wire::DatagramWriter writer(0);
    for (std::uint32_t i = 1; i <= 100; ++i) writer.request(i, "switches");
    // Until the room for responses under way is used up.
    for (int i = 0; i < 200 && own("answers_dropped") == 0; ++i) {
      deaf.send(writer.bytes());
      with_page_.drain_feeders();
    }
    EXPECT_GT(own("answers_dropped"), 0u);
  }
  // What an earlier test has left may be closed meanwhile.
  EXPECT_LE(Fd(::dup(0)).get(), next_before);
}

}  // namespace
}  // namespace tallyfs
