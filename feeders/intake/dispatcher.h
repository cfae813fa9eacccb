// From bytes to branches: takes a datagram apart, text or binary, finds the branch of each line and
// message, responds to requests, and counts and reports what is wrong. Samples of statistics go to
// StatisticsBranch directly, in batches: no allocation, no virtual call and no look-up by string
// for a binary sample; neither for a text sample, except the look-up of its name.
//
// Confined to the thread that has the intake's turn.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/clock.h"
#include "core/branch/branch.h"
#include "core/branch/daemon_counters.h"
#include "core/statistics/branch/statistics_branch.h"
#include "core/tree/error_log.h"
#include "core/wire/binary.h"
#include "core/wire/line.h"
#include "core/wire/named_samples.h"
#include "core/wire/plain_samples.h"
#include "feeders/intake/answer_channels.h"
#include "feeders/intake/command_costs.h"
#include "feeders/intake/fair_share/accounts.h"
#include "feeders/intake/fair_share/drop_claims.h"
#include "feeders/intake/input_journal.h"
#include "feeders/intake/lanes.h"
#include "feeders/intake/receiver.h"
#include "feeders/intake/responses.h"

namespace tallyfs {

class Dispatcher {
 public:
  // A datagram full of garbage is counted line by line but shown by its first ones only.
  static constexpr unsigned kReportsPerDatagram = ErrorLog::kSocketEntries;

  // Names of interfaces kept for the log between two take_saturated().
  static constexpr std::size_t kSaturatedMax = 8;

  // Feeders that ask for `switches` or `shapes` get this page.
  struct SharedPage {
    int fd = -1;  // -1: there is none
    std::uint64_t bytes = 0;
  };

  // Drawn at random by each daemon; see FORMAT.md.
  static std::uint64_t draw_epoch();

  // Where everything goes. All outlive the dispatcher; the list itself is read at once.
  // Two branches that handle the same alternative of Line or Message are a broken invariant, which
  // aborts.
  struct Dependencies {
    statistics::StatisticsBranch& statistics;  // also one of the branches
    std::span<Branch* const> branches;
    ErrorLog& errors;
    const Clock& clock;
    SharedPage switches = {};
    SharedPage shapes = {};
    Lanes* lanes = nullptr;                    // without it, no feeder gets a lane
    const AnswerChannels* channels = nullptr;  // without it, all are answered at their addresses
    int sock_diag = -1;  // a netlink socket that was passed; -1: there is none
    std::uint64_t epoch = draw_epoch();
  };

  // fd: where responses are sent from.
  Dispatcher(int fd, const Dependencies& dependencies);

  // Datagrams are begun, and finished, in this journal, too, which outlives this.
  void note_in(InputJournal& journal) { journal_ = &journal; }

  // Begins with a datagram that arrived at `now`; it must stay where it is until it is done, or put
  // off. A rest is what put_off() returned, whose first line had come so far.
  enum class Piece { kWhole, kRest };
  // kRefused: its commands that are metered (Branch::Handled) are refused, since the sender's fill
  // the bytes that may be put off.
  enum class Commands { kCarriedOut, kRefused };
  void begin(const Datagram& datagram, Timestamp now, Piece piece = Piece::kWhole,
             Commands commands = Commands::kCarriedOut, const LineProgress& progress = {});
  // How long resume() works: until then, or until the turn is wanted, which is looked at as often.
  struct Until {
    std::chrono::nanoseconds deadline;
    const std::atomic<int>* wanted = nullptr;
  };
  // Works on it, line by line or message by message. False if that came first: then it is to be
  // called again. Does at least one line or message.
  bool resume(const Until& until);
  bool is_past(const Until& until) const {
    if (until.wanted && until.wanted->load(std::memory_order_relaxed) != 0) return true;
    return clock_.now().monotonic >= until.deadline;
  }
  // Between begin() and the resume() that returned true.
  bool is_busy() const { return origin_ != nullptr; }
  // Returns the unprocessed rest of the current datagram, and ends it. Requires is_busy(). at: the
  // byte where the rest begins.
  struct PutOff {
    std::vector<char> rest;
    std::uint32_t at = 0;
  };
  PutOff put_off();
  // Takes in again what the server before had taken in of a datagram, from this place on. kSamples:
  // its commands and events are not carried out, and what is wrong in it is not told again.
  enum class Again { kAll, kSamples };
  void replay(const Datagram& datagram, Timestamp now, std::uint64_t place, Again again);
  // Behind the last one: saves what commands have changed, and answers them. A kill before that
  // finds the state as it was, for another replay.
  void end_replay();
  // Returns the progress of the first line that put_off() has left.
  const LineProgress& progress() const { return call_.progress; }
  // Returns the cost of the commands that resume() has carried out on this thread since the last
  // call.
  std::chrono::nanoseconds take_costs() { return costs_.take(); }
  // Whether the datagram that was last at hand has events of the kernel.
  bool is_of_kernel() const { return is_of_kernel_; }
  void count_put_off() { counts_.add("put_off"); }
  // A datagram that was put off, or for which there was no room, is dropped unread.
  void count_put_off_dropped(Piece piece);
  void report_put_off_dropped(const Origin& sender, Timestamp now);

