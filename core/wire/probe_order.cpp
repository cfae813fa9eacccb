#include "core/wire/probe_order.h"

#include <algorithm>
#include <utility>

#include "core/wire/error_names.h"
#include "core/wire/event_order.h"
#include "core/wire/order_text.h"

namespace tallyfs::wire {
namespace {

std::string with_serials(std::string text, const std::vector<std::uint64_t>& serials) {
  const char* before = " ";
  for (const std::uint64_t serial : serials) {
    text += std::exchange(before, ",") + std::to_string(serial);
  }
  return text;
}

}  // namespace

std::string print(const ProbeOrder& order) {
  std::string text = "probe " + std::to_string(order.number) + " " + std::to_string(order.serial);
  text.append(order.is_known ? " known " : " new ").push_back(order.kind);
  if (order.instances > 0) text += std::to_string(order.instances);
  return text.append(" ").append(order.event).append(" ").append(order.text);
}

std::string print(const Probed& reply) {
  return "probed " + std::to_string(reply.number) + " " + std::to_string(reply.serial) + " " +
         std::to_string(reply.id) + " " + reply.file + " " + reply.text + "\n" + reply.format;
}

std::string print(const Refused& reply) {
  const Error& error = reply.error;
  const bool has_place = error.token_at != Error::kNoToken;
  return "refused " + std::to_string(reply.number) + " " + std::string(name_of(error.code)) + " " +
         (has_place ? std::to_string(error.token_at) : "-") + " " +
         (error.location.empty() ? "-" : error.location) + " " + error.reason;
}

std::string print(const UnprobeOrder& order) {
  return with_serials("unprobe " + std::to_string(order.number), order.serials);
}

std::string print(const ProbesOrder& order) {
  return with_serials("probes " + std::to_string(order.number), order.serials);
}

std::string print(const FindOrder& order) {
  return "find " + std::to_string(order.number) + " " + order.kind + " " + order.place;
}

std::string print(const Found& reply) {
  return "found " + std::to_string(reply.number) + "\n" + reply.text;
}

std::string print(const ProfileOrder& order) {
  return "profile " + std::to_string(order.number) + " " + std::to_string(order.serial) + " " +
         std::to_string(order.place);
}

std::string print(const Profiled& reply) {
  std::string text = "profiled " + std::to_string(reply.number) + "\n";
  for (const PlaceHits& each : reply.places) {
    std::string line = std::to_string(each.serial) + " " + std::to_string(each.hits) + " " +
                       std::to_string(each.missed) + " ";
    line.append(each.file).append(" ").append(each.place);
    if (!each.leaving.empty()) line.append(" ").append(each.leaving);
    line.append("\n");
    if (text.size() + line.size() > kEventOrderBytesMax) break;
    text += line;
  }
  return text;
}

std::string print(const Working& reply) { return "working " + std::to_string(reply.number); }

std::optional<ProbeOrder> parse_probe_order(std::uint64_t number, std::string_view text) {
  Tokens tokens(text);
  const auto serial = take_number(tokens);
  const auto whether = tokens.next();
  const auto kind = tokens.next();
  const auto event = tokens.next();
  if (!serial || !whether || !kind || !event || event->text.size() > kNameBytesMax) {
    return std::nullopt;
  }
  const bool is_known = whether->text == "known";
  const auto instances = kind->text.size() > 1 ? parse_unsigned(kind->text.substr(1)) : 0;
  const bool is_kind = kind->text[0] == 'r' || kind->text[0] == 'f' || kind->text == "p" ||
                       kind->text == "e" || kind->text == "t";
  if ((!is_known && whether->text != "new") || !is_kind || !instances || *instances > UINT32_MAX) {
    return std::nullopt;
  }
  ProbeOrder order{.number = number,
                   .serial = *serial,
                   .is_known = is_known,
                   .kind = kind->text[0],
                   .instances = static_cast<unsigned>(*instances),
                   .event = std::string(event->text),
                   .text = std::string(behind_blank(tokens))};
  if (order.text.find('\n') != order.text.npos) return std::nullopt;
  return order;
}

std::optional<Probed> parse_probed(std::uint64_t number, std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == text.npos) return std::nullopt;
  Tokens tokens(text.substr(0, end));
  const auto serial = take_number(tokens);
  const auto id = take_number(tokens);
  const auto file = tokens.next();
  if (!serial || !id || *id > UINT32_MAX || !file) return std::nullopt;
  return Probed{.number = number,
                .serial = *serial,
                .id = static_cast<std::uint32_t>(*id),
                .file = std::string(file->text),
                .text = std::string(behind_blank(tokens)),
                .format = std::string(text.substr(end + 1))};
}

std::optional<Refused> parse_refused(std::uint64_t number, std::string_view text) {
  Tokens tokens(text);
  const auto name = tokens.next();
  const auto at = tokens.next();
  const auto location = tokens.next();
  const auto code = name ? code_of(name->text) : std::nullopt;
  if (!code || !at || !location) return std::nullopt;
  const auto place = at->text == "-" ? Error::kNoToken : parse_unsigned(at->text);
  if (!place) return std::nullopt;
  Refused refused{number,
                  {.code = *code, .reason = reason_behind_blank(tokens), .token_at = *place}};
  if (location->text != "-") refused.error.location = location->text;
  return refused;
}

std::optional<FindOrder> parse_find_order(std::uint64_t number, std::string_view text) {
  Tokens tokens(text);
  const auto kind = tokens.next();
  if (!kind || (kind->text != "p" && kind->text != "r")) return std::nullopt;
  FindOrder order{
      .number = number, .kind = kind->text[0], .place = std::string(behind_blank(tokens))};
  return order.place.empty() ? std::nullopt : std::optional(std::move(order));
}

std::optional<Found> parse_found(std::uint64_t number, std::string_view text) {
  if (!text.starts_with('\n')) return std::nullopt;
  return Found{.number = number, .text = std::string(text.substr(1))};
}

std::optional<ProfileOrder> parse_profile_order(std::uint64_t number, std::string_view text) {
  Tokens tokens(text);
  const auto serial = take_number(tokens);
  const auto place = take_number(tokens);
  if (!serial || !place || tokens.next()) return std::nullopt;
  return ProfileOrder{.number = number, .serial = *serial, .place = *place};
}

std::optional<Profiled> parse_profiled(std::uint64_t number, std::string_view text) {
  if (!text.starts_with('\n')) return std::nullopt;
  Profiled reply{.number = number};
  for (text.remove_prefix(1); !text.empty();) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    Tokens tokens(line);
    const auto serial = take_number(tokens);
    const auto hits = take_number(tokens);
    const auto missed = take_number(tokens);
    const auto file = tokens.next();
    const auto place = tokens.next();
    const auto leaving = tokens.next();
    if (!serial || !hits || !missed || !file || !place || tokens.next()) return std::nullopt;
    reply.places.push_back({.serial = *serial,
                            .hits = *hits,
                            .missed = *missed,
                            .file = std::string(file->text),
                            .place = std::string(place->text),
                            .leaving = std::string(leaving ? leaving->text : "")});
  }
  return reply;
}

std::optional<std::vector<std::uint64_t>> parse_serials(std::string_view text) {
  std::vector<std::uint64_t> serials;
  for (std::string_view rest = trimmed(text); !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    const auto serial = parse_unsigned(word);
    if (!serial) return std::nullopt;
    serials.push_back(*serial);
  }
  return serials;
}

}  // namespace tallyfs::wire
