// The Conversation with requesters of the test's own.
#include "feeders/client/conversation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <utility>

#include "fake_daemon.h"

namespace tallyfs {
namespace {

using namespace std::chrono_literals;

// Requests what `due` holds, each until it has been sent; what times out is due again.
class Lines final : public Requester {
 public:
  explicit Lines(Conversation& conversation) : Requester(conversation) {}

  void request_now(const std::string& text, std::chrono::nanoseconds now) {
    send_now(text, handlers(text), now, Alone::kAlways);
  }

  std::deque<std::string> due;
  Log responses;  // "TEXT ERRNO"
  int begun = 0;

 private:
  void begin() override { begun += 1; }
  void add_requests(RequestDatagram& requests) override {
    for (const std::string& text : due) {
      RequestHandlers all = handlers(text);
      all.sent = [this] { due.pop_front(); };
      if (!requests.add(text, std::move(all))) return;
    }
  }
  void retry_refused() override { due.insert(due.end(), refused_.begin(), refused_.end()); }
  void take_stale(std::uint64_t) override {}

  RequestHandlers handlers(const std::string& text) {
    return {.responded =
                [this, text](const Response& response) {
                  responses.push_back(text + " " + std::to_string(response.error));
                  if (response.error == 0) return;
                  refused_.push_back(text);
                  report_refusal(text, response);
                },
            .timed_out = [this, text] { due.push_back(text); }};
  }

  Log refused_;
};

class ConversationTest : public testing::Test {
 protected:
  ConversationTest() {
    EXPECT_TRUE(link_.connect());
    conversation_.begin();
  }

