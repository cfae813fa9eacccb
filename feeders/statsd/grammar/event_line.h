// The lines of DogStatsD that are no metrics:
//
//   event = "_e{" n "," m "}:" title "|" text *( "|" field )      d: h: k: p: s: t: # c: e: card:
//   check = "_sc|" name "|" status *( "|" field )                 d: h: # m: c: e: card:
//
// n and m are bytes. If `|` is not where n says, characters are tried and then UTF-16 units. Pure
// functions; the texts of an Event are copies, since `\n`, two bytes, becomes a line break.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "feeders/statsd/grammar/refusal.h"

namespace tallyfs::statsd {

struct Event {
  std::string title;
  std::string text;
  std::string_view host{};
  std::string_view key{};
  std::string_view source{};
  std::string_view priority{};
  std::string_view alert{};
  std::string_view tags{};
  std::string_view container{};
  bool are_lengths_guessed = false;
};

struct Check {
  std::string_view name;
  std::int64_t status = 0;
  std::string_view host{};
  std::string message{};
  std::string_view tags{};
  std::string_view container{};
  std::optional<std::int64_t> seconds{};  // of d:, since the epoch
};

inline bool is_event(std::string_view line) { return line.starts_with("_e{"); }
inline bool is_check(std::string_view line) { return line.starts_with("_sc|"); }

// line: is_event(); with the blanks at its end, which may belong to the text.
std::optional<Refusal> parse_event(std::string_view line, Event& event);
// line: is_check().
std::optional<Refusal> parse_check(std::string_view line, Check& check);

}  // namespace tallyfs::statsd
