#include "tools/ctl/daemon_checks.h"

#include <linux/unix_diag.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>

#include "core/base/fd.h"
#include "core/base/text.h"
#include "program/sock_diag/socket_dump.h"
#include "tools/display/quantity.h"

namespace tallyfs {
namespace {

std::string link_of(const std::string& path) {
  std::error_code error;
  return std::filesystem::read_symlink(path, error).string();
}

std::string status_field(std::uint64_t pid, const std::string& wanted) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with(wanted)) return std::string(trimmed(line.substr(wanted.size())));
  }
  return "";
}

// The errno of a connection, 0 if a process holds the socket.
int connection_error(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return ENAMETOOLONG;
  std::memcpy(address.sun_path, path.data(), path.size());
  const Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return errno;
  const auto* to = reinterpret_cast<const sockaddr*>(&address);
  return ::connect(socket.get(), to, sizeof address) == 0 ? 0 : errno;
}

// The numbers of sockets that are bound to this file, which a removed file of its name is not.
// Empty where the kernel does not say, as on some file systems.
std::vector<std::string> bound_to(const struct stat& file) {
  std::vector<std::string> found;
  unix_diag_req request{};
  request.sdiag_family = AF_UNIX;
  request.udiag_states = ~0u;
  request.udiag_show = UDIAG_SHOW_VFS;
  SocketDump dump;
  const auto done = dump.ask(request, [&](std::span<const char> message) {
    const auto socket = load_from<unix_diag_msg>(message);
    each_attribute(message, sizeof socket, [&](unsigned short type, std::span<const char> value) {
      if (type != UNIX_DIAG_VFS) return;
      const auto inode = static_cast<std::uint32_t>(file.st_ino);
      if (load_from<unix_diag_vfs>(value).udiag_vfs_ino == inode) {
        found.push_back(std::to_string(socket.udiag_ino));
      }
    });
  });
  return done ? found : std::vector<std::string>();
}

// nullopt: the descriptors cannot be read: this user may not, or the process has ended.
std::optional<bool> holds_one_of(std::uint64_t pid, const std::vector<std::string>& inodes) {
  std::error_code error;
  const std::filesystem::directory_iterator folder("/proc/" + std::to_string(pid) + "/fd", error);
  if (error) return std::nullopt;
  for (const auto& each : folder) {
    const std::string target = link_of(each.path().string());
    for (const std::string& inode : inodes) {
      if (target == "socket:[" + inode + "]") return true;
    }
  }
  return false;
}

struct PackageUnit {
  std::string name;
  std::string without;     // what there is not while it is off
  std::string interfaces;  // of a feeder: what their names begin with; empty: any
  const char* kind = ".service";
};
// The units of the package, as docs/running.md lists them.
const std::array kPackageUnits = {
    PackageUnit{"tally-feed-block", "nothing measures disk requests", "block-"},
    PackageUnit{"tally-feed-tcp", "nothing measures TCP connections", "tcp"},
    PackageUnit{"tally-feed-timer", "nothing measures late timers", "timer"},
    PackageUnit{"tally-feed-log", "nothing counts what programs log", ""},
    PackageUnit{"tally-feed-statsd", "nothing listens for StatsD", "", ".socket"},
    PackageUnit{"tally-web", "there is no page in the browser", ""},
    PackageUnit{"tally-record", "nothing records the past", ""},
};

bool has_interfaces(const view::Tree& tree, const std::string& prefix) {
  return std::ranges::any_of(tree.interfaces, [&](const view::InterfaceSummary& each) {
    return each.name.starts_with(prefix);
  });
}

