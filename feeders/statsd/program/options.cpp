#include "feeders/statsd/program/options.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

namespace tallyfs::statsd {
namespace {

void add_listening(CommandLine& line, Options& options) {
  line.add_list("--listen", options.listen, "ADDRESS",
                "where to listen (udp:127.0.0.1:8125 and udp:[::1]:8125); may be repeated");
  line.add({.names = "--allow",
            .variable = &options.allow,
            .value = "CIDR,...",
            .text = "the networks besides loopback from which UDP and TCP are taken, or 'any'"});
  line.add({.names = "--rcvbuf",
            .variable = &options.receive_bytes,
            .value = "BYTES",
            .text = "the room asked for packets that wait, of each UDP socket",
            .check = Bytes{4096, 1 << 30},
            .bounds = "4k to 1G"});
  line.add({.names = "--socket-mode",
            .variable = &options.socket_mode,
            .value = "MODE",
            .text = "the permissions of Unix sockets",
            .check = find_mode_fault});
}

void add_meaning(CommandLine& line, Options& options) {
  line.add({.names = "--gauge-sign",
            .variable = &options.gauge_sign,
            .value = "HOW",
            .text = "whether +1 changes a gauge by 1: delta, absolute or listener",
            .check = OneOf{{"delta", "absolute", "listener"}}});
  line.add({.names = "--name-tags",
            .variable = &options.name_tags,
            .value = "FORM",
            .text = "tags in names: none, influx (name,k=v) or graphite (name;k=v)",
            .check = OneOf{{"none", "influx", "graphite"}}});
  line.add({.names = "--drop-tags",
            .variable = &options.drop_tags,
            .value = "KEY,...",
            .text = "tags that are left out"});
  line.add_flag("--container-tag", options.has_container_tag, "c:ID becomes the tag container_id");
  line.add({.names = "--map",
            .variable = &options.map,
            .value = "FILE",
            .text = "interfaces, tags and definitions by name"});
  line.add({.names = "--set-window",
            .variable = &options.set_window_s,
            .value = "TIME",
            .text = "how long the members of a set are counted together",
            .check = Time{1, 86'400, TimeUnit::kSeconds}});
}

void add_bounds(CommandLine& line, Options& options) {
  add_series_options(line, options.limits.series_max, options.limits.per_name_max);
  line.add_flag("--check", options.checks_lines,
                "read lines from the standard input, print what each would do, and end");
}

Result<std::vector<MapRule>> read_map(const std::string& path) {
  if (path.empty()) return std::vector<MapRule>();
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) return invalid("--map: cannot read " + path);
  auto rules = parse_map(text.str());
  if (!rules) return invalid("--map: " + path + ", " + rules.error().reason);
  return rules;
}

}  // namespace

std::optional<int> parse_options(int argc, char** argv, Options& options) {
  auto line = make_command_line(
      "Feeds tallyfs with the metrics of programs that speak StatsD or DogStatsD.", options);
  add_listening(line, options);
  add_meaning(line, options);
  add_bounds(line, options);
  return line.parse(argc, argv);
}

Result<Settings> to_settings(const Options& options) {
  auto map = read_map(options.map);
  if (!map) return map.error();
  Settings settings;
  settings.gauge_sign = options.gauge_sign == "delta"      ? GaugeSign::kDelta
                        : options.gauge_sign == "absolute" ? GaugeSign::kAbsolute
                                                           : GaugeSign::kByListener;
  settings.name_tags = options.name_tags == "influx"     ? NameTags::kInflux
                       : options.name_tags == "graphite" ? NameTags::kGraphite
                                                         : NameTags::kNone;
  settings.has_container_tag = options.has_container_tag;
  std::vector<std::string_view> dropped;
  split_tags(options.drop_tags, dropped);
  settings.tags.drop.assign(dropped.begin(), dropped.end());
  settings.limits = options.limits;
  settings.map = std::move(map.value());
  return settings;
}

Result<std::vector<ListenAddress>> to_addresses(const Options& options, Default fallback) {
  std::vector<std::string> texts = options.listen;
  if (texts.empty() && fallback == Default::kLoopback) {
    texts = {"udp:127.0.0.1:8125", "udp:[::1]:8125"};
  }
  std::vector<ListenAddress> addresses;
  for (const std::string& text : texts) {
    auto address = parse_listen_address(text);
    if (!address) return invalid("--listen " + text + ": " + address.error().reason);
    const bool is_open =
        !is_unix(address.value().transport) && !is_loopback(address.value().address);
    if (is_open && options.allow.empty()) {
      return invalid("--listen " + text + ": another address than loopback needs --allow");
    }
    addresses.push_back(std::move(address.value()));
  }
  return addresses;
}

Result<AllowList> to_allow_list(const Options& options) {
  auto list = AllowList::parse(options.allow);
  if (!list) return invalid("--allow: " + list.error().reason);
  return list;
}

ListeningSocket::Options to_socket_options(const Options& options) {
  return {
      .receive_bytes = static_cast<int>(options.receive_bytes),
      .permissions = static_cast<unsigned>(std::strtoul(options.socket_mode.c_str(), nullptr, 8))};
}

}  // namespace tallyfs::statsd
