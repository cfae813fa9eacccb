// Orders and questions of the daemon to the feeder of the kernel's events for tracing/events
// (order.h has the rest of their protocol). One datagram of text each:
//
//   daemon   events NUMBER without=PID,...
//            ID on=0|1 stack=0|1 comm=0|1 FILTER        one line for each event that changes. An
//            order without events ends the orders that a new feeder gets for its predecessor's
//   daemon   place NUMBER ADDRESS                       what symbol is there?
//   feeder   placed NUMBER OFFSET SIZE MODULE NAME      `-` for no module; no NAME: none
//   daemon   texts NUMBER                               what texts are in the kernel's memory?
//   feeder   texts NUMBER
//            the lines of the kernel's printk_formats, at most kTextsBytesMax
//
// ADDRESS, OFFSET and SIZE are in bytes; OFFSET counts from the symbol's start.
//
// Pure functions. An order has at most kEventOrderBytesMax bytes: print() includes as many events
// as fit.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tallyfs::wire {

inline constexpr std::size_t kEventOrderBytesMax = 64 * 1024;
// The longest filter of an event. A longer one is left out: the daemon filters the records anyway.
inline constexpr std::size_t kOrderFilterBytesMax = 4'000;

inline constexpr std::size_t kTextsBytesMax = 60'000;

// How an event is recorded from now on.
struct WatchedEvent {
  std::uint32_t id = 0;
  bool on = false;
  bool stack = false;
  bool comm = false;
  std::string filter = {};  // without newlines; empty: all records

  bool operator==(const WatchedEvent&) const = default;
};

struct EventsOrder {
  std::uint64_t number = 0;
  std::vector<pid_t> without;  // processes to leave out
  std::vector<WatchedEvent> events;
};

struct PlaceOrder {
  std::uint64_t number = 0;
  std::uint64_t address = 0;
};

struct Placed {
  std::uint64_t number = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::string module = {};
  std::string name = {};
};

struct TextsOrder {
  std::uint64_t number = 0;
};

struct Texts {
  std::uint64_t number = 0;
  std::string printk_formats = {};
};

// Sets `taken` to the number of events that fit: the text has the first `taken` of them.
std::string print(const EventsOrder& order, std::size_t& taken);
// For an order whose events all fit.
std::string print(const EventsOrder& order);
std::string print(const PlaceOrder& order);
std::string print(const Placed& reply);
std::string print(const TextsOrder& order);
std::string print(const Texts& reply);  // the lines that fit

// text: what follows the verb and the number. nullopt: it is no such text.
std::optional<EventsOrder> parse_events_order(std::uint64_t number, std::string_view text);
std::optional<PlaceOrder> parse_place_order(std::uint64_t number, std::string_view text);
std::optional<Placed> parse_placed(std::uint64_t number, std::string_view text);
Texts parse_texts(std::uint64_t number, std::string_view text);

}  // namespace tallyfs::wire
