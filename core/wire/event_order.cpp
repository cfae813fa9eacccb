#include "core/wire/event_order.h"

#include <algorithm>
#include <utility>

#include "core/wire/order_text.h"

namespace tallyfs::wire {
namespace {

// KEY=0 or KEY=1
std::optional<bool> take_switch(Tokens& tokens, std::string_view key) {
  const auto token = tokens.next();
  if (!token || token->text.size() != key.size() + 2 || !token->text.starts_with(key) ||
      token->text[key.size()] != '=') {
    return std::nullopt;
  }
  const char value = token->text.back();
  if (value != '0' && value != '1') return std::nullopt;
  return value == '1';
}

std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

std::optional<std::vector<pid_t>> parse_without(std::string_view line) {
  constexpr std::string_view kKey = "without=";
  Tokens tokens(line);
  const auto token = tokens.next();
  if (!token || !token->text.starts_with(kKey) || tokens.next()) return std::nullopt;
  std::vector<pid_t> pids;
  for (std::string_view rest = token->text.substr(kKey.size()); !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    const auto pid = parse_unsigned(word);
    if (!pid || *pid > INT32_MAX) return std::nullopt;
    pids.push_back(static_cast<pid_t>(*pid));
  }
  return pids;
}

std::optional<WatchedEvent> parse_watched(std::string_view line) {
  Tokens tokens(line);
  const auto id = take_number(tokens);
  const auto on = take_switch(tokens, "on");
  const auto stack = take_switch(tokens, "stack");
  const auto comm = take_switch(tokens, "comm");
  if (!id || *id > UINT32_MAX || !on || !stack || !comm) return std::nullopt;
  return WatchedEvent{.id = static_cast<std::uint32_t>(*id),
                      .on = *on,
                      .stack = *stack,
                      .comm = *comm,
                      .filter = std::string(behind_blank(tokens))};
}

std::string print(const WatchedEvent& event) {
  std::string line = "\n" + std::to_string(event.id);
  line += event.on ? " on=1" : " on=0";
  line += event.stack ? " stack=1" : " stack=0";
  line += event.comm ? " comm=1 " : " comm=0 ";
  const bool fits =
      event.filter.size() <= kOrderFilterBytesMax && event.filter.find('\n') == std::string::npos;
  return fits ? line + event.filter : line;
}

}  // namespace

std::string print(const EventsOrder& order, std::size_t& taken) {
  std::string text = "events " + std::to_string(order.number) + " without=";
  for (const pid_t pid : order.without) text += std::to_string(pid) + ",";
  if (text.back() == ',') text.pop_back();
  for (taken = 0; taken < order.events.size(); ++taken) {
    const std::string line = print(order.events[taken]);
    if (text.size() + line.size() > kEventOrderBytesMax) break;
    text += line;
  }
  return text;
}

std::string print(const EventsOrder& order) {
  std::size_t taken = 0;
  return print(order, taken);
}

std::string print(const PlaceOrder& order) {
  return "place " + std::to_string(order.number) + " " + std::to_string(order.address);
}

std::string print(const Placed& reply) {
  return "placed " + std::to_string(reply.number) + " " + std::to_string(reply.offset) + " " +
         std::to_string(reply.size) + " " + (reply.module.empty() ? "-" : reply.module) + " " +
         reply.name;
}

std::string print(const TextsOrder& order) { return "texts " + std::to_string(order.number); }

std::string print(const Texts& reply) {
  std::string_view lines = reply.printk_formats;
  lines = lines.substr(0, kTextsBytesMax);
  lines = lines.substr(0, lines.rfind('\n') + 1);
  return "texts " + std::to_string(reply.number) + "\n" + std::string(lines);
}

std::optional<EventsOrder> parse_events_order(std::uint64_t number, std::string_view text) {
  auto without = parse_without(take_line(text));
  if (!without) return std::nullopt;
  EventsOrder order{.number = number, .without = std::move(*without), .events = {}};
  while (!text.empty()) {
    auto event = parse_watched(take_line(text));
    if (!event) return std::nullopt;
    order.events.push_back(std::move(*event));
  }
  return order;
}

std::optional<PlaceOrder> parse_place_order(std::uint64_t number, std::string_view text) {
  Tokens tokens(text);
  const auto address = take_number(tokens);
  if (!address || tokens.next()) return std::nullopt;
  return PlaceOrder{number, *address};
}

std::optional<Placed> parse_placed(std::uint64_t number, std::string_view text) {
  Tokens tokens(text);
  const auto offset = take_number(tokens);
  const auto size = take_number(tokens);
  const auto module = tokens.next();
  const auto name = tokens.next();
  if (!offset || !size || !module || tokens.next()) return std::nullopt;
  return Placed{.number = number,
                .offset = *offset,
                .size = *size,
                .module = module->text == "-" ? "" : std::string(module->text),
                .name = name ? std::string(name->text) : ""};
}

Texts parse_texts(std::uint64_t number, std::string_view text) {
  (void)take_line(text);
  return {number, std::string(text)};
}

}  // namespace tallyfs::wire
