#include "core/wire/order.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/wire/error_names.h"
#include "core/wire/order_text.h"

namespace tallyfs::wire {
namespace {

bool parse_pid(std::string_view text, pid_t& pid) {
  const auto number = parse_unsigned(text);
  if (!number || *number > INT32_MAX) return false;
  pid = static_cast<pid_t>(*number);
  return true;
}

bool parse_switch(std::string_view text, bool& on) {
  on = text == "1";
  return on || text == "0";
}

bool parse_pids(std::string_view text, std::vector<pid_t>& pids) {
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    pids.emplace_back();
    if (!parse_pid(text.substr(0, comma), pids.back())) return false;
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return true;
}

bool parse_attribute(std::string_view text, WantOrder& order) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) return false;
  const auto key = text.substr(0, equals);
  const auto value = text.substr(equals + 1);
  if (key == "wakeups") return parse_switch(value, order.events.wakeups);
  if (key == "timers") return parse_switch(value, order.events.timers);
  if (key == "sections") return parse_switch(value, order.events.sections);
  if (key == "wakeup_pid") return parse_pid(value, order.events.wakeup_pid);
  if (key == "timer_pid") return parse_pid(value, order.events.timer_pid);
  return key == "without" && parse_pids(value, order.without);
}

std::optional<Order> parse_want(std::uint64_t number, Tokens& tokens) {
  WantOrder order{.number = number};
  while (const auto token = tokens.next()) {
    if (!parse_attribute(token->text, order)) return std::nullopt;
  }
  return order;
}

template <typename Kind>
std::optional<Order> serials_order(std::uint64_t number, std::string_view text) {
  auto serials = parse_serials(text);
  if (!serials) return std::nullopt;
  return Kind{number, std::move(*serials)};
}

std::optional<Reply> parse_failed(std::uint64_t number, Tokens& tokens) {
  const auto name = tokens.next();
  const auto code = name ? code_of(name->text) : std::nullopt;
  if (!code) return std::nullopt;
  return Failed{number, {*code, reason_behind_blank(tokens)}};
}

}  // namespace

std::string print(const WantOrder& order) {
  const WantedEvents& events = order.events;
  std::string text = "want " + std::to_string(order.number);
  text += events.wakeups ? " wakeups=1" : " wakeups=0";
  text += events.timers ? " timers=1" : " timers=0";
  text += events.sections ? " sections=1" : " sections=0";
  text += " wakeup_pid=" + std::to_string(events.wakeup_pid);
  text += " timer_pid=" + std::to_string(events.timer_pid) + " without=";
  for (const pid_t pid : order.without) text += std::to_string(pid) + ",";
  if (text.back() == ',') text.pop_back();
  return text;
}

std::string print(const DrainOrder& order) { return "drain " + std::to_string(order.number); }
std::string print(const EndOrder& order) { return "end " + std::to_string(order.number); }
std::string print(const Hello& reply) {
  std::string text = "hello " + std::to_string(reply.pid);
  if (!reply.without_events.empty()) text.append(" ").append(reply.without_events);
  return text;
}
std::string print(const Done& reply) { return "done " + std::to_string(reply.number); }
std::string print(const Failed& reply) {
  return "failed " + std::to_string(reply.number) + " " + std::string(name_of(reply.error.code)) +
         " " + reply.error.reason;
}
std::string print(const Gone& reply) { return "gone " + reply.reason; }

std::optional<Order> parse_order(std::string_view text) {
  Tokens tokens(text);
  const auto verb = tokens.next();
  const auto number = take_number(tokens);
  if (!verb || !number) return std::nullopt;
  if (verb->text == "want") return parse_want(*number, tokens);
  if (verb->text == "events") return parse_events_order(*number, tokens.rest().text);
  if (verb->text == "place") return parse_place_order(*number, tokens.rest().text);
  if (verb->text == "probe") return parse_probe_order(*number, tokens.rest().text);
  if (verb->text == "unprobe") return serials_order<UnprobeOrder>(*number, tokens.rest().text);
  if (verb->text == "probes") return serials_order<ProbesOrder>(*number, tokens.rest().text);
  if (verb->text == "find") return parse_find_order(*number, tokens.rest().text);
  if (verb->text == "profile") return parse_profile_order(*number, tokens.rest().text);
  if (verb->text == "texts" && !tokens.next()) return TextsOrder{*number};
  if (verb->text == "drain" && !tokens.next()) return DrainOrder{*number};
  if (verb->text == "end" && !tokens.next()) return EndOrder{*number};
  return std::nullopt;
}

std::optional<Reply> parse_reply(std::string_view text) {
  Tokens tokens(text);
  const auto verb = tokens.next();
  if (!verb) return std::nullopt;
  if (verb->text == "gone") return Gone{reason_behind_blank(tokens)};
  const auto number = take_number(tokens);
  if (!number) return std::nullopt;
  if (verb->text == "hello" && *number <= INT32_MAX) {
    return Hello{static_cast<pid_t>(*number), reason_behind_blank(tokens)};
  }
  if (verb->text == "done") return Done{*number};
  if (verb->text == "failed") return parse_failed(*number, tokens);
  if (verb->text == "placed") return parse_placed(*number, tokens.rest().text);
  if (verb->text == "texts") return parse_texts(*number, tokens.rest().text);
  if (verb->text == "probed") return parse_probed(*number, tokens.rest().text);
  if (verb->text == "refused") return parse_refused(*number, tokens.rest().text);
  if (verb->text == "found") return parse_found(*number, tokens.rest().text);
  if (verb->text == "profiled") return parse_profiled(*number, tokens.rest().text);
  if (verb->text == "working" && !tokens.next()) return Working{*number};
  return std::nullopt;
}

}  // namespace tallyfs::wire
