// The protocol between the daemon and the feeder of the kernel's events that it has started, over a
// socket that only the two have: one datagram of text each.
//
//   daemon   want NUMBER wakeups=0|1 timers=0|1 sections=0|1 wakeup_pid=PID timer_pid=PID
//            without=PID,...                  for tracing/latency_hist
//   daemon   events, place, texts             for tracing/events: see event_order.h
//   daemon   probe, unprobe, probes, find, profile   for probes: see probe_order.h
//   daemon   drain NUMBER
//   daemon   end NUMBER                       no response: the next feeder records on
//   feeder   hello PID [REASON]               it is that process; its offers have been sent to the
//                                             socket. REASON: why there are none
//   feeder   done NUMBER
//   feeder   failed NUMBER ERRNO REASON       ERRNO: a name of error_names.h
//   supervisor  gone REASON                   the feeder has ended
//
// A reason is escaped and cut as it is read.
// Pure functions; what an Order or a Reply views lasts as long as the text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/model/wanted_events.h"
#include "core/wire/event_order.h"
#include "core/wire/probe_order.h"

namespace tallyfs::wire {

inline constexpr std::size_t kOrderBytesMax = kEventOrderBytesMax;

struct WantOrder {
  std::uint64_t number = 0;
  WantedEvents events;
  std::vector<pid_t> without;  // the daemon's own threads: their wakeups are left out
};
struct DrainOrder {
  std::uint64_t number = 0;
};
struct EndOrder {
  std::uint64_t number = 0;
};
using Order = std::variant<WantOrder, DrainOrder, EndOrder, EventsOrder, PlaceOrder, TextsOrder,
                           ProbeOrder, UnprobeOrder, ProbesOrder, FindOrder, ProfileOrder>;

struct Hello {
  pid_t pid = 0;
  std::string without_events{};  // the reason; empty: it has offered some
};
struct Done {
  std::uint64_t number = 0;
};
struct Failed {  // kBusy: a drain that was given up
  std::uint64_t number = 0;
  Error error;
};
struct Gone {
  std::string reason;
};
using Reply = std::variant<Hello, Done, Failed, Gone, Placed, Texts, Probed, Refused, Found,
                           Profiled, Working>;

std::string print(const WantOrder& order);
std::string print(const DrainOrder& order);
std::string print(const EndOrder& order);
std::string print(const Hello& reply);
std::string print(const Done& reply);
std::string print(const Failed& reply);
std::string print(const Gone& reply);

// nullopt: it is no such text.
std::optional<Order> parse_order(std::string_view text);
std::optional<Reply> parse_reply(std::string_view text);

}  // namespace tallyfs::wire
