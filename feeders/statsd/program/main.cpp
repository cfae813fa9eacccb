// tally-feed-statsd: a StatsD and DogStatsD server whose back end is tallyfs. Needs no privileges.
#include <systemd/sd-daemon.h>

#include <iostream>
#include <system_error>
#include <utility>
#include <vector>

#include "feeders/statsd/program/check_lines.h"
#include "feeders/statsd/program/options.h"
#include "feeders/statsd/service.h"
#include "program/feeder/program.h"
#include "program/feeder/stop_signal.h"
#include "program/log.h"

namespace tallyfs::statsd {
namespace {

// An address other than loopback needs --allow, whichever way the socket came.
Result<ListeningSocket> adopt(int fd, const ListeningSocket::Options& settings,
                              const AllowList& allow) {
  auto socket = ListeningSocket::adopt(fd, settings);
  if (!socket) return socket;
  const ListenAddress& address = socket.value().address();
  if (!is_unix(address.transport) && !is_loopback(address.address) && allow.empty()) {
    return invalid(to_text(address) + ": another address than loopback needs --allow");
  }
  return socket;
}

Result<void> add_sockets(Service& service, const std::vector<ListenAddress>& addresses,
                         const ListeningSocket::Options& settings, const AllowList& allow,
                         int passed) {
  for (int i = 0; i < passed; ++i) {
    auto socket = adopt(SD_LISTEN_FDS_START + i, settings, allow);
    if (!socket) return socket.error();
    service.add(std::move(socket.value()));
  }
  for (const ListenAddress& address : addresses) {
    auto socket = ListeningSocket::create(address, settings);
    if (!socket) return socket.error();
    service.add(std::move(socket.value()));
  }
  return {};
}

int refuse(const Options& options, const Error& error) {
  std::cerr << options.name << ": " << error.reason << '\n';
  return kUsageStatus;
}

int run(const Options& options) {
  auto settings = to_settings(options);
  if (!settings) return refuse(options, settings.error());
  if (options.checks_lines) return check_lines(std::move(settings.value()));
  const int passed = ::sd_listen_fds(1);
  const auto addresses = to_addresses(options, passed > 0 ? Default::kNone : Default::kLoopback);
  if (!addresses) return refuse(options, addresses.error());
  const auto allow = to_allow_list(options);
  if (!allow) return refuse(options, allow.error());
  const auto stop = StopSignal::create();
  if (!stop) return log_failure(stop.error());
  const auto statistics_max = static_cast<std::uint32_t>(options.limits.series_max);
  if (auto done = set_up(options, statistics_max); !done) return log_failure(done.error());
  try {
    Service service(std::move(settings.value()), allow.value(),
                    std::chrono::seconds(options.set_window_s));
    auto done =
        add_sockets(service, addresses.value(), to_socket_options(options), allow.value(), passed);
    if (!done) return log_failure(done.error());
    service.run(stop.value());
  } catch (const std::system_error& error) {
    log_error(error.what());
    return 1;
  }
  return 0;
}

int main(int argc, char** argv) {
  Options options{{.name = "tally-feed-statsd"}};
  if (const auto status = parse_options(argc, argv, options)) return *status;
  return run(options);
}

}  // namespace
}  // namespace tallyfs::statsd

int main(int argc, char** argv) { return tallyfs::statsd::main(argc, argv); }