bool is_there(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

// Whether systemd starts the unit with the machine, or has it running.
bool is_on(const std::string& unit, const std::string& root) {
  struct stat status {};
  const std::string running = root + "/run/systemd/units/invocation:" + unit;
  if (::lstat(running.c_str(), &status) == 0) return true;
  std::error_code error;
  const std::filesystem::directory_iterator folder(root + "/etc/systemd/system", error);
  if (error) return false;
  return std::ranges::any_of(folder, [&](const std::filesystem::directory_entry& each) {
    const std::string wants = each.path().string();
    return wants.ends_with(".wants") && ::lstat((wants + "/" + unit).c_str(), &status) == 0;
  });
}

}  // namespace

Finding check_versions(const view::Tree& tree, const std::string& own,
                       const std::optional<std::string>& library) {
  std::string text("daemon ");
  text.append(tree.version).append(", tallyctl ").append(own);
  text.append(library ? ", libtally " + *library : ", no libtally is installed");
  if (tree.version == own && library.value_or(own) == own) {
    return {Level::kOk, "versions", std::move(text), ""};
  }
  return {Level::kWarning, "versions", std::move(text),
          "install all from one release, reload the daemon (tallyfs --reload MOUNTPOINT), restart "
          "programs with libtally"};
}

Finding check_program(const view::Tree& tree) {
  const std::string pid = std::to_string(tree.pid);
  const std::string program = link_of("/proc/" + pid + "/exe");
  if (program.ends_with(" (deleted)")) {
    return {Level::kWarning, "program", "pid " + pid + " runs a program that was replaced since",
            "tallyfs --reload MOUNTPOINT, or systemctl reload tallyfs: feeders notice nothing"};
  }
  return {Level::kOk, "program", "pid " + pid + (program.empty() ? "" : ", " + program), ""};
}

Finding check_socket(const view::Tree& tree) {
  struct stat status {};
  const std::string& path = tree.socket;
  if (path.empty()) {
    return {Level::kFailure, "socket", "the daemon has none", "start it with --socket PATH"};
  }
  if (::stat(path.c_str(), &status) != 0) {
    return {Level::kFailure, "socket", path + ": " + std::strerror(errno),
            "it was removed: restart the daemon, which makes it anew"};
  }
  if (!S_ISSOCK(status.st_mode)) {
    return {Level::kFailure, "socket", path + " is no socket", "remove it, restart the daemon"};
  }
  const int error = connection_error(path);
  if (error == ECONNREFUSED) {
    return {Level::kFailure, "socket", path + ": no process holds it", "restart the daemon"};
  }
  if (error == EACCES) {
    return {Level::kWarning, "socket", path + ": this user may not feed",
            "start the daemon with another --socket-mode, or feed as its owner"};
  }
  if (error != 0) {
    return {Level::kFailure, "socket", path + ": " + std::strerror(error), "restart the daemon"};
  }
  const auto bound = bound_to(status);
  if (!bound.empty() && holds_one_of(tree.pid, bound) == false) {
    return {Level::kFailure, "socket", path + " is held by another process than this daemon",
            "two daemons: end one, or give them two sockets (--socket)"};
  }
  return {Level::kOk, "socket", path + ", held, may be written", ""};
}

// Feeders that are started here take it before the default socket.
Findings check_named_socket(const view::Tree& tree) {
  const char* const named = std::getenv("TALLY_SOCKET");
  if (!named || *named == '\0' || named == tree.socket) return {};
  struct stat its {};
  struct stat ours {};
  const bool is_there = ::stat(named, &its) == 0;
  const bool is_ours = is_there && ::stat(tree.socket.c_str(), &ours) == 0 &&
                       its.st_dev == ours.st_dev && its.st_ino == ours.st_ino;
  if (is_ours) return {};
  return {{Level::kWarning, "socket",
           std::string("$TALLY_SOCKET is ") + named +
               (is_there ? ", which is not this daemon's" : ", which is not there"),
           "feeders that are started here do not feed this daemon: unset it, or set it to " +
               tree.socket}};
}

