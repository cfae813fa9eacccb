#include "feeders/intake/dispatcher.h"

#include <sys/random.h>

#include <algorithm>
#include <string>
#include <variant>

#include "core/wire/errno.h"
#include "core/wire/line.h"
#include "feeders/intake/backlog.h"

namespace tallyfs {
namespace {

// How many plain samples, or messages of samples, are taken between two looks at the clock: so few
// that they come to little, so many that looking costs next to nothing. After a command the clock
// is looked at each time, since one alone can be costly.
constexpr unsigned kSamplesBetweenLooks = 256;
constexpr unsigned kMessagesBetweenLooks = 16;

// What stands for a text in the error log where there is none.
constexpr std::string_view kWholeDatagram = "(a datagram)";

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

Error only_in_a_request(const char* what) {
  return {ErrorCode::kInvalid,
          std::string(what) + " are for a binary request, which can be answered", 0};
}

bool asks_for_rates(const wire::Line& line) {
  const auto* const stats = std::get_if<wire::StatsLine>(&line);
  return stats && stats->verb == wire::StatsVerb::kRates;
}

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

Dispatcher::Dispatcher(int fd, Statistics& statistics, Subsystems& subsystems, ErrorLog& errors,
                       const Clock& clock, SharedPage switches, LatencyHist* latencies,
                       UserEvents* events, KernelFeed* kernel)
    : statistics_(statistics),
      subsystems_(subsystems),
      errors_(errors),
      clock_(clock),
      switches_(switches),
      latencies_(latencies),
      events_(events),
      kernel_(kernel),
      epoch_(draw_epoch()),
      answers_(fd, statistics.owner(), clock, epoch_) {}

void Dispatcher::begin(const Datagram& datagram, Moment now, Piece piece) {
  origin_ = &datagram.origin;
  answers_.begin(datagram.origin);
  now_ = now;
  dropped_ = 0;
  reports_ = 0;
  told_stale_ = false;
  bytes_ = datagram.bytes;
  text_ = text_left_ = {};
  messages_.reset();
  if (piece == Piece::kWhole) {
    counts_.datagrams += 1;
    if (datagram.fds_refused) counts_.fds_refused += 1;
  }
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
  answers_.send();
  origin_ = nullptr;
  return true;
}

std::vector<char> Dispatcher::put_off() {
  answers_.send();
  origin_ = nullptr;
  if (!messages_) return {text_left_.begin(), text_left_.end()};
  const auto header = bytes_.first(wire::kHeaderBytes);
  std::vector<char> left(header.begin(), header.end());
  left.insert(left.end(), messages_->rest().begin(), messages_->rest().end());
  return left;
}

void Dispatcher::refuse(const Datagram& datagram, Piece piece, const Error& error, Moment now) {
  begin(datagram, now, piece);
  reject(kWholeDatagram, error);
  origin_ = nullptr;
}

bool Dispatcher::take_text(std::chrono::nanoseconds deadline) {
  wire::SampleLine plain;
  for (unsigned samples = 1; !text_left_.empty(); ++samples) {
    std::size_t taken = wire::take_plain_sample(text_left_, plain);
    const bool is_plain = taken != 0;
    if (is_plain) [[likely]] {
      take_named(plain);
    } else {
      const std::size_t end = std::min(text_left_.find('\n'), text_left_.size());
      take_line(text_left_.substr(0, end));
      taken = std::min(end + 1, text_left_.size());
    }
    text_left_.remove_prefix(taken);
    const bool looks = !is_plain || samples % kSamplesBetweenLooks == 0;
    if (looks && is_past(deadline)) break;
  }
  flush_named();
  return text_left_.empty();
}

bool Dispatcher::take_binary(std::chrono::nanoseconds deadline) {
  for (unsigned messages = 1; const auto message = messages_->next(); ++messages) {
    const bool is_request = *message && std::holds_alternative<wire::Request>(message->value());
    if (*message) {
      take_message(message->value());
    } else {
      reject(kMessage, message->error());
    }
    const bool looks = is_request || messages % kMessagesBetweenLooks == 0;
    if (looks && is_past(deadline)) return false;
  }
  return true;
}

void Dispatcher::take_line(std::string_view line) {
  const auto parsed = wire::parse_line(line);
  if (!parsed) return reject(line, parsed.error());
  std::visit(
      Overloaded{[&](const wire::SampleLine& sample) { take_named(sample); },
                 [&](const wire::CommandLine& command) {
                   // In the order in which they stand: a sample before a remove counts.
                   flush_named();
                   const auto done = execute(command, line);
                   if (!done) reject(line, done.error());
                 },
                 [&](const wire::SwitchesLine&) { reject(line, only_in_a_request("switches")); },
                 [&](const wire::StatsLine&) {
                   if (asks_for_rates(parsed.value())) {
                     return reject(line, only_in_a_request("rates"));
                   }
                   const auto done = execute(parsed.value(), line);
                   if (!done) reject(line, done.error());
                 },
                 [&](const wire::EventLine& event) {
                   const auto done = execute(event, line);
                   if (!done) reject(line, done.error());
                 },
                 [&](const wire::LatencyLine& latency) {
                   const auto done = take_latency(latency);
                   if (!done) reject(line, done.error());
                 },
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

void Dispatcher::take_message(const wire::Message& message) {
  std::visit(
      Overloaded{[&](const wire::PackedSamples& samples) { take_samples(samples); },
                 [&](const wire::Request& request) { take_request(request); },
                 [&](const wire::Dropped& dropped) { count_dropped(dropped); },
                 [&](const wire::PackedBlob& blob) { take_blob(blob); },
                 [&](const wire::Template& given) { take_template(given); },
                 [&](const wire::KernelEvents& events) { take_kernel_events(events); },
                 [&](const wire::Latencies& latencies) { take_latencies(latencies); },
                 [&](const wire::OfferedEvent& offered) { take_offer(offered); },
                 [&](const wire::PackedEvents& records) { take_events(records); },
                 [&](const wire::LostEvents& lost) { take_lost(lost); },
                 [&](const wire::Answer&) {
                   reject(kMessage, {ErrorCode::kInvalid, "answers come from the daemon only"});
                 }},
      message);
}

void Dispatcher::take_samples(const wire::PackedSamples& samples) {
  const auto taken =
      has_our_epoch()
          ? statistics_.add(samples, now_)
          : Result<Taken>(Error{ErrorCode::kStale, "samples numbered by another daemon"});
  if (taken) return count(taken.value());
  take_numbered_badly(taken.error(), 0);
}

void Dispatcher::take_numbered_badly(const Error& error, std::uint64_t number) {
  reject(kMessage, error);
  if (error.code != ErrorCode::kStale || std::exchange(told_stale_, true)) return;
  answers_.add({.error = error_number(error), .number = number, .reason = error.reason});
}

void Dispatcher::take_blob(const wire::PackedBlob& blob) {
  const auto taken =
      has_our_epoch() ? subsystems_.publish(blob, {origin_->uid, origin_->pid}, now_)
                      : Result<void>(Error{ErrorCode::kStale, "a blob numbered by another daemon"});
  if (!taken) return take_numbered_badly(taken.error(), blob.number);
  counts_.blobs += 1;
}

void Dispatcher::take_template(const wire::Template& given) {
  const auto done = subsystems_.add_template(given, {origin_->uid, origin_->pid}, now_);
  if (done) counts_.commands += 1;
  answer(given.sequence, kMessage, done);
}

void Dispatcher::take_request(const wire::Request& request) {
  const auto line = wire::parse_line(request.text);
  if (!line) return answer(request.sequence, request.text, line.error());
  if (std::holds_alternative<wire::SwitchesLine>(line.value())) {
    return answer_with_switches(request);
  }
  answer(request.sequence, request.text, execute(line.value(), request.text));
}

void Dispatcher::answer(std::uint32_t sequence, std::string_view text, const Result<Done>& done) {
  if (done) {
    const Done& what = done.value();
    const wire::Answer answer{
        .sequence = sequence, .number = what.number, .made = what.made, .text = what.text};
    if (what.text) {
      answers_.add_alone(answer);
    } else {
      answers_.add(answer);
    }
  } else {
    const Error error = done.error();
    reject(text, error);
    answers_.add({.sequence = sequence,
                  .error = error_number(error),
                  .at = error.token_at == Error::kNoToken
                            ? wire::Answer::kNowhere
                            : static_cast<std::uint32_t>(error.token_at),
                  .reason = error.reason});
  }
}

void Dispatcher::answer_with_switches(const wire::Request& request) {
  if (switches_.fd < 0) {
    return answer(request.sequence, request.text,
                  Error{ErrorCode::kNotFound, "this daemon has no page of switches", 0});
  }
  counts_.commands += 1;
  answers_.add_alone({.sequence = request.sequence, .number = switches_.bytes}, switches_.fd);
}

Result<Done> Dispatcher::execute(const wire::Line& line, std::string_view text) {
  if (const auto* command = std::get_if<wire::CommandLine>(&line)) {
    return carry_out(statistics_, *command);
  }
  if (const auto* event = std::get_if<wire::EventLine>(&line)) return execute_event(*event);
  if (const auto* stats = std::get_if<wire::StatsLine>(&line)) {
    return carry_out(subsystems_, *stats);
  }
  if (const auto* latency = std::get_if<wire::LatencyLine>(&line)) return take_latency(*latency);
  if (const auto* sample = std::get_if<wire::SampleLine>(&line)) {
    named_.push(sample->path, {.x = sample->x, .y = sample->y, .time = now_.monotonic});
    const Taken taken = statistics_.add(named_, origin_->uid, now_);
    named_.clear();
    count(taken);
    if (!taken.rejected.empty()) return error_in(text, sample->path, taken.rejected.front().error);
  }
  return Done{};
}

template <typename Branch, typename Command>
Result<Done> Dispatcher::carry_out(Branch& branch, const Command& command) {
  const auto begun = clock_.now().monotonic;
  auto done = branch.execute(command, {origin_->uid, origin_->pid}, now_);
  const auto spent = clock_.now().monotonic - begun;
  if (spent >= Backlog::kCostly) costs_ += spent;
  if (done) counts_.commands += 1;
  return done;
}

void Dispatcher::count_dropped(const wire::Dropped& dropped) {
  statistics_.own().count(Own::kDropped, dropped.samples, now_);
  statistics_.own().record(Own::kDroppedBy, origin_->pid, dropped.samples, now_);
  dropped_ = dropped.samples;
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

void Dispatcher::publish_counts(Moment now) {
  const Answers::Counts answers = answers_.take_counts();
  const auto publish = [&](Own what, std::uint64_t counted) {
    if (counted != 0) statistics_.own().count(what, counted, now);
  };
  publish(Own::kDatagrams, counts_.datagrams);
  publish(Own::kSamples, counts_.samples);
  publish(Own::kBlobs, counts_.blobs);
  publish(Own::kCommands, counts_.commands);
  publish(Own::kRejects, counts_.rejects);
  publish(Own::kTruncated, counts_.truncated);
  publish(Own::kFdsRefused, counts_.fds_refused);
  publish(Own::kAnswersDropped, answers.dropped);
  publish(Own::kAnswersOverShare, answers.over_share);
  publish(Own::kSaturations, counts_.saturations);
  publish(Own::kPutOff, counts_.put_off);
  counts_ = {};
}

}  // namespace tallyfs
