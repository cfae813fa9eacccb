#include "feeders/send/sender.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <variant>

#include "core/base/text.h"

namespace tallyfs {
namespace {

using namespace std::chrono_literals;

// A stall of this length is looked into.
constexpr std::chrono::milliseconds kProbeAfter = 250ms;
// And again, if the daemon's queue had no room.
constexpr std::chrono::milliseconds kProbePause = 50ms;
// A message's header, the request's sequence and length, the padding.
constexpr std::size_t kRequestOverhead = wire::kMessageHeaderBytes + 8 + 7;

// Whether the text of a response to the line is a warning.
bool warns(std::string_view line) {
  const auto verb = Tokens(line).next();
  return verb && (verb->text == "create" || verb->text == "define");
}

std::chrono::milliseconds ceil_ms(std::chrono::steady_clock::duration duration) {
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(duration), 0ms);
}

}  // namespace

Sender::Sender(Options options)
    : options_(std::move(options)), link_(options_.socket.path, options_.socket.fallback) {}

Result<void> Sender::connect() {
  const std::string where = "--socket or TALLY_SOCKET says where";
  const auto connected = link_.connect();
  if (connected) return {};
  Error error = connected.error();
  if (error.code == ErrorCode::kNotFound) {
    error.reason = "no daemon at " + options_.socket.text() + ": is tallyfs running? " + where;
  } else if (error.code == ErrorCode::kNoAccess) {
    error.reason += ": users that may write to the socket may send; see tallyfs --socket-mode";
  }
  return error;
}

std::string Sender::where() const {
  if (!fell_back()) return link_.path();
  return link_.path() + ", the system's daemon, as there is none at " + options_.socket.path;
}

Result<void> Sender::send(const NumberedLine& line) {
  if (requests_ == kRequestsMax ||
      writer_.size() + kRequestOverhead + line.text.size() > kDatagramBytes) {
    if (auto done = flush(); !done) return done;
  }
  pending_.push_back(
      {.sequence = next_sequence(), .line = line.number, .text = std::string(line.text)});
  writer_.request(pending_.back().sequence, line.text, wire::Door::kPerson);
  requests_ += 1;
  return {};
}

std::uint32_t Sender::next_sequence() {
  if (++sequence_ == 0) sequence_ = 1;
  return sequence_;
}

Result<void> Sender::flush() {
  if (writer_.empty()) return {};
  if (unanswered_ == 0) note_progress();
  while (unanswered_ >= kUnansweredMax) {
    if (auto done = wait_for_link(POLLIN); !done) return done;
  }
  for (;;) {
    const auto sent = transmit();
    if (!sent) return sent.error();
    if (sent.value() == Link::Sent::kDone) return {};
    if (auto done = wait_for_link(POLLIN | POLLOUT); !done) return done;
  }
}

// Sends the datagram in writer_ once.
Result<Link::Sent> Sender::transmit() {
  const Link::Sent sent = link_.request(writer_.bytes());
  if (sent == Link::Sent::kGone) return gone();
  if (sent == Link::Sent::kDone) {
    pending_.back().ends_datagram = true;
    unanswered_ += 1;
    writer_.clear(0);
    requests_ = 0;
  }
  return sent;
}

Result<void> Sender::wait_for_input(int input) {
  std::array<pollfd, 3> polled{pollfd{.fd = input, .events = POLLIN, .revents = 0}};
  if (::poll(polled.data(), 1, 0) > 0) return {};
  if (auto done = flush(); !done) return done;
  while (polled[0].revents == 0) {
    const auto link = link_.polled(POLLIN);
    std::ranges::copy(link, polled.begin() + 1);
    if (auto done = wait(polled.data(), polled.size()); !done) return done;
  }
  return {};
}

Result<void> Sender::finish() {
  if (auto done = flush(); !done) return done;
  while (!pending_.empty()) {
    if (auto done = wait_for_link(POLLIN); !done) return done;
  }
  return {};
}

Sender::Left Sender::leave() {
  Left left;
  const auto unsent = pending_.end() - static_cast<std::ptrdiff_t>(requests_);
  for (auto each = pending_.begin(); each != unsent; ++each) {
    if (each->line == 0) continue;
    if (left.unanswered++ == 0) left.first_unanswered = each->line;
  }
  for (auto each = unsent; each != pending_.end(); ++each) {
    left.unsent.push_back({.number = each->line, .text = std::move(each->text)});
  }
  pending_.clear();
  writer_.clear(0);
  requests_ = 0;
  unanswered_ = 0;
  probe_at_.reset();
  return left;
}

