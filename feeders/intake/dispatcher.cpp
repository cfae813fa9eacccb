#include "feeders/intake/dispatcher.h"

#include <sys/random.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <string>
#include <variant>

#include "core/wire/errno.h"
#include "core/wire/line.h"

namespace tally {
namespace {

// How many lines or messages are taken between two looks at the clock. Commands can be costly; so
// few of them that the longest ones do not add up, so many that looking costs next to nothing. A
// plain sample is worth a small part of one.
constexpr unsigned kStepsBetweenLooks = 16;
constexpr unsigned kPlainSamplesPerStep = 16;

// What stands for a text in the error log where there is none.
constexpr std::string_view kWholeDatagram = "(a datagram)";
constexpr std::string_view kMessage = "(a binary message)";

// Answers are sent when they have grown to this, and at the end of their datagram.
constexpr std::size_t kAnswerBytes = 8 * 1024;

std::uint64_t draw_epoch() {
  std::uint64_t epoch = 0;
  // 0 means "no numbers" on the wire.
  while (epoch == 0) (void)::getrandom(&epoch, sizeof epoch, 0);
  return epoch;
}

// The line of text in which the token stands.
std::string_view line_around(std::string_view text, std::string_view token) {
  const auto at = static_cast<std::size_t>(token.data() - text.data());
  const auto before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  const auto start = before == std::string_view::npos ? 0 : before + 1;
  return text.substr(start, text.find('\n', at) - start);
}

// An error whose token counts from the path, as one that counts from the line that holds the path.
Error error_in(std::string_view line, std::string_view path, Error error) {
  error.token_at += static_cast<std::size_t>(path.data() - line.data());
  return error;
}

Error only_in_a_request() {
  return {ErrorCode::kInvalid, "switches are for a binary request, which can be answered", 0};
}

Error no_latencies() { return {ErrorCode::kNotFound, "nobody here gathers latencies"}; }

std::uint32_t error_number(const Error& error) {
  return static_cast<std::uint32_t>(wire::to_errno(error.code));
}

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace

Dispatcher::Dispatcher(int fd, Statistics& statistics, ErrorLog& errors, const Clock& clock,
                       SharedPage switches, LatencyHist* latencies)
    : fd_(fd),
      statistics_(statistics),
      errors_(errors),
      clock_(clock),
      switches_(switches),
      latencies_(latencies),
      epoch_(draw_epoch()),
      answers_(epoch_) {}

void Dispatcher::begin(const Datagram& datagram, Moment now) {
  origin_ = &datagram.origin;
  now_ = now;
  reports_ = 0;
  told_stale_ = false;
  text_ = text_left_ = {};
  messages_.reset();
  counts_.datagrams += 1;
  if (datagram.fds_refused) counts_.fds_refused += 1;
  if (datagram.truncated) {
    counts_.truncated += 1;
    return reject(kWholeDatagram, {ErrorCode::kTooBig, "datagram longer than " +
                                                           std::to_string(wire::kDatagramBytesMax) +
                                                           " bytes, nothing of it was taken"});
  }
  const std::string_view bytes(datagram.bytes.data(), datagram.bytes.size());
  if (!wire::is_binary(bytes)) {
    text_ = text_left_ = bytes;
    return;
  }
  const auto opened = wire::DatagramReader::open(datagram.bytes);
  if (!opened) return reject(kWholeDatagram, opened.error());
  messages_ = opened.value();
}

bool Dispatcher::go_on(std::chrono::nanoseconds deadline) {
  if (!(messages_ ? take_binary(deadline) : take_text(deadline))) return false;
  send_answers();
  origin_ = nullptr;
  return true;
}

bool Dispatcher::take_text(std::chrono::nanoseconds deadline) {
  constexpr unsigned kWorthMax = kStepsBetweenLooks * kPlainSamplesPerStep;
  wire::SampleLine plain;
  for (unsigned worth = 0; !text_left_.empty();) {
    const std::size_t end = std::min(text_left_.find('\n'), text_left_.size());
    if (wire::parse_plain_sample(text_left_, end, plain)) [[likely]] {
      take_named(plain);
      worth += 1;
    } else {
      take_line(text_left_.substr(0, end));
      worth += kPlainSamplesPerStep;
    }
    text_left_.remove_prefix(std::min(end + 1, text_left_.size()));
    if (worth < kWorthMax) continue;
    if (is_past(deadline)) break;
    worth = 0;
  }
  flush_named();
  return text_left_.empty();
}

bool Dispatcher::take_binary(std::chrono::nanoseconds deadline) {
  for (unsigned messages = 1; const auto message = messages_->next(); ++messages) {
    if (*message) {
      take_message(message->value(), messages_->epoch() == epoch_);
    } else {
      reject(kMessage, message->error());
    }
    if (messages % kStepsBetweenLooks == 0 && is_past(deadline)) return false;
  }
  return true;
}

void Dispatcher::take_line(std::string_view line) {
  const auto parsed = wire::parse_line(line);
  if (!parsed) return reject(line, parsed.error());
  std::visit(Overloaded{[&](const wire::SampleLine& sample) { take_named(sample); },
                        [&](const wire::CommandLine& command) {
                          // In the order in which they stand: a sample before a remove counts.
                          flush_named();
                          const auto done = execute(command, line);
                          if (!done) reject(line, done.error());
                        },
                        [&](const wire::SwitchesLine&) { reject(line, only_in_a_request()); },
                        [](const wire::BlankLine&) {}},
             parsed.value());
}

void Dispatcher::take_named(const wire::SampleLine& sample) {
  if (named_.full()) flush_named();
  named_.push(sample.path, {.x = sample.x, .y = sample.y, .time = now_.monotonic});
}

void Dispatcher::flush_named() {
  if (named_.empty()) return;
  const Taken taken = statistics_.add(named_, origin_->uid, now_);
  count(taken);
  for (const Taken::Rejected& rejected : taken.rejected) {
    const std::string_view path = named_.path(rejected.index);
    const std::string_view line = line_around(text_, path);
    reject(line, error_in(line, path, rejected.error));
  }
  named_.clear();
}

void Dispatcher::take_message(const wire::Message& message, bool epoch_is_ours) {
  std::visit(
      Overloaded{[&](const wire::PackedSamples& samples) { take_samples(samples, epoch_is_ours); },
                 [&](const wire::Request& request) { take_request(request); },
                 [&](const wire::Dropped& dropped) { count_dropped(dropped); },
                 [&](const wire::KernelEvents& events) { take_kernel_events(events); },
                 [&](const wire::Latencies& latencies) { take_latencies(latencies); },
                 [&](const wire::Answer&) {
                   reject(kMessage, {ErrorCode::kInvalid, "answers come from the daemon only"});
                 }},
      message);
}

void Dispatcher::take_samples(const wire::PackedSamples& samples, bool epoch_is_ours) {
  const auto taken =
      epoch_is_ours ? statistics_.add(samples, now_)
                    : Result<Taken>(Error{ErrorCode::kStale, "samples numbered by another daemon"});
  if (taken) return count(taken.value());
  reject(kMessage, taken.error());
  if (!told_stale_) {
    const Error error = taken.error();
    answers_.answer({.error = error_number(error), .reason = error.reason});
  }
  told_stale_ = true;
}

void Dispatcher::take_request(const wire::Request& request) {
  const auto line = wire::parse_line(request.text);
  if (!line) return answer(request, line.error());
  if (std::holds_alternative<wire::SwitchesLine>(line.value())) {
    return answer_with_switches(request);
  }
  answer(request, execute(line.value(), request.text));
}

void Dispatcher::answer(const wire::Request& request, const Result<Done>& done) {
  if (done) {
    answers_.answer(
        {.sequence = request.sequence, .number = done.value().number, .made = done.value().made});
  } else {
    const Error error = done.error();
    reject(request.text, error);
    answers_.answer({.sequence = request.sequence,
                     .error = error_number(error),
                     .at = error.token_at == Error::kNoToken
                               ? wire::Answer::kNowhere
                               : static_cast<std::uint32_t>(error.token_at),
                     .reason = error.reason});
  }
  if (answers_.size() >= kAnswerBytes) send_answers();
}

// In a datagram of its own: a descriptor goes with a datagram, not with a message in it.
void Dispatcher::answer_with_switches(const wire::Request& request) {
  if (switches_.fd < 0) {
    return answer(request, Error{ErrorCode::kNotFound, "this daemon has no page of switches", 0});
  }
  counts_.commands += 1;
  send_answers();
  answers_.answer({.sequence = request.sequence, .number = switches_.bytes});
  send_answers(switches_.fd);
}

Result<Done> Dispatcher::execute(const wire::Line& line, std::string_view text) {
  if (const auto* command = std::get_if<wire::CommandLine>(&line)) {
    const auto done = statistics_.execute(*command, {origin_->uid, origin_->pid}, now_);
    if (done) counts_.commands += 1;
    return done;
  }
  if (const auto* sample = std::get_if<wire::SampleLine>(&line)) {
    named_.push(sample->path, {.x = sample->x, .y = sample->y, .time = now_.monotonic});
    const Taken taken = statistics_.add(named_, origin_->uid, now_);
    named_.clear();
    count(taken);
    if (!taken.rejected.empty()) return error_in(text, sample->path, taken.rejected.front().error);
  }
  return Done{};
}

void Dispatcher::count_dropped(const wire::Dropped& dropped) {
  statistics_.own().count(Own::kDropped, dropped.samples, now_);
  statistics_.own().record(Own::kDroppedBy, origin_->pid, dropped.samples, now_);
}

void Dispatcher::take_kernel_events(const wire::KernelEvents& message) {
  if (!latencies_) return reject(kMessage, no_latencies());
  const auto taken = latencies_->take(message.events, origin_->uid, now_);
  if (!taken) return reject(kMessage, taken.error());
  counts_.samples += message.events.size();
}

void Dispatcher::take_latencies(const wire::Latencies& message) {
  if (!latencies_) return reject(kMessage, no_latencies());
  const auto taken = latencies_->add(message.name, message.latencies, origin_->uid, now_);
  if (!taken) return reject(kMessage, taken.error());
  counts_.samples += message.latencies.size();
}

void Dispatcher::count(const Taken& taken) {
  counts_.samples += taken.samples;
  counts_.saturations += taken.saturated.size();
  for (const std::string& name : taken.saturated) {
    if (saturated_.size() < kSaturatedMax) saturated_.push_back(name);
  }
}

void Dispatcher::reject(std::string_view text, const Error& error) {
  counts_.rejects += 1;
  if (++reports_ > kReportsPerDatagram) return;
  const std::string location =
      "socket pid " + std::to_string(origin_->pid) + " uid " + std::to_string(origin_->uid);
  errors_.report(ErrorLog::Source::kSocket, location, text, error, now_);
}

void Dispatcher::send_answers(int attached) {
  if (answers_.empty()) return;
  if (origin_->bound() && !send_to_origin(answers_.bytes(), attached)) {
    counts_.answers_dropped += 1;
  }
  answers_.clear(epoch_);
}

bool Dispatcher::send_to_origin(std::string_view bytes, int attached) const {
  // sendmsg() changes neither.
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  sockaddr_un address = origin_->address;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof attached)> control{};
  msghdr header{};
  header.msg_name = &address;
  header.msg_namelen = origin_->address_size;
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (attached >= 0) {
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    cmsghdr* const rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof attached);
    std::memcpy(CMSG_DATA(rights), &attached, sizeof attached);
  }
  return ::sendmsg(fd_, &header, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

void Dispatcher::publish_counts(Moment now) {
  const auto publish = [&](Own what, std::uint64_t Counts::*counted) {
    if (counts_.*counted != 0) statistics_.own().count(what, counts_.*counted, now);
  };
  publish(Own::kDatagrams, &Counts::datagrams);
  publish(Own::kSamples, &Counts::samples);
  publish(Own::kCommands, &Counts::commands);
  publish(Own::kRejects, &Counts::rejects);
  publish(Own::kTruncated, &Counts::truncated);
  publish(Own::kFdsRefused, &Counts::fds_refused);
  publish(Own::kAnswersDropped, &Counts::answers_dropped);
  publish(Own::kSaturations, &Counts::saturations);
  counts_ = {};
}

}  // namespace tally