  void ask(Lines& lines, std::string text) {
    lines.due.push_back(std::move(text));
    lines.note_change();
  }
  Log round() {
    conversation_.request(now_);
    Log log = daemon_.serve();
    conversation_.take_responses(now_);
    return log;
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_ / "socket";
  FakeDaemon daemon_{path_};
  Link link_{path_};
  Log reports_;
  Conversation conversation_{
      link_,
      {.other_epoch = [](std::uint64_t) {},
       .confirmed = [](std::uint64_t, Conversation::Taken) {},
       .report = [this](std::string text) { reports_.push_back(std::move(text)); }}};
  Lines first_{conversation_};
  Lines second_{conversation_};
  std::chrono::nanoseconds now_ = 100s;
};

TEST_F(ConversationTest, RequestersAreServedInTheOrderInWhichTheyJoined) {
  ask(second_, "define b");
  ask(first_, "define a");
  EXPECT_EQ(round(), (Log{"define a", "define b"}));
  EXPECT_EQ(first_.responses, Log{"define a 0"});
  EXPECT_EQ(second_.responses, Log{"define b 0"});
  EXPECT_TRUE(conversation_.is_idle());
}

TEST_F(ConversationTest, AResponseAfterTheTimeOutIsTakenAndThatToTheRepetitionToo) {
  ask(first_, "define a");
  conversation_.request(now_);
  const auto early = daemon_.take();
  now_ += Conversation::kResponseTimeout;
  conversation_.request(now_);
  const auto repeated = daemon_.take();
  ASSERT_EQ(repeated->requests.size(), 1u);
  daemon_.respond({{.sequence = early->requests.at(0).first}});
  conversation_.take_responses(now_);
  EXPECT_EQ(first_.responses, Log{"define a 0"});
  EXPECT_FALSE(conversation_.is_idle()) << "the repetition is pending";
  daemon_.respond({{.sequence = repeated->requests.at(0).first}});
  conversation_.take_responses(now_);
  EXPECT_EQ(first_.responses.size(), 2u);
  EXPECT_TRUE(conversation_.is_idle());
}

TEST_F(ConversationTest, AResponseIsTakenOnce) {
  ask(first_, "define a");
  conversation_.request(now_);
  const auto asked = daemon_.take();
  const wire::Response response{.sequence = asked->requests.at(0).first};
  daemon_.respond({response, response});
  conversation_.take_responses(now_);
  EXPECT_EQ(first_.responses.size(), 1u);
}

TEST_F(ConversationTest, TheBackOffOfOneRequesterIsNotThatOfAnother) {
  daemon_.refuses["a"] = EPERM;
  ask(first_, "define a");
  round();
  EXPECT_EQ(reports_, Log{"the daemon refused define a: Operation not permitted"});
  daemon_.refuses.clear();
  ask(second_, "define b");
  EXPECT_EQ(round(), Log{"define b"});
  now_ += Conversation::kRefusedBackOff;
  EXPECT_EQ(round(), Log{"define a"});
}

TEST_F(ConversationTest, ADatagramHas8KiBAtMostUnlessOneRequestIsLonger) {
  const std::string longest = "define " + std::string(20'000, 'x');
  for (int i = 0; i < 20; ++i) ask(first_, "define " + std::string(1'000, 'a'));
  ask(first_, longest);
  std::size_t datagrams = 0;
  for (; !conversation_.is_idle(); ++datagrams) {
    conversation_.request(now_);
    const auto asked = daemon_.take();
    ASSERT_TRUE(asked);
    EXPECT_TRUE(asked->bytes <= RequestDatagram::kBytesMax || asked->requests.size() == 1);
    for (const auto& [sequence, text] : asked->requests) daemon_.respond({{.sequence = sequence}});
    conversation_.take_responses(now_);
  }
  EXPECT_EQ(datagrams, 4u);
  EXPECT_EQ(first_.responses.back(), longest + " 0");
}

TEST_F(ConversationTest, OfMoreThan4096PendingRequestsTheOldestTimeOut) {
  std::optional<std::uint32_t> oldest;
  for (std::size_t i = 0; i <= PendingRequests::kRequestsMax; ++i) {
    first_.request_now("define " + std::to_string(i), now_);
    const auto asked = daemon_.take();
    ASSERT_TRUE(asked);
    if (!oldest) oldest = asked->requests.at(0).first;
  }
  EXPECT_EQ(first_.due, (std::deque<std::string>{"define 0"}));
  daemon_.respond({{.sequence = *oldest}});
  conversation_.take_responses(now_);
  EXPECT_EQ(first_.responses, Log{});
  conversation_.request(now_);
  EXPECT_EQ(daemon_.serve(), Log{"define 0"}) << "at once, without a further change";
}

TEST_F(ConversationTest, AnotherEpochBeginsAnewAndForgetsWhatIsPending) {
  ask(first_, "define a");
  round();
  ask(first_, "define b");
  conversation_.request(now_);
  const auto asked = daemon_.take();
  const int begun = first_.begun;
  daemon_.epoch += 1;
  daemon_.respond({{.sequence = asked->requests.at(0).first}});
  conversation_.take_responses(now_);
  EXPECT_EQ(first_.begun, begun + 1);
  EXPECT_EQ(second_.begun, begun + 1);
  EXPECT_EQ(first_.responses, Log{"define a 0"});
  EXPECT_EQ(round(), Log{});
  EXPECT_TRUE(conversation_.is_idle()) << "no response is awaited";
}

TEST_F(ConversationTest, LaterRefusalsDoNotPutOffThoseBefore) {
  daemon_.refuses["a"] = daemon_.refuses["b"] = EPERM;
  ask(first_, "define a");
  EXPECT_EQ(round(), Log{"define a"});
  now_ += Conversation::kRefusedBackOff - 1s;
  ask(first_, "define b");
  EXPECT_EQ(round(), Log{"define b"});
  now_ += 1s;
  EXPECT_EQ(round(), (Log{"define a", "define b"}));
}

// A program that defines its statistics one by one, and a daemon that has lost a datagram.
TEST_F(ConversationTest, RequestsThatAreSentAloneDoNotPutOffTheTimeOutOfOthers) {
  ask(first_, "define a");
  conversation_.request(now_);
  ASSERT_TRUE(daemon_.take());
  for (int i = 0; i < 4; ++i) {
    now_ += Conversation::kResponseTimeout / 4;
    first_.request_now("define alone", now_);
    ASSERT_TRUE(daemon_.take());
  }
  EXPECT_EQ(round(), Log{"define a"});
  now_ += Conversation::kResponseTimeout / 4;
  EXPECT_EQ(round(), Log{"define alone"});
}

// A response that another sender has asked for to this address is for none of its requests.
TEST(RequestDatagramTest, NumbersBeginAtRandom) {
  const auto first_number = [] {
    RequestDatagram requests;
    requests.add("attach web/s", {});
    return requests.take_requests().front().sequence;
  };
  const std::uint32_t one = first_number();
  EXPECT_NE(first_number(), one);
}

// Not only those after the first: each sequence number of the range is used.
TEST_F(ConversationTest, TheOldestTimesOutThoughNumbersBeginAnew) {
  PendingRequests pending;
  constexpr std::uint32_t kFirst = UINT32_MAX - 2;
  std::uint32_t awaited = 0, next = kFirst;
  std::vector<std::uint32_t> timed_out;
  for (std::size_t i = 0; i < PendingRequests::kRequestsMax + 5; ++i) {
    const std::uint32_t sequence = next;
    pending.add({.sequence = sequence,
                 .handlers = {.timed_out = [&, sequence] { timed_out.push_back(sequence); }}},
                {.requester = &first_, .awaited = &awaited, .at = now_});
    next = next == UINT32_MAX ? 1 : next + 1;
  }
  EXPECT_EQ(timed_out, (std::vector<std::uint32_t>{kFirst, kFirst + 1, kFirst + 2, 1, 2}));
  EXPECT_EQ(awaited, PendingRequests::kRequestsMax);
}

}  // namespace
}  // namespace tallyfs
