#include "feeders/tracefs/instance.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <memory>
#include <optional>

#include "core/base/text.h"
#include "feeders/tracefs/probe_group.h"
#include "feeders/tracefs/ring_losses.h"
#include "feeders/tracefs/tracefs.h"

namespace tallyfs {
namespace {

const std::string kInstances = "instances/";
constexpr std::string_view kPrefix = "tallyfs-";

// Whose instance `tallyfs-NAME-PID` or `tallyfs-NAME-NUMBER-PID` is; nothing for other names.
std::optional<InstanceOwner> owner_of(std::string_view instance) {
  const std::size_t dash = instance.rfind('-');
  if (!instance.starts_with(kPrefix) || dash < kPrefix.size()) return std::nullopt;
  const auto pid = parse_unsigned(instance.substr(dash + 1));
  if (!pid || *pid == 0 || *pid > INT32_MAX) return std::nullopt;
  InstanceOwner owner{.pid = static_cast<pid_t>(*pid)};
  const std::string_view name = instance.substr(0, dash);
  const auto number = parse_unsigned(name.substr(name.rfind('-') + 1));
  if (number && *number <= INT32_MAX) owner.number = static_cast<std::uint32_t>(*number);
  return owner;
}

// True if the process that an instance is named after has ended. A zombie holds nothing.
bool is_gone(pid_t owner) {
  if (::kill(owner, 0) != 0) return errno == ESRCH;
  std::ifstream file("/proc/" + std::to_string(owner) + "/stat");
  std::string status;
  std::getline(file, status);
  const auto name_end = status.rfind(')');
  return name_end != std::string::npos && status.substr(name_end).starts_with(") Z");
}

}  // namespace

std::string InstanceOwner::suffix() const {
  return (number ? "-" + std::to_string(*number) : "") + "-" + std::to_string(pid);
}

// Without a number, an owner in another PID namespace looks dead from here, but the kernel does not
// remove an instance whose pipes are held open. An instance with our own process id was then left
// by an earlier process of that id: in a container that is every run.
std::size_t TracefsInstance::remove_left_behind(const Fd& root, const InstanceOwner* first_of) {
  std::size_t left = 0;
  for (const std::string& name : list_names(root, kInstances)) {
    const auto owner = owner_of(name);
    if (!owner) continue;
    const bool is_its = first_of && owner->pid == first_of->pid &&
                        (!owner->number || owner->number == first_of->number);
    const bool is_left = owner->number ? is_free_group(root, *owner->number) : is_gone(owner->pid);
    if (!is_its && !is_left) continue;
    const bool is_removed = ::unlinkat(root.get(), (kInstances + name).c_str(), AT_REMOVEDIR) == 0;
    if (!is_removed && errno != ENOENT && is_left && owner->number) left += 1;
  }
  return left;
}

Result<TracefsInstance> TracefsInstance::create(const Options& options) {
  auto root = open_tracefs(options.tracefs);
  if (!root) return root.error();
  (void)remove_left_behind(root.value(), nullptr);
  std::string name(kPrefix);
  name += options.name + options.owner.suffix();
  TracefsInstance made(std::move(root.value()), std::move(name), options.events);
  if (options.predecessor == Predecessor::kMayHaveLeftOne && made.take_over()) return made;
  if (auto done = made.set_up(options); !done) return done.error();
  return made;
}

// A clock that is set, or a size, would empty the buffers. One whose maker did not get to its last
// setting is made anew.
bool TracefsInstance::take_over() {
  directory_ =
      Fd(::openat(root_.get(), (kInstances + name_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory_.valid()) return false;
  const auto clock = read_text(directory_, "trace_clock");
  const auto last_setting = read_text(directory_, "buffer_percent");
  is_inherited_ = clock && clock.value().find("[mono]") != std::string::npos && last_setting &&
                  last_setting.value() == "0\n" && open_pages();
  if (is_inherited_) return true;
  pipes_.clear();
  stats_.clear();
  cpus_.clear();
  directory_.reset();
  return false;
}

TracefsInstance::~TracefsInstance() {
  if (!root_.valid()) return;
  // The kernel removes no instance that is open.
  pipes_.clear();
  stats_.clear();
  directory_.reset();
  ::unlinkat(root_.get(), (kInstances + name_).c_str(), AT_REMOVEDIR);
}

Result<void> TracefsInstance::set_up(const Options& options) {
  const std::string path = kInstances + name_;
  // An instance of the same name was left by an earlier process with the owner's id.
  ::unlinkat(root_.get(), path.c_str(), AT_REMOVEDIR);
  if (::mkdirat(root_.get(), path.c_str(), 0700) != 0) {
    return system_error("cannot make the tracing instance " + name_);
  }
  directory_ = Fd(::openat(root_.get(), path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory_.valid()) return system_error("cannot open " + path);
  const std::pair<std::string, std::string> settings[] = {
      {"trace_clock", "mono"},
      {"buffer_size_kb", std::to_string(options.buffer_kib_per_cpu)},
      // Wake a poller at the first event, not when the buffer is half full.
      {"buffer_percent", "0"}};
  for (const auto& [file, value] : settings) {
    if (auto done = write_text(directory_, file, value); !done) return done.error();
  }
  for (const Event& event : events_) {
    if (event.filter.empty()) continue;
    auto done = write_text(directory_, event.directory() + "/filter", event.filter);
    if (!done) return done.error();
  }
  return open_pages();
}

Result<void> TracefsInstance::open_pages() {
  const auto header = read_text(root_, "events/header_page");
  if (!header) return header.error();
  auto page = parse_page_format(header.value());
  if (!page) return page.error();
  page_format_ = std::move(page.value());
  return open_pipes();
}

Result<void> TracefsInstance::open_pipes() {
  for (const std::string& cpu : list_names(directory_, "per_cpu")) {
    const auto number =
        cpu.starts_with("cpu") ? parse_unsigned(std::string_view(cpu).substr(3)) : std::nullopt;
    if (!number) continue;
    const std::string path = "per_cpu/" + cpu + "/trace_pipe_raw";
    Fd pipe(::openat(directory_.get(), path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (!pipe.valid()) return system_error("cannot open " + path);
    pipes_.push_back(std::move(pipe));
    stats_.emplace_back(
        ::openat(directory_.get(), ("per_cpu/" + cpu + "/stats").c_str(), O_RDONLY | O_CLOEXEC));
    cpus_.push_back(static_cast<unsigned>(*number));
  }
  return {};
}

std::optional<std::uint64_t> TracefsInstance::losses(std::size_t pipe) const {
  std::array<char, 512> text;
  const auto size = ::pread(stats_[pipe].get(), text.data(), text.size(), 0);
  if (size <= 0) return std::nullopt;
  return parse_ring_losses({text.data(), static_cast<std::size_t>(size)});
}

Result<tracing::EventFormat> TracefsInstance::format(const Event& event) const {
  const auto text = read_text(directory_, event.directory() + "/format");
  if (!text) return text.error();
  return tracing::parse_event_format(text.value());
}

Result<void> TracefsInstance::enable(const std::string& value) {
  for (const Event& event : events_) {
    auto done = write_text(directory_, event.directory() + "/enable", value);
    if (!done) return done.error();
  }
  return {};
}

Result<void> TracefsInstance::start(const Event& event) {
  return write_text(directory_, event.directory() + "/enable", "1");
}

Result<void> TracefsInstance::stop(const Event& event) {
  return write_text(directory_, event.directory() + "/enable", "0");
}

// set_event would not tell of one that is off and has a trigger, nor of a filter.
void TracefsInstance::stop_others(const std::vector<Event>& events) {
  for (const std::string& system : list_names(directory_, "events")) {
    for (const std::string& name : list_names(directory_, "events/" + system)) {
      const Event event{system, name};
      const bool stays = std::ranges::any_of(
          events, [&](const Event& each) { return each.directory() == event.directory(); });
      if (!stays) clear(event);
    }
  }
  is_inherited_ = false;
}

// Writes only files whose content is wrong: each write waits for all CPUs.
void TracefsInstance::clear(const Event& event) {
  const auto on = read_text(directory_, event.directory() + "/enable");
  if (!on) return;
  if (on.value() != "0\n") {
    (void)stop(event);
    (void)stop_stacks(event);
  }
  const auto filtered = read_text(directory_, event.directory() + "/filter");
  if (filtered && filtered.value() != "none\n") (void)filter(event);
}

Result<void> TracefsInstance::filter(const Event& event) {
  const std::string file = event.directory() + "/filter";
  auto done = write_text(directory_, file, event.filter.empty() ? "0" : event.filter);
  if (!done) (void)write_text(directory_, file, "0");
  return done;
}

Result<void> TracefsInstance::start_stacks(const Event& event) {
  const std::string condition = event.filter.empty() ? "" : " if " + event.filter;
  return write_text(directory_, event.directory() + "/trigger", "stacktrace" + condition);
}

Result<void> TracefsInstance::stop_stacks(const Event& event) {
  return write_text(directory_, event.directory() + "/trigger", "!stacktrace");
}

Result<void> TracefsInstance::start() { return enable("1"); }

Result<void> TracefsInstance::stop() { return enable("0"); }

}  // namespace tallyfs
