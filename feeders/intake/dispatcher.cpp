#include "feeders/intake/dispatcher.h"

#include <sys/random.h>
#include <sys/socket.h>

#include <string>
#include <variant>

#include "core/wire/errno.h"
#include "core/wire/line.h"

namespace tally {
namespace {

// How many lines or messages are taken between two looks at the clock. Commands can be costly; so
// few of them that the longest ones do not add up, so many that looking costs next to nothing.
constexpr unsigned kStepsBetweenLooks = 16;

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

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace

Dispatcher::Dispatcher(int fd, Statistics& statistics, ErrorLog& errors, const Clock& clock)
    : fd_(fd),
      statistics_(statistics),
      errors_(errors),
      clock_(clock),
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
  for (unsigned lines = 1; !text_left_.empty(); ++lines) {
    const std::size_t end = text_left_.find('\n');
    const std::string_view line = text_left_.substr(0, end);
    text_left_.remove_prefix(end == std::string_view::npos ? text_left_.size() : end + 1);
    take_line(line);
    if (lines % kStepsBetweenLooks == 0 && is_past(deadline)) break;
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
  std::visit(Overloaded{[&](const wire::SampleLine& sample) {
                          if (named_.full()) flush_named();
                          named_.push(sample.path,
                                      {.x = sample.x, .y = sample.y, .time = now_.monotonic});
                        },
                        [&](const wire::CommandLine& command) {
                          // In the order in which they stand: a sample before a remove counts.
                          flush_named();
                          const auto done = statistics_.execute(command, origin_->uid, now_);
                          if (!done) return reject(line, done.error());
                          counts_.commands += 1;
                        },
                        [](const wire::BlankLine&) {}},
             parsed.value());
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
    answers_.answer(0, static_cast<std::uint32_t>(wire::to_errno(taken.error().code)), 0);
  }
  told_stale_ = true;
}

void Dispatcher::take_request(const wire::Request& request) {
  const auto done = execute(request.text);
  const int error = done ? 0 : wire::to_errno(done.error().code);
  if (!done) reject(request.text, done.error());
  answers_.answer(request.sequence, static_cast<std::uint32_t>(error), done ? done.value() : 0);
  if (answers_.size() >= kAnswerBytes) send_answers();
}

Result<std::uint64_t> Dispatcher::execute(std::string_view line) {
  const auto parsed = wire::parse_line(line);
  if (!parsed) return parsed.error();
  if (const auto* command = std::get_if<wire::CommandLine>(&parsed.value())) {
    const auto done = statistics_.execute(*command, origin_->uid, now_);
    if (done) counts_.commands += 1;
    return done;
  }
  if (const auto* sample = std::get_if<wire::SampleLine>(&parsed.value())) {
    named_.push(sample->path, {.x = sample->x, .y = sample->y, .time = now_.monotonic});
    const Taken taken = statistics_.add(named_, origin_->uid, now_);
    named_.clear();
    count(taken);
    if (!taken.rejected.empty()) return error_in(line, sample->path, taken.rejected.front().error);
  }
  return std::uint64_t{0};
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

void Dispatcher::send_answers() {
  if (answers_.empty()) return;
  if (origin_->bound()) {
    const auto* address = reinterpret_cast<const sockaddr*>(&origin_->address);
    const auto bytes = answers_.bytes();
    if (::sendto(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL, address,
                 origin_->address_size) < 0) {
      counts_.answers_dropped += 1;
    }
  }
  answers_.clear(epoch_);
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
