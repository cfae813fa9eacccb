#include "fs/daemon/options.h"

#include <unistd.h>

#include <algorithm>
#include <concepts>
#include <set>
#include <string_view>

#include "core/statistics/exposition/names.h"
#include "feeders/intake/feed_socket.h"
#include "fs/daemon/privileges.h"
#include "program/command_line.h"

namespace tallyfs {
namespace {

constexpr char kDescription[] =
    "Mounts a tree of statistics at MOUNTPOINT. Processes send samples to the socket;\n"
    "cat statistics/INTERFACE/data shows them, echo into definition changes how.";
// With less, the daemon's own numbers would not fit.
constexpr std::uint64_t kLeastBytes = 1 << 20;
constexpr const char* kTracingDirectory = "/sys/kernel/tracing";

// Options of mount(8) and fstab that mean nothing here, or are so already.
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
      "allow_other", "allow_root", "ro",          "sync",         "async",
      "dirsync",     "atime",      "noatime",     "diratime",     "nodiratime",
      "relatime",    "norelatime", "strictatime", "nostrictatime"};
  return known.contains(option) || option.starts_with("fsname=") ||
         option.starts_with("subtype=") || option.starts_with("context=") ||
         option.starts_with("fscontext=") || option.starts_with("defcontext=") ||
         option.starts_with("rootcontext=");
}

bool has(const std::vector<std::string>& options, std::string_view prefix) {
  return std::any_of(options.begin(), options.end(),
                     [&](const std::string& option) { return option.starts_with(prefix); });
}

std::string check_prefix(const std::string& text) {
  return statistics::is_metric_prefix(text) ? std::string()
                                            : "not the beginning of a metric's name: " + text;
}

// "a,b" is two options; an empty one is none.
std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> options;
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = list.find(',', begin);
    options.push_back(list.substr(begin, end == std::string::npos ? end : end - begin));
  }
  return options;
}

class OptionsParser {
 public:
  OptionsParser() : line_(kDescription, "tallyfs", TALLYFS_VERSION) {
    add_mounting();
    add_keeper();
    add_state();
    add_socket();
    add_limits();
    add_metrics();
  }

  ParsedOptions parse(int argc, char** argv) {
    if (const auto status = line_.parse(argc, argv)) return {std::nullopt, *status};
    if (const auto status = check_reload()) return {std::nullopt, *status};
    for (const std::string& list : lists_) {
      for (const std::string& option : split(list)) {
        if (const auto status = take_mount_option(option)) return {std::nullopt, *status};
      }
    }
    if (const auto status = check_groups()) return {std::nullopt, *status};
    if (const auto status = take_places()) return {std::nullopt, *status};
    options_.socket_permissions = static_cast<unsigned>(std::stoul(mode_, nullptr, 8));
    if (options_.socket_path.empty()) options_.socket_path = default_socket_path();
    options_.ledger.per_uid.bytes =
        std::min(options_.ledger.per_uid.bytes, options_.ledger.total.bytes);
    options_.handles.bytes_per_uid =
        std::min(options_.handles.bytes_per_uid, options_.handles.bytes_total);
    take_metrics();
    options_.keeper = !no_keeper_;
    options_.owner = {.uid = ::geteuid(), .gid = ::getegid()};
    add_mount_defaults(source());
    return {options_, 0};
  }

 private:
  std::optional<int> check_reload() {
    if (!options_.reload) return std::nullopt;
    for (const std::string& each : line_.given()) {
      if (each == "--reload") continue;
      return line_.refuse(each, "not beside --reload: the daemon keeps the options of its start");
    }
    return std::nullopt;
  }
  // Returns the status to exit with if something is missing.
  std::optional<int> take_places() {
    if (options_.over_tracefs) {
      options_.tracefs = true;
      options_.subtree = "tracing";
    }
    if (places_.empty() && !options_.over_tracefs) {
      return line_.refuse("MOUNTPOINT",
                          "it is required, an empty directory: "
                          "mkdir -p /run/tallyfs/mnt; tallyfs /run/tallyfs/mnt");
    }
    options_.mount_point = places_.empty() ? kTracingDirectory : places_.back();
    return std::nullopt;
  }
  // The name of the mount's source. Clients of tracefs look for this name.
  std::string source() const {
    if (places_.size() == 2) return places_.front();
    return options_.over_tracefs ? "tracefs" : "tallyfs";
  }

