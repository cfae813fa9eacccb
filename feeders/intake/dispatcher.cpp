#include "feeders/intake/dispatcher.h"

#include <sys/random.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <variant>

#include "core/wire/line.h"
#include "core/wire/refused_samples.h"
#include "feeders/intake/backlog.h"

namespace tallyfs {
namespace {

// How many lines or messages are taken one by one between two looks at the clock: so few that they
// come to little, so many that looking costs next to nothing. After a batch of samples, and after a
// command, the clock is looked at each time, since a command alone can be costly.
constexpr unsigned kBetweenLooks = 16;
constexpr unsigned kCommandsOfAWrite = 64;
// After so many lines that were no plain samples the next one is hardly one, and is not looked at
// as such first.
constexpr unsigned kOthersInARow = 4;
// While one write takes longer than this, each command is written by itself: a change of one
// statistic takes 8 to 16 us, three times as long is no such change, and 64 of these outlast a turn
// of 2 ms (Intake::kTurnMax).
constexpr std::chrono::microseconds kLongWrite{50};

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

// The message names it by a number that this daemon has given.
struct Named {
  std::uint64_t number = 0;
  const char* what = "";
};
std::optional<Named> named_by(const wire::Message& message) {
  if (const auto* const blob = std::get_if<wire::PackedBlob>(&message)) {
    return Named{blob->number, "a blob"};
  }
  const auto* const records = std::get_if<wire::PackedEvents>(&message);
  if (records && records->number()) return Named{*records->number(), "an event"};
  return std::nullopt;
}

bool has_kernel_events(const wire::Message& message) {
  const auto* const records = std::get_if<wire::PackedEvents>(&message);
  return (records && !records->number()) || std::holds_alternative<wire::KernelEvents>(message);
}

Error stale(const char* what) {
  return {ErrorCode::kStale, std::string(what) + " numbered by another daemon"};
}

Error no_room() {
  return {ErrorCode::kNoSpace,
          "costly commands wait to be carried out, and this sender's datagrams fill the " +
              std::to_string(Backlog::kBytesOfSenderMax) + " bytes that may be put off behind them",
          0};
}

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace

std::uint64_t Dispatcher::draw_epoch() {
  std::uint64_t epoch = 0;
  // 0 means "no numbers" on the wire.
  while (epoch == 0) (void)::getrandom(&epoch, sizeof epoch, 0);
  return epoch;
}

Dispatcher::Dispatcher(int fd, const Dependencies& dependencies)
    : statistics_(dependencies.statistics),
      errors_(dependencies.errors),
      clock_(dependencies.clock),
      switches_(dependencies.switches),
      shapes_(dependencies.shapes),
      lanes_(dependencies.lanes),
      channels_(dependencies.channels),
      epoch_(dependencies.epoch),
      responses_({.fd = fd, .channels = channels_, .sock_diag = dependencies.sock_diag},
                 statistics_.owner(), clock_, epoch_) {
  find_branches(dependencies.branches);
}

void Dispatcher::find_branches(std::span<Branch* const> branches) {
  const auto has = [](Alternatives set, std::size_t index) { return (set >> index & 1) != 0; };
  const auto claim = [](Route& route, const Route& claimed) {
    if (route.branch) {
      std::fprintf(stderr, "tallyfs: two branches handle one kind of line or message\n");
      std::abort();
    }
    route = claimed;
  };
  for (Branch* const branch : branches) {
    const Branch::Handled handled = branch->handles();
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (has(handled.lines, i)) claim(lines_[i], {branch, has(handled.metered_lines, i)});
    }
    for (std::size_t i = 0; i < messages_to_.size(); ++i) {
      if (has(handled.messages, i)) claim(messages_to_[i], {.branch = branch});
    }
  }
}

void Dispatcher::begin(const Datagram& datagram, Timestamp now, Piece piece, Commands commands,
                       const LineProgress& progress) {
  origin_ = &datagram.origin;
  commands_ = commands;
  responses_.begin(datagram.origin);
  call_ = {.sender = {datagram.origin.uid, datagram.origin.pid},
           .now = now,
           .is_late = &is_late_,
           .progress = progress};
  reports_ = others_in_a_row_ = 0;
  told_stale_ = false;
  is_of_kernel_ = false;
  if (piece == Piece::kWhole) {
    counts_.add("datagrams");
    if (datagram.fds_refused) counts_.add("fds_refused");
  }
  record_ = journal_ ? journal_->record_of(datagram) : nullptr;
  begin_bytes(datagram, journal_ ? journal_->begin(record_, now) : 0);
}

void Dispatcher::begin_bytes(const Datagram& datagram, std::uint64_t place) {
  place_ = taken_to_ = place;
  bytes_ = datagram.bytes;
  text_ = text_left_ = {};
  messages_.reset();
  if (datagram.truncated) {
    counts_.add("truncated");
    return reject(kWholeDatagram, {ErrorCode::kTooBig, "datagram longer than " +
                                                           std::to_string(wire::kDatagramBytesMax) +
                                                           " bytes, nothing of it was taken"});
  }
  const std::string_view bytes(datagram.bytes.data(), datagram.bytes.size());
  if (!wire::is_binary(bytes)) {
    text_ = text_left_ = bytes;
    plain_.begin(bytes);
    return;
  }
  const auto opened = wire::DatagramReader::open(datagram.bytes);
  if (!opened) return reject(kWholeDatagram, opened.error());
  messages_ = opened.value();
}

bool Dispatcher::resume(const Until& until) {
  until_ = &until;
  const bool is_done = messages_ ? take_binary(until) : take_text(until);
  write_changes();
  if (!is_done) return false;
  note_beside_lanes();
  // Before the answers: a request that was answered must not be carried out again. One whose answer
  // a kill prevents is asked again by its sender.
  InputJournal::finish(record_);
  if (journal_) journal_->note_done(place_);
  send_responses();
  origin_ = nullptr;
  return true;
}

Dispatcher::PutOff Dispatcher::put_off() {
  note_beside_lanes();
  send_responses();
  origin_ = nullptr;
  const auto at = [&](std::size_t left) {
    return static_cast<std::uint32_t>(bytes_.size() - left);
  };
  if (!messages_) return {{text_left_.begin(), text_left_.end()}, at(text_left_.size())};
  const auto header = bytes_.first(wire::kHeaderBytes);
  PutOff off{{header.begin(), header.end()}, at(messages_->rest().size())};
  off.rest.insert(off.rest.end(), messages_->rest().begin(), messages_->rest().end());
  return off;
}

// The answers to its requests were sent, or their senders ask again.
void Dispatcher::replay(const Datagram& datagram, Timestamp now, std::uint64_t place, Again again) {
  constexpr Until kNever{std::chrono::nanoseconds::max()};
  replayed_from_ = datagram.origin;
  origin_ = &replayed_from_;
  commands_ = Commands::kCarriedOut;
  responses_.begin(replayed_from_);
  call_ = {.sender = {datagram.origin.uid, datagram.origin.pid}, .now = now, .is_late = &is_late_};
  reports_ = again == Again::kSamples ? kReportsPerDatagram : 0;
  told_stale_ = false;
  is_of_kernel_ = false;
  record_ = nullptr;
  is_replaying_ = true;
  are_answers_full_ = false;
  replays_samples_ = again == Again::kSamples;
  begin_bytes(datagram, place);
  while (!resume(kNever)) {
  }
  is_replaying_ = replays_samples_ = false;
}

void Dispatcher::end_replay() { send_responses(); }

void Dispatcher::add_again(const wire::Request& request) {
  const auto line = wire::parse_line(request.text);
  if (!line) return;
  const auto* const sample = std::get_if<wire::SampleLine>(&line.value());
  if (sample) (void)add_one(*sample, request.text);
}

InputSpan Dispatcher::next_span(std::size_t of_rest) {
  if (place_ == 0) return {};
  const std::size_t rest = messages_ ? messages_->rest().size() : text_left_.size();
  const std::size_t left = rest - std::min(rest, of_rest);
  const std::uint64_t until = place_ + (bytes_.size() - left);
  return {std::exchange(taken_to_, until), until};
}

bool Dispatcher::take_text(const Until& until) {
  for (unsigned lines = 1; !text_left_.empty(); ++lines) {
    if (others_in_a_row_ < kOthersInARow) {
      text_left_.remove_prefix(plain_.take(text_left_, call_.now.monotonic, named_));
    }
    bool may_be_long = named_.full();
    if (may_be_long) {
      flush_named();
    } else if (!text_left_.empty()) {
      const std::size_t end = std::min(text_left_.find('\n'), text_left_.size());
      const Took took = take_line(text_left_.substr(0, end));
      if (took != Took::kCutCommand) text_left_.remove_prefix(std::min(end + 1, text_left_.size()));
      may_be_long = took != Took::kLine;
      if (may_be_long) write_some_changes();
    }
    if (!text_left_.empty() && (may_be_long || lines % kBetweenLooks == 0) && is_past(until)) break;
  }
  flush_named();
  return text_left_.empty();
}

bool Dispatcher::take_binary(const Until& until) {
  auto before = *messages_;
  for (unsigned messages = 1; const auto message = messages_->next(); ++messages) {
    const bool is_request = *message && std::holds_alternative<wire::Request>(message->value());
    if (!*message) {
      reject(kMessage, message->error(), wire::refused_samples(before.rest()));
    } else if (!take_message(message->value())) {
      *messages_ = before;
    }
    before = *messages_;
    if (is_request) write_some_changes();
    if ((is_request || messages % kBetweenLooks == 0) && is_past(until)) return false;
  }
  return true;
}

Dispatcher::Took Dispatcher::take_line(std::string_view line) {
  const auto parsed = wire::parse_line(line, text_.data() + text_.size());
  ++others_in_a_row_;
  if (!parsed) {
    reject(line, parsed.error());
  } else if (const auto* const sample = std::get_if<wire::SampleLine>(&parsed.value())) {
    if (sample->decimal.empty()) others_in_a_row_ = 0;
    push_named(*sample);
  } else if (replays_samples_) {
    return Took::kLine;
  } else if (const auto* const wanted = std::get_if<wire::DescriptorLine>(&parsed.value())) {
    reject(line,
           {ErrorCode::kInvalid,
            std::string(wanted->subject) + " for a binary request, which can be answered", 0});
  } else {
    return take_command(parsed.value(), line);
  }
  return Took::kLine;
}

// In the order in which they stand: a sample before a remove counts.
Dispatcher::Took Dispatcher::take_command(const wire::Line& command, std::string_view line) {
  flush_named();
  const auto done = execute(command, line, Call::Response::kNone);
  if (!done) reject(line, done.error());
  return done && done.value().is_cut ? Took::kCutCommand : Took::kCommand;
}

void Dispatcher::flush_named() {
  if (named_.empty()) return;
  const statistics::Taken taken = statistics_.add(named_, origin_->uid, call_.now, next_span());
  count(taken);
  counts_.add("rejects", taken.rejects);
  for (const statistics::Taken::Rejected& rejected : taken.rejected) {
    if (!has_room_to_report()) break;
    const std::string_view path = named_.path(rejected.index);
    const std::string_view line = line_around(text_, path);
    report(line, error_in(line, path, rejected.error));
  }
  named_.clear();
}

bool Dispatcher::take_message(const wire::Message& message) {
  if (replays_samples_ && !std::holds_alternative<wire::PackedSamples>(message)) {
    if (const auto* const request = std::get_if<wire::Request>(&message)) add_again(*request);
    return true;
  }
  bool is_taken = true;
  std::visit(
      Overloaded{[&](const wire::PackedSamples& samples) { take_samples(samples); },
                 [&](const wire::Request& request) { is_taken = take_request(request); },
                 [&](const wire::Dropped& dropped) { count_dropped(dropped); },
                 [&](const wire::Binding& binding) { take_binding(binding); },
                 [&](const wire::Doorbell& doorbell) { take_doorbell(doorbell); },
                 [&](const wire::Response&) {
                   reject(kMessage, {ErrorCode::kInvalid, "answers come from the daemon only"});
                 },
                 [&](const auto&) { take_by_branch(message); }},
      message);
  return is_taken;
}

void Dispatcher::take_samples(const wire::PackedSamples& samples) {
  const auto taken = has_our_epoch()
                         ? statistics_.add(samples, origin_->uid, call_.now, next_span())
                         : Result<statistics::Taken>(stale("samples"));
  if (!taken) {
    if (taken.error().code != ErrorCode::kStale || is_news(samples.number())) {
      return refuse_numbered(taken.error(), 0, samples.count());
    }
    counts_.add("rejects", samples.count());
    return respond_stale(taken.error(), 0);
  }
  beside_lanes_ += taken.value().beside_lanes;
  count(taken.value());
}

void Dispatcher::take_by_branch(const wire::Message& message) {
  const auto done = hand_to_branch(message);
  if (done) counts_.add(done.value().counted.what, done.value().counted.count);
  if (const auto* const given = std::get_if<wire::Template>(&message)) {
    return respond(given->sequence, kMessage, done);
  }
  if (done) return;
  const auto named = named_by(message);
  if (!named) return reject(kMessage, done.error(), call_.refused);
  refuse_numbered(done.error(), named->number);
}

Result<Done> Dispatcher::hand_to_branch(const wire::Message& message) {
  call_.refused = 1;
  Branch* const branch = messages_to_[message.index()].branch;
  if (!branch) return Error{ErrorCode::kNotFound, "this daemon does not take such messages"};
  const auto named = named_by(message);
  is_of_kernel_ |= has_kernel_events(message);
  if (named && !has_our_epoch()) return stale(named->what);
  return branch->take(message, call_);
}

bool Dispatcher::take_request(const wire::Request& request) {
  take_rings_of_sender();
  auto line = wire::parse_line(request.text);
  if (!line) {
    respond(request.sequence, request.text, line.error().error());
  } else if (const auto* const wanted = std::get_if<wire::DescriptorLine>(&line.value())) {
    respond_with(*wanted, request);
  } else {
    return take_command(line.value(), request);
  }
  return true;
}

bool Dispatcher::take_command(wire::Line& line, const wire::Request& request) {
  if (auto* const command = std::get_if<wire::CommandLine>(&line)) command->door = request.door;
  const auto done = execute(line, request.text, Call::Response::kSent);
  if (done && done.value().is_cut) return false;
  respond(request.sequence, request.text, done);
  return true;
}

void Dispatcher::respond(std::uint32_t sequence, std::string_view text, const Result<Done>& done) {
  if (done) {
    const Done& what = done.value();
    wire::Response response{.sequence = sequence,
                            .number = what.number,
                            .made = what.made,
                            .text = what.text,
                            .decimals = what.decimals};
    const std::string_view warning(what.warning);
    if (!warning.empty()) response.text = warning.substr(0, wire::kReasonBytesMax);
    if (what.text) {
      add_response_alone(response);
    } else {
      add_response(response);
    }
  } else {
    reject(text, done.error());
    respond_refused(sequence, done.error());
  }
}

void Dispatcher::add_response(const wire::Response& response) {
  if (is_replaying_ && are_answers_full_) return;  // it is asked again
  are_answers_full_ = !responses_.add(response);
  if (are_answers_full_ && !is_replaying_) send_responses();
}

void Dispatcher::add_response_alone(const wire::Response& response, int attached) {
  if (is_replaying_) return;  // it is asked again
  write_changes();
  responses_.add_alone(response, attached);
}

void Dispatcher::send_responses() {
  if (is_replaying_) return;
  write_changes();
  responses_.send();
}

// A long one is charged like a command. The first save of all is not the doing of its sender.
void Dispatcher::write_changes() {
  commands_unwritten_ = 0;
  if (is_replaying_) return;
  if (!statistics_.changes().has_changes()) [[likely]]
    return;
  costs_.begin();
  const Timestamp begun = clock_.now();
  const bool is_charged = statistics_.changes().write(begun);
  const auto took = clock_.now().monotonic - begun.monotonic;
  are_writes_long_ = took >= kLongWrite;
  if (is_charged) costs_.add_write(took);
}

// One write for many commands is cheaper, but a turn cannot end within it: while writes take long,
// the time is looked at after each.
void Dispatcher::write_some_changes() {
  if (++commands_unwritten_ >= kCommandsOfAWrite || are_writes_long_) write_changes();
}

Result<Done> Dispatcher::execute(const wire::Line& line, std::string_view text,
                                 Call::Response response) {
  if (const auto* const sample = std::get_if<wire::SampleLine>(&line)) {
    return add_one(*sample, text);
  }
  if (std::holds_alternative<wire::BlankLine>(line)) return Done{};
  const Route& route = lines_[line.index()];
  if (!route.branch) return Error{ErrorCode::kNotFound, "this daemon has no such command", 0};
  take_rings_before(line);
  call_.response = response;
  const std::uint64_t before = taken_to_;
  call_.at = next_span(messages_ ? 0 : text.size() + 1);  // a line of text is still in the rest
  auto done = hand_to(route, line);
  if (done && done.value().is_cut) {
    taken_to_ = before;
    return done;
  }
  call_.progress = {};
  if (done) counts_.add(done.value().counted.what, done.value().counted.count);
  return done;
}

Result<Done> Dispatcher::hand_to(const Route& route, const wire::Line& line) {
  if (!route.is_metered) return route.branch->execute(line, call_);
  if (commands_ == Commands::kRefused) return no_room();
  costs_.begin();
  const auto begun = clock_.now().monotonic;
  auto done = route.branch->execute(line, call_);
  costs_.add(clock_.now().monotonic - begun);
  return done;
}

Result<Done> Dispatcher::add_one(const wire::SampleLine& sample, std::string_view text) {
  push_named(sample);
  const statistics::Taken taken = statistics_.add(named_, origin_->uid, call_.now, next_span());
  named_.clear();
  count(taken);
  if (!taken.rejected.empty()) return error_in(text, sample.path, taken.rejected.front().error);
  return Done{};
}

void Dispatcher::count(const statistics::Taken& taken) {
  counts_.add("samples", taken.samples);
  counts_.add("rounded", taken.rounded);
  counts_.add("saturations", taken.saturated.size());
  for (const std::string& name : taken.saturated) {
    if (saturated_.size() < kSaturatedMax) saturated_.push_back(name);
  }
}

void Dispatcher::publish_counts(Timestamp now) {
  const Responses::Counts responses = responses_.take_counts();
  counts_.add("answers_dropped", responses.dropped);
  counts_.add("answers_over_share", responses.over_share);
  counts_.add("rejects", statistics_.take_refused_in_cells());
  if (lanes_) lanes_->publish_counts(now, drop_claims_);
  if (channels_) publish_channels(now);
  counts_.publish(statistics_.counters(), now);
}

}  // namespace tallyfs
