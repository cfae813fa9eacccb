// The command line of tally-feed-statsd.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "feeders/statsd/listen/listen_address.h"
#include "feeders/statsd/listen/listening_socket.h"
#include "feeders/statsd/series/settings.h"
#include "feeders/text/series_bounds.h"
#include "program/feeder/program.h"

namespace tallyfs::statsd {

// The options as they are typed.
struct Options : ProgramOptions {
  std::vector<std::string> listen;
  std::string allow;
  std::uint64_t receive_bytes = 4 << 20;
  std::string socket_mode = "0722";
  std::string gauge_sign = "listener";
  std::string name_tags = "none";
  std::string drop_tags;
  std::string map;
  SeriesLimits limits{};
  unsigned set_window_s = 10;
  bool has_container_tag = false;
  bool checks_lines = false;
};

// The status with which to exit at once, if there is one.
std::optional<int> parse_options(int argc, char** argv, Options& options);

// The meaning of the options. kInvalid: the reason begins with the option.
Result<Settings> to_settings(const Options& options);
// The addresses of --listen, and those of the default if there is none and `needs_default`.
enum class Default { kNone, kLoopback };
Result<std::vector<ListenAddress>> to_addresses(const Options& options, Default fallback);
Result<AllowList> to_allow_list(const Options& options);
ListeningSocket::Options to_socket_options(const Options& options);

}  // namespace tallyfs::statsd
