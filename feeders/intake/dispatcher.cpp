#include "feeders/intake/dispatcher.h"

#include <spdlog/spdlog.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <string>
#include <variant>

#include "core/wire/errno.h"
#include "core/wire/line.h"

namespace tally {
namespace {

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

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace

Dispatcher::Dispatcher(int fd, Statistics& statistics, ErrorLog& errors)
    : fd_(fd), statistics_(statistics), errors_(errors), epoch_(draw_epoch()), answers_(epoch_) {}

void Dispatcher::take(const Datagram& datagram, Moment now) {
  sender_ = &datagram.sender;
  now_ = now;
  reports_ = 0;
  told_stale_ = false;
  counts_.datagrams += 1;
  if (datagram.fds_refused) counts_.fds_refused += 1;
  if (datagram.truncated) {
    counts_.truncated += 1;
    reject({},
           {ErrorCode::kTooBig, "datagram longer than " + std::to_string(wire::kDatagramBytesMax) +
                                    " bytes, nothing of it was taken"});
    return;
  }
  const std::string_view text(datagram.bytes.data(), datagram.bytes.size());
  if (wire::is_binary(text)) {
    take_binary(datagram.bytes);
  } else {
    take_text(text);
  }
  send_answers();
}

void Dispatcher::take_text(std::string_view text) {
  named_text_ = text;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    take_line(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  flush_named();
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
                          const auto done = statistics_.execute(command, sender_->uid, now_);
                          if (!done) return reject(line, done.error());
                          counts_.commands += 1;
                        },
                        [](const wire::BlankLine&) {}},
             parsed.value());
}

void Dispatcher::flush_named() {
  if (named_.empty()) return;
  const Taken taken = statistics_.add(named_, sender_->uid, now_);
  count(taken);
  for (const Taken::Rejected& rejected : taken.rejected) {
    const std::string_view path = named_.path(rejected.index);
    const std::string_view line = line_around(named_text_, path);
    Error error = rejected.error;
    error.token_at += static_cast<std::size_t>(path.data() - line.data());
    reject(line, error);
  }
  named_.clear();
}

void Dispatcher::take_binary(std::span<char> bytes) {
  auto reader = wire::DatagramReader::open(bytes);
  if (!reader) return reject({}, reader.error());
  const bool epoch_is_ours = reader.value().epoch() == epoch_;
  while (const auto message = reader.value().next()) {
    if (*message) {
      take_message(message->value(), epoch_is_ours);
    } else {
      reject({}, message->error());
    }
  }
}

void Dispatcher::take_message(const wire::Message& message, bool epoch_is_ours) {
  std::visit(
      Overloaded{[&](const wire::PackedSamples& samples) { take_samples(samples, epoch_is_ours); },
                 [&](const wire::Request& request) { take_request(request); },
                 [&](const wire::Answer&) {
                   reject({}, {ErrorCode::kInvalid, "answers come from the daemon only"});
                 }},
      message);
}

void Dispatcher::take_samples(const wire::PackedSamples& samples, bool epoch_is_ours) {
  const auto taken =
      epoch_is_ours ? statistics_.add(samples, now_)
                    : Result<Taken>(Error{ErrorCode::kStale, "samples numbered by another daemon"});
  if (taken) return count(taken.value());
  reject({}, taken.error());
  if (!told_stale_) {
    answers_.answer(0, static_cast<std::uint32_t>(wire::to_errno(taken.error().code)), 0);
  }
  told_stale_ = true;
}

void Dispatcher::take_request(const wire::Request& request) {
  const auto done = execute(request.text);
  const int error = done ? 0 : wire::to_errno(done.error().code);
  if (done) {
    counts_.commands += 1;
  } else {
    reject(request.text, done.error());
  }
  answers_.answer(request.sequence, static_cast<std::uint32_t>(error), done ? done.value() : 0);
  if (answers_.size() >= kAnswerBytes) send_answers();
}

Result<std::uint64_t> Dispatcher::execute(std::string_view line) {
  const auto parsed = wire::parse_line(line);
  if (!parsed) return parsed.error();
  if (const auto* command = std::get_if<wire::CommandLine>(&parsed.value())) {
    return statistics_.execute(*command, sender_->uid, now_);
  }
  if (const auto* sample = std::get_if<wire::SampleLine>(&parsed.value())) {
    named_.push(sample->path, {.x = sample->x, .y = sample->y, .time = now_.monotonic});
    Taken taken = statistics_.add(named_, sender_->uid, now_);
    named_.clear();
    count(taken);
    if (!taken.rejected.empty()) return taken.rejected.front().error;
  }
  return std::uint64_t{0};
}

void Dispatcher::count(const Taken& taken) {
  counts_.samples += taken.samples;
  counts_.saturations += taken.saturated.size();
  for (const std::string& name : taken.saturated) {
    spdlog::warn(
        "a counter of statistics/{} reached the end of its type and stays there until it "
        "is reset",
        name);
  }
}

void Dispatcher::reject(std::string_view text, const Error& error) {
  counts_.rejects += 1;
  if (++reports_ > kReportsPerDatagram) return;
  const std::string location =
      "socket pid " + std::to_string(sender_->pid) + " uid " + std::to_string(sender_->uid);
  spdlog::debug("{}: {}", location, error.reason);
  errors_.report(ErrorLog::Source::kSocket, location, text, error, now_);
}

void Dispatcher::send_answers() {
  if (answers_.empty()) return;
  if (sender_->bound()) {
    const auto* address = reinterpret_cast<const sockaddr*>(&sender_->address);
    const auto bytes = answers_.bytes();
    if (::sendto(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL, address,
                 sender_->address_size) < 0) {
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