  void add_mounting() {
    line_.add_arguments("MOUNTPOINT", places_,
                        "where to mount; [SOURCE] MOUNTPOINT when called by mount(8)",
                        {.least = 0, .most = 2});
    line_.add_flag("-f,--foreground", options_.foreground,
                   "stay in the foreground, print READY when usable, log to stderr");
    line_.add_list("-o", lists_, "OPTION[,OPTION]...",
                   "mount options, separated by commas: allow_other, auto_unmount, ro, tracefs, "
                   "fsname=, subtype=, and the options below as name=value");
    add({.names = "--subtree",
         .variable = &options_.subtree,
         .value = "PATH",
         .text = "mount this directory of the tree alone, as tracing, tracing/latency_hist, "
                 "statistics, stats or metrics"});
    line_.add_flag("--tracefs", options_.tracefs,
                   "read the kernel's events for tracing/events and tracing/latency_hist: those "
                   "that a trigger, a reader or an enable file needs; needs root");
    line_.add_flag("--over-tracefs", options_.over_tracefs,
                   "for clients of the kernel's tracing directory: mount tracing/ alone, on top "
                   "of a tracefs, with --tracefs; MOUNTPOINT is then /sys/kernel/tracing if left "
                   "out",
                   "--subtree");
    add({.names = "--run-as",
         .variable = &options_.run_as,
         .value = "USER[:GROUP]",
         .text = "the user and group, by name or number, that the daemon becomes once it is "
                 "mounted; root only"});
    add({.names = "--rules",
         .variable = &options_.rules_file,
         .value = "FILE",
         .text = "rules for statistics to come, read at the start and at SIGHUP"});
    add({.names = "--group",
         .variable = &options_.group,
         .value = "GROUP",
         .text = "the group, by name or number, whose members may read statistics/, stats/ and "
                 "metrics/; needs -o allow_other"});
    add({.names = "--write-group",
         .variable = &options_.write_group,
         .value = "GROUP",
         .text = "the group whose members may change and remove statistics/ and stats/, and set "
                 "triggers on programs' events; needs -o allow_other"});
    add({.names = "--log-level",
         .variable = &options_.log_level,
         .value = "LEVEL",
         .text = "trace, debug, info, warn, err or off",
         .check = OneOf{{"trace", "debug", "info", "warn", "err", "off"}}});
  }

  void add_keeper() {
    line_.add_flag("--no-keeper", no_keeper_,
                   "run as one process, as for a debugger; else a keeper holds the mount and the "
                   "socket, and replaces a server that crashes or is killed; also -o no_keeper");
    line_.add_flag("--reload", options_.reload,
                   "start no daemon: replace the server that is mounted on MOUNTPOINT by the "
                   "program on disk, which reads the rules again; ends with 0 when that serves");
  }