Finding check_queue(const view::Tree& tree) {
  constexpr std::uint64_t kUsual = 512;
  if (!tree.queue_length) {
    return {Level::kOk, "queue", "its length is not known: another process made the socket", ""};
  }
  const std::string text = std::to_string(*tree.queue_length) + " datagrams";
  if (*tree.queue_length >= kUsual) return {Level::kOk, "queue", text, ""};
  return {Level::kWarning, "queue", text + ": senders wait early",
          "start as root, or sysctl net.unix.max_dgram_qlen=512 before the daemon"};
}

Finding check_tracefs(const view::Tree& tree) {
  if (tree.tracefs != "lost") return {Level::kOk, "tracefs", tree.tracefs, ""};
  return {Level::kFailure, "tracefs", "wanted, but its feeder has ended",
          "tallyctl errors says why; mount as root with -o tracefs, on a kernel with tracefs"};
}

Finding check_memory(const view::Tree& tree) {
  const std::string resident = status_field(tree.pid, "VmRSS:");
  const std::string swapped = status_field(tree.pid, "VmSwap:");
  if (resident.empty()) return {Level::kOk, "memory", "of pid " + std::to_string(tree.pid), ""};
  if (!swapped.empty() && !swapped.starts_with("0 ")) {
    return {Level::kWarning, "memory", resident + " resident, " + swapped + " swapped out",
            "reads wait for the disk: more memory, or fewer statistics (--memory-max)"};
  }
  return {Level::kOk, "memory", resident + " resident", ""};
}

namespace {

std::string bytes_text(std::uint64_t bytes) {
  return view::number_text(static_cast<double>(bytes), view::quantity_of_x("bytes/uids"),
                           view::Digits::kThree, view::Charset::kAscii);
}

// What there are quotas of, and the options that raise them; empty: none does.
struct Quantities {
  std::uint64_t view::Holdings::*of;
  const char* name;
  const char* option_of_uid;
  const char* option_of_all;
};
constexpr Quantities kQuantities[] = {
    {&view::Holdings::interfaces, " interfaces", "--uid-interfaces", ""},
    {&view::Holdings::statistics, " statistics", "--uid-statistics", ""},
    {&view::Holdings::bytes, " of data", "--uid-memory", "--memory-max"}};

std::string quantity_text(const Quantities& quantity, const view::Holdings& holdings) {
  const std::uint64_t value = holdings.*quantity.of;
  return quantity.of == &view::Holdings::bytes ? bytes_text(value) : view::grouped_text(value);
}

// limit: null, if the daemon is older and does not say. near: the part of it that is a fault.
Finding check_holdings(const std::string& whose, const view::Holdings& held,
                       const view::Holdings* limit, double near,
                       const char* Quantities::*option) {
  Finding found{Level::kOk, "quotas", whose, ""};
  std::string options;
  for (const Quantities& each : kQuantities) {
    found.text += (&each == kQuantities ? ": " : ", ") + quantity_text(each, held);
    if (limit) found.text += " of " + quantity_text(each, *limit);
    found.text += each.name;
    if (!limit) continue;
    const auto bound = static_cast<double>(limit->*each.of);
    if (static_cast<double>(held.*each.of) < near * bound) continue;
    found.level = Level::kWarning;
    if (!*(each.*option)) continue;
    options += (options.empty() ? ", or a larger " : ", ") + std::string(each.*option);
  }
  if (found.level != Level::kOk) found.advice = "remove some: tallyctl rm" + options;
  return found;
}

}  // namespace

Findings check_quotas(const view::Tree& tree) {
  Findings found;
  view::Holdings sum;
  const view::QuotaLimits* const limits = tree.quota_limits ? &*tree.quota_limits : nullptr;
  for (const view::Quota& each : tree.quotas) {
    for (const Quantities& of : kQuantities) sum.*of.of += each.held.*of.of;
    found.push_back(check_holdings("uid " + std::to_string(each.uid), each.held,
                                   limits ? &limits->uid : nullptr, 0.9,
                                   &Quantities::option_of_uid));
  }
  if (!limits) return found;
  // The last tenth is root's alone.
  Finding all =
      check_holdings("all uids", sum, &limits->all, 0.8, &Quantities::option_of_all);
  if (tree.quotas.size() > 1 || all.level != Level::kOk) found.push_back(std::move(all));
  return found;
}