  // Interfaces in which a counter reached its end since the last call, for the log.
  bool has_saturated() const { return !saturated_.empty(); }
  std::vector<std::string> take_saturated();

  // ---- rings of feeders; what is not here takes none

  bool has_rings() const { return lanes_ && lanes_->has_rings(); }
  // There were records lately.
  bool has_busy_rings() const { return has_rings() && lanes_->are_busy(clock_.now().monotonic); }
  // A feeder has said that a ring of its is half full, since note_ring_heads(), or said so before
  // and was cut.
  bool has_rung() const { return has_rung_; }
  // As those of Lanes.
  void note_ring_heads(Lanes::Which which = Lanes::Which::kAll,
                       const InterfaceFilter& of = InterfaceFilter::all()) {
    has_rung_ = lanes_ && !lanes_->note_heads(which, of);
  }
  LaneRings::Done take_rings(std::chrono::nanoseconds deadline,
                             Lanes::Which which = Lanes::Which::kAll,
                             const InterfaceFilter& of = InterfaceFilter::all()) {
    if (!lanes_) return {};
    const LaneRings::Done done = lanes_->take(deadline, which, of);
    if (!done.all) note_rings_cut();
    return done;
  }
  // A lane whose bell was heard, and that was cut, is to be continued.
  void note_rings_cut() { has_rung_ = has_rung_ || lanes_->has_rung(); }
  // Enters what was counted since the last time into the daemon's own numbers.
  void publish_counts(Timestamp now);

  std::uint64_t epoch() const { return epoch_; }

  // Saves what it knows of senders, for the next server of the mount. load() fails the reader.
  void save(ByteWriter& out) const {
    drop_claims_.save(out);
    responses_.save(out);
  }
  void load(ByteReader& in) {
    channels_shown_.reset();
    drop_claims_.load(in);
    responses_.load(in);
  }

 private:
  // How long rings are read before a request or a definition, at most: as long as a reader's drain.
  static constexpr std::chrono::milliseconds kRingsMax = Accounts::kAllowance;
  // The error log shows this for messages, which have no text.
  static constexpr std::string_view kMessage = "(a binary message)";
  static constexpr std::string_view kWholeDatagram = "(a datagram)";

  // The branch of a line or message, by the alternative's index; nullptr: no branch takes it.
  struct Route {
    Branch* branch = nullptr;
    bool is_metered = false;
  };