Result<void> Sender::wait_for_link(short events) {
  auto polled = link_.polled(events);
  return wait(polled.data(), polled.size());
}

// Until one of them is ready or it is time to doubt that the daemon answers.
Result<void> Sender::wait(pollfd* polled, nfds_t count) {
  const int wait_ms = pending_.empty() ? -1 : static_cast<int>(wait_max().count());
  if (::poll(polled, count, wait_ms) < 0) {
    for (nfds_t i = 0; i < count; ++i) polled[i].revents = 0;
  }
  take_responses();
  if (pending_.empty()) return {};
  return stalled(Clock::now() - progress_);
}

std::chrono::milliseconds Sender::wait_max() const {
  const auto end = progress_ + options_.timeout;
  return ceil_ms((probe_at_ ? std::min(end, *probe_at_) : end) - Clock::now());
}

Result<void> Sender::stalled(Clock::duration stall) {
  if (stall >= options_.timeout) {
    const bool is_gone = link_.send(wire::DatagramWriter(0).bytes()) == Link::Sent::kGone;
    return is_gone ? gone() : silent();
  }
  return probe_at_ && Clock::now() >= *probe_at_ ? probe() : Result<void>();
}

void Sender::note_progress() {
  progress_ = Clock::now();
  probe_at_ = progress_ + kProbeAfter;
}

// Behind what has been sent, before what waits in writer_.
Result<void> Sender::probe() {
  Pending probe{.sequence = next_sequence(), .ends_datagram = true};
  wire::DatagramWriter datagram(0);
  datagram.request(probe.sequence, {});
  link_.renew_channel();
  const Link::Sent sent = link_.request(datagram.bytes());
  if (sent == Link::Sent::kGone) return gone();
  if (sent == Link::Sent::kFull) {
    probe_at_ = Clock::now() + kProbePause;
    return {};
  }
  probe_at_.reset();
  unanswered_ += 1;
  pending_.insert(pending_.end() - static_cast<std::ptrdiff_t>(requests_), std::move(probe));
  return {};
}

void Sender::take_responses() {
  while (const auto received = link_.receive()) {
    auto reader = wire::DatagramReader::open(received->datagram);
    if (!reader) continue;
    while (const auto message = reader.value().next()) {
      const auto* response =
          message->has_value() ? std::get_if<wire::Response>(&message->value()) : nullptr;
      if (response) take(*response);
    }
  }
}

// Answers come in order: what was asked before this one and is still unanswered will stay so.
void Sender::take(const wire::Response& response) {
  const auto asked = std::find_if(pending_.begin(), pending_.end(), [&](const Pending& each) {
    return each.sequence == response.sequence;
  });
  if (asked == pending_.end()) return;
  note_progress();
  while (pending_.front().sequence != response.sequence) pop_answered(nullptr);
  pop_answered(&response);
}

void Sender::pop_answered(const wire::Response* response) {
  const Pending settled = std::move(pending_.front());
  pending_.pop_front();
  if (settled.ends_datagram) unanswered_ -= 1;
  if (settled.line == 0) return;
  if (response && response->error == 0) {
    const bool has_warning = response->text && !response->text->empty() && warns(settled.text);
    if (has_warning) {
      options_.warned(settled.line, {.reason = std::string(*response->text), .text = settled.text});
    }
    return;
  }
  Error error{.text = settled.text};
  if (!response) {
    error.reason = "its answer was lost, whether it took effect is not known";
    return options_.unknown(settled.line, error);
  }
  error.reason = std::string(response->reason) + " (" +
                 std::strerror(static_cast<int>(response->error)) + ")";
  if (response->at != wire::Response::kNowhere) error.token_at = response->at;
  options_.refused(settled.line, error);
}

Error Sender::gone() const {
  return {ErrorCode::kNotFound, "the daemon at " + link_.path() + " has ended" + unanswered()};
}

Error Sender::silent() const {
  return {ErrorCode::kBusy, "the daemon at " + link_.path() + " does not answer for " +
                                std::to_string(options_.timeout.count()) +
                                " ms: is it stopped, overloaded, or in another network namespace "
                                "(then samples count all the same)? --timeout-ms waits longer" +
                                unanswered()};
}

std::string Sender::unanswered() const {
  const auto first = std::find_if(pending_.begin(), pending_.end(),
                                  [](const Pending& each) { return each.line != 0; });
  if (first == pending_.end()) return "";
  return "; no answer to line " + std::to_string(first->line) + ", nor to any after it";
}

}  // namespace tallyfs