Finding check_feeders(const view::Tree& before, const view::Tree& now) {
  const double seconds = static_cast<double>(now.time_us - before.time_us) / 1e6;
  std::size_t fed = 0;
  std::size_t all = 0;
  std::string text;
  for (const view::InterfaceSummary& each : now.interfaces) {
    if (each.name == "tallyfs") continue;
    ++all;
    const auto was = std::ranges::find(before.interfaces, each.name, &view::InterfaceSummary::name);
    if (was == before.interfaces.end() || each.samples <= was->samples || seconds <= 0) continue;
    constexpr std::size_t kShown = 5;
    if (++fed > kShown) continue;
    const double rate = static_cast<double>(each.samples - was->samples) / seconds;
    text.append(text.empty() ? ": " : ", ").append(each.name).append(" ");
    text.append(view::rate_text(rate));
  }
  const std::string counted =
      std::to_string(fed) + " of " + std::to_string(all) + " interfaces had samples just now";
  return {Level::kOk, "feeders", counted + text, ""};
}

Findings check_timer_names(const view::Interface& timer, const std::string& mount) {
  const auto is_earlier = [](const view::Statistic& each) {
    std::string_view name = each.name;
    for (const std::string_view family : {"lateness_cpu", "overruns_cpu"}) {
      if (!name.starts_with(family)) continue;
      name.remove_prefix(family.size());
      return parse_unsigned(name).has_value();
    }
    return false;
  };
  const auto count = std::ranges::count_if(timer.statistics, is_earlier);
  if (count == 0) return {};
  const auto& first = *std::ranges::find_if(timer.statistics, is_earlier);
  std::string text = "timer/" + first.name;
  if (count > 1) text.append(" and ").append(std::to_string(count - 1)).append(" more");
  text.append(count > 1 ? " have" : " has").append(" no feeder since CPUs are labels");
  const std::string lines = R"('s/^name=((lateness|overruns)_cpu[0-9]+) .*/remove timer\/\1/p' )";
  return {
      {Level::kOk, "timer", std::move(text),
       "to remove them: sed -En " + lines + mount + "/statistics/timer/definition | tally-send"}};
}

Findings check_units(const view::Tree& tree, const std::string& prefix, const std::string& root) {
  Findings found;
  for (const PackageUnit& each : kPackageUnits) {
    const std::string unit = each.name + each.kind;
    if (!is_there(prefix + "/lib/systemd/system/" + unit) || is_on(unit, root)) continue;
    if (!each.interfaces.empty() && has_interfaces(tree, each.interfaces)) continue;
    const bool is_service = unit.ends_with(".service");
    found.push_back({Level::kOk, "units", each.name + " is off: " + each.without,
                     "systemctl enable --now " + (is_service ? each.name : unit)});
  }
  const std::string events = prefix + "/share/tallyfs/tracefs.conf";
  if (tree.tracefs == "off" && is_there(events)) {
    found.push_back({Level::kOk, "units", "the kernel's events are off",
                     "install -D -m 644 -t /etc/systemd/system/tallyfs.service.d " + events +
                         " && systemctl daemon-reload && systemctl restart tallyfs"});
  }
  return found;
}

Finding check_rights(const std::string& mount) {
  const std::string folder = mount + "/statistics/tallyfs/";
  const bool reads = ::access((folder + "data").c_str(), R_OK) == 0;
  const bool writes = ::access((folder + "definition").c_str(), W_OK) == 0;
  if (!reads) {
    return {Level::kWarning, "rights", "this user may not read data",
            "look as the user who mounted, or as a member of --group"};
  }
  return {Level::kOk, "rights", writes ? "this user may read, and change" : "this user may read",
          ""};
}

}  // namespace tallyfs
