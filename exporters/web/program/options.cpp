#include "exporters/web/program/options.h"

#include "exporters/web/listen.h"
#include "program/command_line.h"

namespace tallyfs::web {
namespace {

void add_rights(CommandLine& line, Options& options) {
  line.add({.names = "--token-file",
            .variable = &options.token_file,
            .value = "PATH",
            .text = "the token; made if it is not there. Else web-token in $RUNTIME_DIRECTORY, or "
                    "next to the daemon's socket",
            .shown = Option::Default::kHidden});
  line.add_flag("--allow-changes", options.allows_changes,
                "definitions may be changed, with the token");
  line.add_flag("--open-read", options.opens_reading, "statistics and metrics need no token");
  line.add_flag("--open-metrics", options.opens_metrics, "metrics need no token");
  line.add_list("--host", options.hosts, "NAME",
                "a name of this server besides the loopback ones; may be repeated");
  line.add_flag("--allow-plaintext", options.allows_plaintext,
                "listen on another address than loopback, without TLS");
}

}  // namespace

std::optional<int> parse_options(int argc, char** argv, Options& options) {
  CommandLine line(
      "Shows a mounted tallyfs in a browser, and to Prometheus.\n"
      "  tally-web                                  prints the URL, with its token\n"
      "  tally-web --keep 1h --allow-changes        an hour of the past; definitions may change\n"
      "  tally-web --metrics-only --open-metrics    for Prometheus alone, without a token",
      "tally-web", TALLYFS_VERSION);
  line.add({.names = "--listen",
            .variable = &options.listen,
            .value = "ADDRESS",
            .text = "an address with a port, as [::1]:8255, or a Unix socket, as unix:/run/http",
            .check = FindFault(fault_of_address)});
  line.add({.names = "--mount",
            .variable = &options.mount,
            .value = "PATH",
            .text = "where tallyfs is mounted; else $TALLY_MOUNT, else the only mount that can "
                    "be read",
            .shown = Option::Default::kHidden});
  line.add({.names = "--keep",
            .variable = &options.keep_s,
            .value = "TIME",
            .text = "how far back is kept; 0: not at all",
            .check = Time{0, 86'400, TimeUnit::kSeconds}});
  line.add({.names = "--store",
            .variable = &options.store,
            .value = "DIR",
            .text = "the past before that: a store of tallyctl record; else $TALLY_STORE, else "
                    "/var/lib/tally-record",
            .shown = Option::Default::kHidden});
  add_rights(line, options);
  line.add_flag("--metrics-only", options.only_metrics, "serve /metrics and /healthz alone");
  line.add_flag("--utf8-names", options.keeps_utf8,
                "names of metrics keep all characters for scrapers that take them");
  line.add({.names = "--log-level",
            .variable = &options.log_level,
            .value = "LEVEL",
            .text = "trace, debug, info, warn, err or off",
            .check = OneOf{{"trace", "debug", "info", "warn", "err", "off"}}});
  if (const auto status = line.parse(argc, argv)) return status;
  if (options.only_metrics && options.allows_changes) {
    return line.refuse("--allow-changes", "--metrics-only serves nothing that could be changed");
  }
  return std::nullopt;
}

}  // namespace tallyfs::web