  void add_state() {
    add({.names = "--state",
         .variable = &options_.state,
         .value = "DIR",
         .text = "keep definitions, totals and triggers in this directory, for the next start; "
                 "root on /run/tallyfs/mnt without --run-as: /var/lib/tallyfs, if it is there"});
    line_.add_flag("--no-state", options_.no_state, "keep nothing; also -o no_state",
                   "--state");
    add({.names = "--state-period",
         .variable = &options_.state_period,
         .value = "TIME",
         .text = "how often the state is written, if it has changed",
         .check = Time{1, 86'400, TimeUnit::kSeconds}});
    add({.names = "--journal-bytes",
         .variable = &options_.journal_bytes,
         .value = "BYTES",
         .text = "memory for what came since the last save, so that a kill of the server loses "
                 "no sample; 0: a kill loses what came over the socket within a second or so",
         .check = Bytes{0, std::uint64_t{1} << 40},
         .bounds = "0, or 4M at least"});
  }

  void add_socket() {
    add({.names = "--socket",
         .variable = &options_.socket_path,
         .value = "PATH",
         .text = "the socket that feeders send to; else /run/tallyfs/socket for root, "
                 "$XDG_RUNTIME_DIR/tallyfs/socket for others"});
    add({.names = "--socket-mode",
         .variable = &mode_,
         .value = "MODE",
         .text = "the mode of the socket, in octal: write permission allows feeding",
         .check = find_mode_fault});
    add({.names = "--queue-length",
         .variable = &options_.queue_length,
         .value = "N",
         .text = "datagrams that may wait in the socket",
         .check = InRange{1, 65'536},
         .bounds = "1 to 65536"});
  }

  void add_limits() {
    add_bytes("--memory-max", options_.ledger.total.bytes,
              "memory of all definitions and data; a definition beyond it is refused");
    add_bytes("--uid-memory", options_.ledger.per_uid.bytes, "the same for each uid that feeds");
    add_quota("--uid-interfaces", options_.ledger.per_uid.interfaces, "interfaces of a uid");
    add_quota("--uid-statistics", options_.ledger.per_uid.statistics, "statistics of a uid");
    add_quota("--uid-open-files", options_.handles.files_per_uid, "files that a uid may have open");
    add_bytes("--uid-open-bytes", options_.handles.bytes_per_uid,
              "text in the files that a uid has open");
    add_bytes("--open-bytes-max", options_.handles.bytes_total,
              "text in the files that all uids have open");
  }

  void add_metrics() {
    line_.add_flag("--metrics-readable", metrics_readable_,
                   "all users may read metrics/; also -o metrics_readable");
    line_.add_flag("--metrics-created", metrics_created_,
                   "metrics/tallyfs.om has _created lines; also -o metrics_created");
    add({.names = "--metrics-prefix",
         .variable = &options_.metrics.options.prefix,
         .value = "PREFIX",
         .text = "the beginning of the names of all metrics",
         .check = check_prefix});
    add_number("--metrics-series-max", options_.metrics.options.series_max,
               "series in a file of metrics/; statistics beyond are left out");
  }
  void take_metrics() {
    if (metrics_readable_) options_.metrics.audience.permissions = 0444;
    if (metrics_created_) options_.metrics.options.created = statistics::ShowCreated::kYes;
  }

  // An option of the daemon's own; it may stand behind -o too.
  void add(const Option& option) {
    own_.insert(option.names);
    line_.add(option);
  }
  void add_number(const std::string& name, std::uint64_t& value, const std::string& text) {
    add({.names = name, .variable = &value, .value = "N", .text = text});
  }
  template <std::unsigned_integral Number>
  void add_quota(const std::string& name, Number& value, const std::string& text) {
    add({.names = name,
         .variable = &value,
         .value = "N",
         .text = text,
         .check = InRange{1, 1'048'576},
         .bounds = "1 to 1048576"});
  }
  void add_bytes(const std::string& name, std::uint64_t& value, const std::string& text) {
    add({.names = name,
         .variable = &value,
         .value = "BYTES",
         .text = text,
         .check = Bytes{kLeastBytes, std::uint64_t{1} << 60},
         .bounds = "1M at least"});
  }

  // `-o a_b=c` means `--a-b c`, so that all fits into fstab.
  // Returns the status to exit with if the option is refused.
  std::optional<int> take_mount_option(const std::string& option) {
    if (option.empty() || is_ignored(option)) return std::nullopt;
    const auto equals = option.find('=');
    std::string name = "--" + option.substr(0, equals);
    std::replace(name.begin(), name.end(), '_', '-');
    if (equals != std::string::npos && own_.contains(name)) {
      return line_.replace(name, option.substr(equals + 1));
    }
    if (option == "tracefs") {
      options_.tracefs = true;
    } else if (option == "no_keeper") {
      no_keeper_ = true;
    } else if (option == "no_state") {
      options_.no_state = true;
    } else if (option == "metrics_readable") {
      metrics_readable_ = true;
    } else if (option == "metrics_created") {
      metrics_created_ = true;
    } else if (option == "auto_unmount") {
      // Not libfuse's, by which a process of its own would unmount when this program is replaced.
      options_.auto_unmount = true;
    } else if (is_for_libfuse(option)) {
      options_.mount_options.push_back(option);
    } else {
      return line_.refuse("-o", "unknown mount option '" + option + "'");
    }
    return std::nullopt;
  }

  // Other users do not get into a mount without allow_other.
  std::optional<int> check_groups() {
    const bool is_open = has(options_.mount_options, "allow_other");
    if (is_open) return std::nullopt;
    if (!options_.group.empty()) return refuse_closed("--group");
    if (!options_.write_group.empty()) return refuse_closed("--write-group");
    return std::nullopt;
  }

  // With what else is wrong, so that a second try is the last.
  int refuse_closed(const std::string& option) {
    std::string reason = "needs -o allow_other, without which its members cannot enter";
    if (const auto found = find_groups(options_.group, options_.write_group); !found) {
      reason.append("; ").append(found.error().reason);
    }
    return line_.refuse(option, reason);
  }

  void add_mount_defaults(const std::string& source) {
    auto& mount_options = options_.mount_options;
    if (!has(mount_options, "fsname=")) mount_options.push_back("fsname=" + source);
    if (!has(mount_options, "subtype=")) mount_options.emplace_back("subtype=tallyfs");
    for (const char* option : {"nosuid", "nodev", "noexec", "default_permissions"}) {
      mount_options.emplace_back(option);
    }
  }

  CommandLine line_;
  DaemonOptions options_{.queue_length = FeedSocket::kQueueLength, .log_level = "info"};
  std::vector<std::string> places_;
  std::vector<std::string> lists_;
  std::string mode_ = "0666";
  bool no_keeper_ = false;
  bool metrics_readable_ = false;
  bool metrics_created_ = false;
  std::set<std::string> own_;
};

}  // namespace

ParsedOptions parse_options(int argc, char** argv) { return OptionsParser().parse(argc, argv); }

}  // namespace tallyfs