  bool take_text(const Until& until);
  bool take_binary(const Until& until);
  void find_branches(std::span<Branch* const> branches);
  // This says what became of a line. Only a command may take long.
  enum class Took { kLine, kCommand, kCutCommand };
  Took take_line(std::string_view line);
  Took take_command(const wire::Line& command, std::string_view line);
  void push_named(const wire::SampleLine& sample) {
    const Sample pushed{.x = sample.x, .y = sample.y, .time = call_.now.monotonic};
    if (sample.decimal.empty()) return named_.push(sample.path, pushed);
    named_.push_decimal(sample.path, sample.decimal, pushed);
  }
  void flush_named();
  // The part of the datagram from the last one to here, and so many bytes of the rest.
  InputSpan next_span(std::size_t of_rest = 0);
  // A sample that was sent as a request.
  void add_again(const wire::Request& request);
  void begin_bytes(const Datagram& datagram, std::uint64_t place);
  // Here and below, false: it was cut, and is to be taken again.
  bool take_message(const wire::Message& message);
  // The numbers in the current datagram were given by this daemon.
  bool has_our_epoch() const { return messages_->epoch() == epoch_; }
  void take_samples(const wire::PackedSamples& samples);
  void note_beside_lanes();
  bool take_request(const wire::Request& request);
  bool take_command(wire::Line& line, const wire::Request& request);
  // text: what the error log shows of the request.
  void respond(std::uint32_t sequence, std::string_view text, const Result<Done>& done);
  void add_response(const wire::Response& response);
  void add_response_alone(const wire::Response& response, int attached = Responses::kNothing);
  // Behind what commands have changed: a kill of the daemon loses nothing that it has confirmed.
  void send_responses();
  void write_changes();
  // The same after each command, when enough have been carried out.
  void write_some_changes();
  void respond_with(const wire::DescriptorLine& line, const wire::Request& request);
  void take_binding(const wire::Binding& binding);
  void take_doorbell(const wire::Doorbell& doorbell);
  void take_rings_of_sender();
  void take_rings_before(const wire::Line& line);
  void note_rings_taken(const LaneRings::Done& done, std::chrono::nanoseconds begun);
  // Any line but a DescriptorLine.
  Result<Done> execute(const wire::Line& line, std::string_view text, Call::Response response);
  void publish_channels(Timestamp now);
  Result<Done> add_one(const wire::SampleLine& sample, std::string_view text);
  Result<Done> hand_to(const Route& route, const wire::Line& line);
  Result<Done> hand_to_branch(const wire::Message& message);
  void take_by_branch(const wire::Message& message);
  void count_dropped(const wire::Dropped& dropped);
  // number: of the object or event that the message was for; 0: samples were refused.
  // lost: samples that were refused herewith, which count each.
  void refuse_numbered(const Error& error, std::uint64_t number, std::uint64_t lost = 1);
  void respond_stale(const Error& error, std::uint64_t number);
  // error_log has room for it, and was not told lately that this sender's samples of this number
  // were refused.
  bool is_news(std::uint64_t number);
  void respond_refused(std::uint32_t sequence, const Error& error);
  void count(const statistics::Taken& taken);
  void reject(std::string_view text, const Error& error, std::uint64_t count = 1);
  void reject(std::string_view line, const wire::Fault& fault);
  void report(std::string_view text, const Error& error);
  Refusal::Place place_of(std::string_view text) const;
  // error_log takes more of the datagram at hand.
  bool has_room_to_report() const { return reports_ < kReportsPerDatagram; }

  statistics::StatisticsBranch& statistics_;
  ErrorLog& errors_;
  const Clock& clock_;
  const SharedPage switches_;
  const SharedPage shapes_;
  Lanes* const lanes_;
  const AnswerChannels* const channels_;
  std::array<Route, std::variant_size_v<wire::Line>> lines_;
  std::array<Route, std::variant_size_v<wire::Message>> messages_to_;
  const std::uint64_t epoch_;
  // For commands, which resume() bounds.
  const Until* until_ = nullptr;
  const IsLate is_late_ = [this] { return is_past(*until_); };
  Responses responses_;
  PendingCounts counts_;
  DropClaims drop_claims_;
  CommandCosts costs_{clock_};
  std::vector<std::string> saturated_;
  std::optional<std::size_t> channels_shown_ = 0;  // nothing: another server's number is
  bool has_rung_ = false;
  struct Stale {
    pid_t sender = 0;
    std::uint64_t number = 0;  // 0: all numbers of other daemons
    std::chrono::nanoseconds told{0};
  };
  std::array<Stale, 64> stale_{};  // the one told longest ago at next_stale_, if all are in use
  std::size_t next_stale_ = 0;

  // These belong to the current datagram: its unprocessed rest is text, or messages.
  const Origin* origin_ = nullptr;
  Commands commands_ = Commands::kCarriedOut;
  Call call_{.sender = Sender(0), .now = {}};
  std::span<const char> bytes_;
  std::string_view text_;
  std::string_view text_left_;
  std::optional<wire::DatagramReader> messages_;
  InputJournal* journal_ = nullptr;  // nullptr: there is none
  DatagramRecord* record_ = nullptr;
  std::uint64_t place_ = 0;     // of its first byte; 0: there is no journal
  std::uint64_t taken_to_ = 0;  // what is before this place was taken in
  bool is_replaying_ = false;
  bool are_answers_full_ = false;  // of a replay: further ones are dropped
  bool replays_samples_ = false;
  Origin replayed_from_{};
  wire::PlainSamples plain_;  // of text_
  NamedSamples named_;        // from text_
  unsigned reports_ = 0;
  unsigned others_in_a_row_ = 0;     // lines that are no plain samples
  unsigned commands_unwritten_ = 0;  // since write_changes()
  bool are_writes_long_ = false;     // the last one was
  bool told_stale_ = false;
  std::uint64_t beside_lanes_ = 0;  // samples of this datagram
  bool is_of_kernel_ = false;
};

}  // namespace tallyfs
