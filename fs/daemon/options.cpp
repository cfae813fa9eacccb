#include "fs/daemon/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iostream>
#include <set>
#include <string_view>

#include "feeders/intake/feed_socket.h"

namespace tally {
namespace {

constexpr char kDescription[] =
    "Mounts a tree of statistics at MOUNTPOINT. Processes send samples to the socket;\n"
    "cat statistics/INTERFACE/data shows them, echo into definition changes how.";
constexpr std::uint64_t kMemoryMaxBytes = 1ull << 30;

// What mount(8) and fstab say that means nothing here, or is so already.
bool is_ignored(std::string_view option) {
  static const std::set<std::string_view> ignored = {"defaults",
                                                     "rw",
                                                     "dev",
                                                     "nodev",
                                                     "suid",
                                                     "nosuid",
                                                     "exec",
                                                     "noexec",
                                                     "auto",
                                                     "noauto",
                                                     "nofail",
                                                     "user",
                                                     "users",
                                                     "owner",
                                                     "nouser",
                                                     "_netdev",
                                                     "default_permissions"};
  return ignored.contains(option) || option.starts_with("x-") || option.starts_with("X-") ||
         option.starts_with("comment=");
}

bool is_for_libfuse(std::string_view option) {
  static const std::set<std::string_view> known = {
      "allow_other", "allow_root", "auto_unmount", "ro",          "sync",
      "async",       "dirsync",    "atime",        "noatime",     "diratime",
      "nodiratime",  "relatime",   "norelatime",   "strictatime", "nostrictatime"};
  return known.contains(option) || option.starts_with("fsname=") ||
         option.starts_with("subtype=") || option.starts_with("context=") ||
         option.starts_with("fscontext=") || option.starts_with("defcontext=") ||
         option.starts_with("rootcontext=");
}

// -o a,b=c: the daemon's own long options are allowed there too, for fstab.
void take_mount_option(CLI::App& app, DaemonOptions& options, const std::string& option) {
  if (option.empty() || is_ignored(option)) return;
  const auto equals = option.find('=');
  std::string name = "--" + option.substr(0, equals);
  std::replace(name.begin(), name.end(), '_', '-');
  static constexpr std::array kOwn = {"--socket", "--socket-mode", "--queue-length", "--memory-max",
                                      "--log-level"};
  if (std::find(kOwn.begin(), kOwn.end(), name) != kOwn.end() && equals != std::string::npos) {
    CLI::Option* const own = app.get_option(name);
    own->clear();
    own->add_result(option.substr(equals + 1));
    own->run_callback();
  } else if (is_for_libfuse(option)) {
    options.mount_options.push_back(option);
    options.auto_unmount |= option == "auto_unmount";
  } else {
    throw CLI::ValidationError("-o", "unknown mount option '" + option + "'");
  }
}

bool has(const DaemonOptions& options, std::string_view prefix) {
  return std::any_of(options.mount_options.begin(), options.mount_options.end(),
                     [&](const std::string& option) { return option.starts_with(prefix); });
}

void add_defaults(DaemonOptions& options, const std::string& source) {
  if (!has(options, "fsname=")) options.mount_options.push_back("fsname=" + source);
  if (!has(options, "subtype=")) options.mount_options.push_back("subtype=tallyfs");
  for (const char* option : {"nosuid", "nodev", "noexec", "default_permissions"}) {
    options.mount_options.emplace_back(option);
  }
  if (options.socket_path.empty()) options.socket_path = default_socket_path();
  if (options.socket_path.empty()) {
    throw CLI::ValidationError("--socket", "no default, since XDG_RUNTIME_DIR is not set");
  }
}

}  // namespace

ParsedOptions parse_options(int argc, char** argv) {
  DaemonOptions options{.queue_length = FeedSocket::kQueueLength,
                        .memory_max_bytes = kMemoryMaxBytes,
                        .log_level = "info"};
  std::vector<std::string> places;
  std::vector<std::string> lists;
  CLI::App app(kDescription, "tallyfs");
  app.set_version_flag("--version,-V", std::string("tallyfs ") + TALLYFS_VERSION);
  app.add_option("MOUNTPOINT", places,
                 "where to mount; [SOURCE] MOUNTPOINT when called by mount(8)")
      ->required()
      ->expected(1, 2);
  app.add_flag("-f,--foreground", options.foreground,
               "stay in the foreground, print READY when usable, log to stderr");
  app.add_option("-o", lists,
                 "mount options, separated by commas: allow_other, auto_unmount, ro, fsname=, "
                 "subtype=, and the options below as name=value")
      ->allow_extra_args(false);
  app.add_option("--socket", options.socket_path,
                 "the socket that feeders send to (/run/tallyfs/socket for root, else "
                 "$XDG_RUNTIME_DIR/tallyfs/socket)");
  std::string mode = "0666";
  app.add_option("--socket-mode", mode, "its mode in octal: who may write to it may feed")
      ->capture_default_str()
      ->check([](const std::string& text) {
        const bool octal = !text.empty() && text.size() <= 4 &&
                           text.find_first_not_of("01234567") == std::string::npos;
        return octal ? std::string() : "not an octal mode: " + text;
      });
  app.add_option("--queue-length", options.queue_length,
                 "datagrams that may wait in it (net.unix.max_dgram_qlen for the moment in which "
                 "it is made)")
      ->capture_default_str()
      ->check(CLI::Range(1u, 65'536u));
  app.add_option(
         "--memory-max", options.memory_max_bytes,
         "bytes that all data may grow to, K, M and G allowed; a definition beyond is refused")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("1G");
  app.add_option("--log-level", options.log_level, "trace, debug, info, warn, err or off")
      ->capture_default_str()
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "err", "off"}));
  try {
    app.parse(argc, argv);
    for (const std::string& list : lists) {
      for (const std::string& option : CLI::detail::split(list, ',')) {
        take_mount_option(app, options, option);
      }
    }
    options.mount_point = places.back();
    options.socket_permissions = static_cast<unsigned>(std::stoul(mode, nullptr, 8));
    add_defaults(options, places.size() == 2 ? places.front() : "tallyfs");
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error);
    return {std::nullopt, status == 0 ? 0 : 2};
  }
  return {options, 0};
}

}  // namespace tally
