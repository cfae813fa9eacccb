#include "feeders/tracefs/probe_group.h"

#include <fcntl.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include "core/base/text.h"
#include "feeders/tracefs/instance.h"
#include "feeders/tracefs/tracefs.h"

namespace tallyfs {
namespace {

constexpr const char* kProbeFile = "dynamic_events";
constexpr std::string_view kGroupPrefix = "tallyfs_";
// The group of events that programs have defined in the kernel.
constexpr std::string_view kUserEvents = "user_events";
constexpr std::uint32_t kNumberMask = 0x7fffffff;

ErrorCode code_of_errno(int error) {
  switch (error) {
    case EBUSY:
      return ErrorCode::kBusy;
    case EEXIST:
      return ErrorCode::kExists;
    case ENOENT:
      return ErrorCode::kNotFound;
    case ENOSPC:
    case ENOMEM:
      return ErrorCode::kNoSpace;
    case EACCES:
    case EPERM:
      return ErrorCode::kNoAccess;
    default:
      return ErrorCode::kInvalid;
  }
}

Result<Fd> open_locks(const Fd& tracefs) {
  Fd directory(::openat(tracefs.get(), "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.valid()) return directory;
  return system_error("cannot open instances");
}

struct flock byte_of(std::uint32_t number, short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = number;
  lock.l_len = 1;
  return lock;
}

// locks: opened for this question, since a lock of the same open file is none to itself.
bool is_free(const Fd& locks, std::uint32_t number) {
  struct flock lock = byte_of(number, F_WRLCK);
  return ::fcntl(locks.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
}

std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

// `p:GROUP/EVENT TEXT`, with `r10:` as well, or `u:EVENT TEXT` of an event of programs.
std::optional<RealProbe> parse_real(std::string_view line) {
  const std::size_t blank = std::min(line.find_first_of(" \t"), line.size());
  std::string_view name = line.substr(0, blank);
  const std::size_t colon = name.find(':');
  const bool has_kind = colon != name.npos && colon > 0 && name[0] != '-' &&
                        name.substr(1, colon - 1).find_first_not_of("0123456789") == name.npos;
  if (!has_kind) return std::nullopt;
  name.remove_prefix(colon + 1);
  const std::size_t slash = name.find('/');
  const bool is_of_programs = line[0] == 'u' && slash == name.npos;
  if (slash == name.npos && !is_of_programs) return std::nullopt;
  RealProbe probe{.kind = line[0], .group = std::string(kUserEvents), .event = {}, .text = {}};
  if (!is_of_programs) probe.group = name.substr(0, slash);
  probe.event = is_of_programs ? name : name.substr(slash + 1);
  if (blank != line.size()) probe.text = line.substr(blank + 1);
  return probe;
}

std::string read_list(const Fd& tracefs, const char* name) {
  const Fd file(::openat(tracefs.get(), name, O_RDONLY | O_CLOEXEC));
  std::string text;
  std::string piece(std::size_t{64} * 1024, '\0');
  for (;;) {
    const auto size = file.valid() ? ::read(file.get(), piece.data(), piece.size()) : 0;
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    text.append(piece, 0, static_cast<std::size_t>(size));
  }
  return text;
}

// `  FILE EVENT HITS` of a program, `  EVENT HITS MISSED` of the kernel. Nothing: it is a line of
// another probe.
std::optional<RealHits> parse_profile(std::string_view line, const RealProbe& probe) {
  Tokens words(line);
  if (probe.is_of_program()) {
    const auto file = words.next();
    const bool is_its = file && probe.text.starts_with(file->text) &&
                        probe.text.substr(file->text.size()).starts_with(':');
    if (!is_its) return std::nullopt;
  }
  const auto event = words.next();
  const auto number = words.next();
  const auto misses = words.next();
  const auto hits = number ? parse_unsigned(number->text) : std::nullopt;
  const auto missed = misses ? parse_unsigned(misses->text) : std::uint64_t{0};
  if (!hits || !missed || event->text != probe.event) return std::nullopt;
  return RealHits{*hits, *missed};
}

// The kernel lists them in the same order, without their groups.
Result<void> read_profile(const Fd& tracefs, const char* name, bool is_of_programs,
                          const std::vector<RealProbe>& probes, std::vector<RealHits>& all) {
  const Error differ{ErrorCode::kBusy, "probes came or went meanwhile"};
  const auto is_listed = [=](const RealProbe& each) {
    return each.has_profile() && each.is_of_program() == is_of_programs;
  };
  if (std::ranges::none_of(probes, is_listed)) return {};
  if (::faccessat(tracefs.get(), name, R_OK, 0) != 0) {
    return Error{ErrorCode::kNoDevice,
                 std::string("cannot read the kernel's ") + name + ": " + std::strerror(errno)};
  }
  const std::string text = read_list(tracefs, name);
  std::string_view rest = text;
  for (std::size_t i = 0; i < probes.size(); ++i) {
    if (!is_listed(probes[i])) continue;
    const auto hits = parse_profile(take_line(rest), probes[i]);
    if (!hits) return differ;
    all[i] = *hits;
  }
  return rest.empty() ? Result<void>() : differ;
}

// The instances of a group whose supervisor has ended. The process id alone may be another's by
// now, or another PID namespace's.
void remove_instances_of(const Fd& tracefs, const ProbeGroup& group) {
  const std::string end = InstanceOwner{group.owner, group.number}.suffix();
  for (const std::string& name : list_names(tracefs, "instances")) {
    if (!name.starts_with("tallyfs-") || !name.ends_with(end)) continue;
    ::unlinkat(tracefs.get(), ("instances/" + name).c_str(), AT_REMOVEDIR);
  }
}

}  // namespace

std::string ProbeGroup::name() const {
  return std::string(kGroupPrefix) + std::to_string(owner) + "_" + std::to_string(number);
}

std::optional<ProbeGroup> ProbeGroup::parse(std::string_view name) {
  if (!name.starts_with(kGroupPrefix)) return std::nullopt;
  name.remove_prefix(kGroupPrefix.size());
  const std::size_t between = std::min(name.find('_'), name.size());
  const auto owner = parse_unsigned(name.substr(0, between));
  const auto number = parse_unsigned(name.substr(std::min(between + 1, name.size())));
  if (!owner || *owner == 0 || *owner > INT32_MAX || !number || *number > kNumberMask) {
    return std::nullopt;
  }
  const ProbeGroup group{static_cast<pid_t>(*owner), static_cast<std::uint32_t>(*number)};
  // `010`, or `0x8`, is a name that none of us has given.
  const std::string as_given = std::string(kGroupPrefix).append(name);
  return group.name() == as_given ? std::optional(group) : std::nullopt;
}

Result<ProbeLock> ProbeLock::take(const Fd& tracefs) {
  if (const auto has = check_probes(tracefs); !has) return has.error();
  auto locks = open_locks(tracefs);
  if (!locks) return locks.error();
  constexpr int kTries = 16;
  for (int tries = 0; tries < kTries; ++tries) {
    std::uint32_t number = 0;
    if (::getrandom(&number, sizeof number, 0) != sizeof number) break;
    number &= kNumberMask;
    if (!is_free(locks.value(), number)) continue;
    struct flock lock = byte_of(number, F_RDLCK);
    if (::fcntl(locks.value().get(), F_OFD_SETLK, &lock) != 0) break;
    return ProbeLock{std::move(locks.value()), number};
  }
  return system_error("cannot lock a byte of instances");
}

bool is_free_group(const Fd& tracefs, std::uint32_t number) {
  const auto locks = open_locks(tracefs);
  return locks && is_free(locks.value(), number);
}

// Before Linux 5.0 probes had files of their kinds alone.
Result<void> check_probes(const Fd& tracefs) {
  const auto has = [&](const char* file) { return ::faccessat(tracefs.get(), file, F_OK, 0) == 0; };
  const auto missing = [](const char* reason) { return Error{ErrorCode::kNoDevice, reason}; };
  if (!has("uprobe_events") && !has("kprobe_events")) {
    return missing("this kernel has no uprobes (CONFIG_UPROBE_EVENTS)");
  }
  if (has(kProbeFile)) return {};
  return missing("this kernel has no dynamic_events: probes need Linux 5.0 or later");
}

std::vector<RealProbe> read_dynamic_events(const Fd& tracefs) {
  std::vector<RealProbe> events;
  const std::string text = read_list(tracefs, kProbeFile);
  for (std::string_view rest = text; !rest.empty();) {
    if (auto event = parse_real(take_line(rest))) events.push_back(std::move(*event));
  }
  return events;
}

std::vector<RealProbe> read_real_probes(const Fd& tracefs) {
  auto probes = read_dynamic_events(tracefs);
  constexpr std::string_view kKinds = "preft";
  std::erase_if(probes,
                [=](const RealProbe& each) { return kKinds.find(each.kind) == kKinds.npos; });
  return probes;
}

Result<std::vector<RealHits>> read_probe_hits(const Fd& tracefs,
                                              const std::vector<RealProbe>& probes) {
  std::vector<RealHits> all(probes.size());
  for (const bool is_of_programs : {true, false}) {
    const char* const name = is_of_programs ? "uprobe_profile" : "kprobe_profile";
    auto read = read_profile(tracefs, name, is_of_programs, probes, all);
    if (!read) return read.error();
  }
  return all;
}

Result<void> append_probe_lines(const Fd& tracefs, const std::string& lines) {
  const Fd file(::openat(tracefs.get(), kProbeFile, O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!file.valid()) {
    const ErrorCode code = code_of_errno(errno);
    return Error{code, system_error("cannot open dynamic_events").reason};
  }
  std::string_view rest = lines;
  while (!rest.empty()) {
    const auto size = ::write(file.get(), rest.data(), rest.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return Error{code_of_errno(errno), std::strerror(errno)};
    rest.remove_prefix(static_cast<std::size_t>(size));
  }
  return {};
}

Result<void> remove_probe_group(const Fd& tracefs, const std::string& group) {
  const auto is_gone = [](const Result<void>& removed) {
    return removed || removed.error().code == ErrorCode::kNotFound;
  };
  auto all = append_probe_lines(tracefs, "-:" + group + "/\n");
  if (is_gone(all)) return {};
  // The kernel has stopped at the first that is on.
  std::set<std::string> events;
  for (RealProbe& probe : read_real_probes(tracefs)) {
    if (probe.group == group) events.insert(std::move(probe.event));
  }
  Result<void> last;
  for (const std::string& event : events) {
    auto removed = append_probe_lines(tracefs, "-:" + group + "/" + event + "\n");
    if (!is_gone(removed)) last = std::move(removed);
  }
  return last;
}

std::vector<std::string> orphaned_probe_groups(const Fd& tracefs) {
  const auto locks = open_locks(tracefs);
  if (!locks) return {};
  std::set<std::string> groups;
  for (RealProbe& probe : read_real_probes(tracefs)) {
    const auto group = ProbeGroup::parse(probe.group);
    if (group && is_free(locks.value(), group->number)) groups.insert(std::move(probe.group));
  }
  return {groups.begin(), groups.end()};
}

RemovedOrphans remove_orphaned_probes(const Fd& tracefs) {
  RemovedOrphans removed;
  for (const std::string& name : orphaned_probe_groups(tracefs)) {
    remove_instances_of(tracefs, *ProbeGroup::parse(name));
    if (const auto done = remove_probe_group(tracefs, name)) {
      removed.groups += 1;
    } else {
      removed.left.push_back(name + ": " + done.error().reason);
    }
  }
  return removed;
}

// `[ 12.3] trace_uprobe: error: REASON`, `  Command: LINE`, and the caret under the line.
std::optional<Error> find_refusal(std::string_view error_log, std::string_view line) {
  constexpr std::string_view kCommand = "  Command: ";
  constexpr std::string_view kError = ": error: ";
  std::optional<Error> newest;
  std::string_view head;
  while (!error_log.empty()) {
    const std::string_view text = take_line(error_log);
    const bool is_meant = text.starts_with(kCommand) && text.substr(kCommand.size()) == line;
    if (!is_meant) {
      head = text;
      continue;
    }
    const std::string_view below = take_line(error_log);
    const std::size_t behind_time = head.find("] ");
    const std::size_t error = head.find(kError);
    const std::size_t caret = below.find('^');
    if (behind_time == head.npos || error == head.npos || error < behind_time) continue;
    newest = Error{.code = ErrorCode::kInvalid,
                   .reason = std::string(head.substr(error + kError.size())),
                   .location = std::string(head.substr(behind_time + 2, error - behind_time - 2))};
    if (caret != below.npos && caret >= kCommand.size()) newest->token_at = caret - kCommand.size();
  }
  return newest;
}

}  // namespace tallyfs
