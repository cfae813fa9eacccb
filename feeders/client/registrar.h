// Tells the daemon of what is in the Registry, and takes its answers: numbers, refusals, the page
// of switches, and how much of what was sent it has taken in.
//
// It has one datagram of requests on its way at a time, whose answers fit into the queue in which
// they arrive, which may be as short as ten; an answer that does not come within kAnswerWait is
// asked for again. What is refused is asked for again after kRefusedPause.
//
// Confined to whoever holds the Client's lock.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/wire/binary.h"
#include "feeders/client/link.h"
#include "feeders/client/registry.h"
#include "feeders/client/switches.h"

namespace tallyfs {

class Registrar {
 public:
  using Time = std::chrono::nanoseconds;
  // Answers come in microseconds, unless the daemon hangs or had no room for them.
  static constexpr Time kAnswerWait = std::chrono::seconds(1);
  static constexpr Time kRefusedPause = std::chrono::seconds(10);
  // Removals that wait for room; the oldest of more are forgotten, and stay in the tree.
  static constexpr std::size_t kRemovalsMax = 1024;

  struct Events {
    // Another daemon answers, or the same one no longer knows numbers it gave: all of them are to
    // be forgotten, together, before anything else is sent.
    std::function<void(std::uint64_t epoch)> other_epoch;
    // All samples sent before the request `ping` was sent have been taken in; or, with stale set,
    // some of them named a statistic that is gone.
    std::function<void(std::uint64_t sent_before, bool stale)> confirmed;
    std::function<void(std::string)> report;
    // Nothing is known of the daemon any more: it is another, or the connection is.
    std::function<void()> begun = [] {};
    // An answer to a request whose sequence number has kOthers; with id 0, that a blob was for a
    // number which names nothing.
    std::function<void(std::uint32_t id, const wire::Answer& answer)> other_answer =
        [](std::uint32_t, const wire::Answer&) {};
  };
  // Of requests that are not the Registrar's; below it is room for an id.
  static constexpr std::uint32_t kOthers = 6u << 29;
  // Of those, the ids of an EventFeed's; those of the Publisher are below.
  static constexpr std::uint32_t kEventIds = 1u << 28;

  Registrar(Registry& registry, Link& link, Switches& switches, Events events);

  // On a new connection: nothing is known.
  void begin();
  // Takes the answers that are there.
  void take_answers(Time now);
  // Asks for what is not known, as far as there is room, and passes on what is to be removed;
  // changes of statistics too, unless samples have to go first.
  enum class Changes { kLater, kToo };
  void ask(Time now, Changes changes = Changes::kToo);
  // Changes of statistics have not been sent yet, and will be.
  bool has_pending();
  // Asks how far the daemon is; sent: how many samples have been sent so far.
  void ping(Time now, std::uint64_t sent);
  // Passes on what is pending of this statistic at once, if that is possible, else when it is.
  // Until the daemon has answered its switch is as the feeder wants it.
  void define(FedStatistic& statistic, Time now, Pending part = Pending::kAll);
  // What is removed: the daemon is neither told nor asked of it again, and its samples are dropped.
  static void forget(FedStatistic& statistic);
  static void forget(FedInterface& interface);
  // `target` is INTERFACE or INTERFACE/STATISTIC.
  void remove(const std::string& target);
  // Something of the registry may be unknown or pending.
  void note_change() { changed_ = true; }
  // The page says which statistics are gone: those only are void.
  void look_for_void();

  // Requests are on their way.
  bool is_waiting() const { return asked_ != 0 || ping_asked_; }
  // All is known, or refused, and nothing is pending.
  bool is_settled() const { return asked_ == 0 && !changed_; }
  std::uint64_t epoch() const { return epoch_; }
  // The errno with which the first of the interfaces that the daemon refused was refused, else that
  // of the first of the statistics, or of the last change of it; 0: none was.
  int refusal() const;

 private:
  // A sequence number is one of these and an id.
  enum class Subject : std::uint32_t {
    kSwitches = 0,
    kInterface = 1u << 29,
    kStatistic = 2u << 29,
    kDefine = 3u << 29,
    kRemove = 4u << 29,
    kPing = 5u << 29,
    kOther = kOthers,
  };

  bool has_room_for(std::string_view text) const;
  void add_request(Subject subject, std::uint32_t id, std::string_view text);
  void ask_for_interfaces();
  void ask_for_statistics();
  void add_pending();
  void note_asked(FedStatistic& statistic, Pending part);
  void add_removals();
  void send_requests(Time now);
  void forget_refusals();
  void report_silence();
  void give_up_asking();
  void take(const wire::Answer& answer, const Fd& attached, Time now);
  void take_defined(FedStatistic& statistic, const wire::Answer& answer);
  void take_switches(const wire::Answer& answer, const Fd& page);
  void take_interface(FedInterface& interface, const wire::Answer& answer, Time now);
  void take_statistic(FedStatistic& statistic, const wire::Answer& answer, Time now);
  void take_stale();
  void refused(const std::string& what, const wire::Answer& answer, Time now);
  void point_at_switch(FedStatistic& statistic);

  Registry& registry_;
  Link& link_;
  Switches& switches_;
  const Events events_;

  std::uint64_t epoch_ = 0;  // the daemon's, with its first answer
  wire::DatagramWriter requests_;
  // What is in it.
  struct Added {
    std::uint32_t requests = 0;
    std::vector<FedStatistic*> changes;
    std::ptrdiff_t removals = 0;
  } added_;
  bool changed_ = false;
  Standing page_ = Standing::kUnknown;  // of switches
  std::uint32_t asked_ = 0;             // requests on their way
  Time asked_at_{0};
  Time retry_refused_at_{0};
  bool some_refused_ = false;
  std::deque<std::string> removals_;
  bool was_connected_ = false;
  bool told_silence_ = false;

  bool ping_asked_ = false;
  std::uint32_t ping_id_ = 0;
  std::uint64_t ping_sent_ = 0;
  Time ping_at_{0};
  bool stale_ = false;  // since the last ping was answered
};

}  // namespace tallyfs
