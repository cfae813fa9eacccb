#include "fs/daemon/options.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "feeders/intake/feed_socket.h"
#include "usage/usage.h"

namespace tallyfs {
namespace {

constexpr char kDescription[] =
    "Mounts a tree of statistics at MOUNTPOINT. Processes send samples to the socket;\n"
    "cat statistics/INTERFACE/data shows them, echo into definition changes how.";
// Below, the daemon's own numbers would not fit.
constexpr std::uint64_t kLeastBytes = 1 << 20;

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

bool has(const std::vector<std::string>& options, std::string_view prefix) {
  return std::any_of(options.begin(), options.end(),
                     [&](const std::string& option) { return option.starts_with(prefix); });
}

std::string check_octal(const std::string& text) {
  const bool octal =
      !text.empty() && text.size() <= 4 && text.find_first_not_of("01234567") == std::string::npos;
  return octal ? std::string() : "not an octal mode: " + text;
}

// As it may be written on the command line.
std::string in_units(std::uint64_t bytes) {
  if (bytes % (1 << 30) == 0) return std::to_string(bytes >> 30) + "G";
  if (bytes % (1 << 20) == 0) return std::to_string(bytes >> 20) + "M";
  return std::to_string(bytes);
}

class CommandLine {
 public:
  CommandLine() : app_(kDescription) {
    set_up_usage(app_, "tallyfs", TALLYFS_VERSION);
    add_mounting();
    add_socket();
    add_limits();
  }

  // Throws CLI::ParseError.
  DaemonOptions parse(int argc, char** argv) {
    app_.parse(argc, argv);
    for (const std::string& list : lists_) {
      for (const std::string& option : CLI::detail::split(list, ',')) take_mount_option(option);
    }
    options_.mount_point = places_.back();
    options_.socket_permissions = static_cast<unsigned>(std::stoul(mode_, nullptr, 8));
    if (options_.socket_path.empty()) options_.socket_path = default_socket_path();
    options_.ledger.per_uid.bytes =
        std::min(options_.ledger.per_uid.bytes, options_.ledger.total.bytes);
    options_.handles.bytes_per_uid =
        std::min(options_.handles.bytes_per_uid, options_.handles.bytes_total);
    add_mount_defaults(places_.size() == 2 ? places_.front() : "tallyfs");
    return options_;
  }
  int exit(const CLI::ParseError& error) { return app_.exit(error) == 0 ? 0 : kUsageStatus; }

 private:
  void add_mounting() {
    app_.add_option("MOUNTPOINT", places_,
                    "where to mount; [SOURCE] MOUNTPOINT when called by mount(8)")
        ->required()
        ->expected(1, 2);
    app_.add_flag("-f,--foreground", options_.foreground,
                  "stay in the foreground, print READY when usable, log to stderr");
    app_.add_option("-o", lists_,
                    "mount options, separated by commas: allow_other, auto_unmount, ro, tracefs, "
                    "fsname=, subtype=, and the options below as name=value")
        ->option_text("OPTION[,OPTION]...")
        ->allow_extra_args(false);
    own("--subtree", options_.subtree, "PATH",
        "mounts this directory of the tree alone: tracing, statistics, stats/SUBSYSTEM");
    app_.add_flag("--tracefs", options_.tracefs,
                  "read the kernel's events for tracing/events and tracing/latency_hist, as far as "
                  "something is set on them or enabled there");
    own("--run-as", options_.run_as, "USER[:GROUP]",
        "names or numbers: who the daemon is once it is mounted; root only");
    own("--log-level", options_.log_level, "LEVEL", "trace, debug, info, warn, err or off")
        ->check(CLI::IsMember({"trace", "debug", "info", "warn", "err", "off"}));
  }

  void add_socket() {
    own("--socket", options_.socket_path, "PATH",
        "the socket that feeders send to; else /run/tallyfs/socket for root, "
        "$XDG_RUNTIME_DIR/tallyfs/socket for others");
    own("--socket-mode", mode_, "MODE", "its mode in octal: who may write to it may feed")
        ->check(check_octal);
    own("--queue-length", options_.queue_length, "N", "datagrams that may wait in it", "1 to 65536")
        ->check(CLI::Range(1u, 65'536u));
  }

  void add_limits() {
    bytes("--memory-max", options_.ledger.total.bytes,
          "what all definitions and data may grow to; a definition beyond is refused");
    bytes("--uid-memory", options_.ledger.per_uid.bytes, "the same for each uid that feeds");
    own("--uid-interfaces", options_.ledger.per_uid.interfaces, "N", "interfaces of a uid");
    own("--uid-statistics", options_.ledger.per_uid.statistics, "N", "statistics of a uid");
    own("--uid-open-files", options_.handles.files_per_uid, "N", "files that a uid may have open");
    bytes("--uid-open-bytes", options_.handles.bytes_per_uid, "text in the files it has open");
    bytes("--open-bytes-max", options_.handles.bytes_total, "text in the files that all have open");
  }

  // An option of the daemon's own; it may stand behind -o too.
  template <typename T>
  CLI::Option* own(const std::string& name, T& value, const std::string& shown_as,
                   const std::string& what, const std::string& bounds = "") {
    own_.insert(name);
    return show_value(app_.add_option(name, value, what), shown_as, bounds);
  }
  void bytes(const std::string& name, std::uint64_t& value, const std::string& what) {
    own_.insert(name);
    show_value(app_.add_option(name, value, what)->default_str(in_units(value)), "BYTES")
        ->transform(CLI::AsSizeValue(false))
        ->check(CLI::Range(kLeastBytes, std::uint64_t{1} << 60));
  }

  // `-o a_b=c` means `--a-b c`, so that all fits into fstab.
  void take_mount_option(const std::string& option) {
    if (option.empty() || is_ignored(option)) return;
    const auto equals = option.find('=');
    std::string name = "--" + option.substr(0, equals);
    std::replace(name.begin(), name.end(), '_', '-');
    if (equals != std::string::npos && own_.contains(name)) {
      CLI::Option* const found = app_.get_option(name);
      found->clear();
      found->add_result(option.substr(equals + 1));
      found->run_callback();
    } else if (option == "tracefs") {
      options_.tracefs = true;
    } else if (is_for_libfuse(option)) {
      options_.mount_options.push_back(option);
      options_.auto_unmount |= option == "auto_unmount";
    } else {
      throw CLI::ValidationError("-o", "unknown mount option '" + option + "'");
    }
  }

  void add_mount_defaults(const std::string& source) {
    auto& mount_options = options_.mount_options;
    if (!has(mount_options, "fsname=")) mount_options.push_back("fsname=" + source);
    if (!has(mount_options, "subtype=")) mount_options.emplace_back("subtype=tallyfs");
    for (const char* option : {"nosuid", "nodev", "noexec", "default_permissions"}) {
      mount_options.emplace_back(option);
    }
  }

  CLI::App app_;
  DaemonOptions options_{.queue_length = FeedSocket::kQueueLength, .log_level = "info"};
  std::vector<std::string> places_;
  std::vector<std::string> lists_;
  std::string mode_ = "0666";
  std::set<std::string> own_;
};

}  // namespace

ParsedOptions parse_options(int argc, char** argv) {
  CommandLine line;
  try {
    return {line.parse(argc, argv), 0};
  } catch (const CLI::ParseError& error) {
    return {std::nullopt, line.exit(error)};
  }
}

}  // namespace tallyfs
