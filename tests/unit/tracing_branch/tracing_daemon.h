// The whole branch tracing/ of a daemon on a test stand: with a source of kernel events, events of
// programs, and files by their paths.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/tracing/branch/tracing_branch.h"
#include "core/wire/line.h"
#include "tests/unit/fake_processes.h"
#include "tests/unit/saved_objects.h"
#include "tests/unit/senders.h"
#include "tests/unit/tracing_branch/find_node.h"
#include "tests/unit/tracing_branch/tracing_fixture.h"

namespace tallyfs::tracing {

// Ids of the kernel's events.
inline constexpr std::uint32_t kWaking = 315, kSwitch = 314;

class TracingDaemon {
 public:
  explicit TracingDaemon(const FakeClock& clock, const Ledger::Limits& limits = {})
      : clock_(clock), ledger_(limits) {}

  TracingBranch& branch() { return branch_; }
  FakeSource& kernel() { return kernel_; }
  ErrorLog& errors() { return *errors_; }
  Timestamp now() const { return clock_.now(); }

  Result<void> offer(const std::string& name, std::uint32_t id, const std::string& extra = "") {
    std::string text = format_of(name, static_cast<int>(id));
    text.insert(text.find("\nprint fmt"), extra);
    return branch_.tracing().offer(kernel_, {.system = "sched", .text = text, .source_id = id},
                                   clock_.now());
  }
  void feed(std::uint32_t id, std::int32_t pid, std::int32_t prio, std::uint64_t time_ns = 1000) {
    std::string bytes(16, '\0');
    std::memcpy(bytes.data() + 8, &pid, 4);
    std::memcpy(bytes.data() + 12, &prio, 4);
    const EventRecord record{.event = id, .time_ns = time_ns, .pid = 1, .bytes = bytes};
    branch_.tracing().feed(kernel_, {&record, 1}, clock_.now());
  }
  Result<Done> tell(std::string_view line, const Sender& sender = {kAlice, 7}) {
    const auto parsed = wire::parse_line(line);
    if (!parsed) return parsed.error().error();
    Call call{.sender = sender, .now = clock_.now()};
    return branch_.execute(parsed.value(), call);
  }

  Result<NodeInfo> node(std::string_view path) {
    return find_node(tree_, directory_, path, clock_.now());
  }
  // "(none)": there is no such file.
  std::string read(std::string_view path) {
    const auto found = node(path);
    if (!found) return "(none)";
    const auto file = tree_.file(found.value().id).value();
    file->opened(clock_.now());
    return file->render(clock_.now(), 1 << 24).value();
  }
  std::shared_ptr<File> file(NodeId node) { return tree_.file(node).value(); }
  Result<void> clear(std::string_view path) {
    return file(node(path).value().id)->truncate(clock_.now());
  }
  Result<void> write(std::string_view path, std::string_view text) {
    const auto found = node(path);
    if (!found) return found.error();
    return write_file(*file(found.value().id), text, clock_.now());
  }
  Result<void> make_directory(std::string_view path) {
    const auto parent = node(path.substr(0, path.find('/')));
    return tree_.rules(parent.value().id)
        .value()
        ->make_directory(path.substr(path.find('/') + 1), clock_.now());
  }

  SavedObjects saved() const { return SavedObjects(branch_); }
  Result<void> load(const SavedObjects& saved, Boot boot = Boot::kThis) {
    return saved.load_into(branch_, {.boot = boot, .now = clock_.now()});
  }

 private:
  TracingBranch::Options options() {
    TracingBranch::Options options;
    options.tracing.error_log = errors_;
    options.tracing.clock = &clock_;
    options.tracing.cpus = 2;
    options.kernel = &kernel_;
    options.dependencies.processes = &processes_;
    return options;
  }

  const FakeClock& clock_;
  Ledger ledger_;
  Tree tree_{clock_.now()};
  NodeId directory_ =
      tree_.add_directory(Tree::kRoot, "tracing", std::make_shared<Directory>(), clock_.now());
  FakeSource kernel_;
  FakeProcesses processes_;
  const std::shared_ptr<ErrorLog> errors_ = std::make_shared<ErrorLog>(clock_.now());
  TracingBranch branch_{tree_, directory_, ledger_, options(), clock_.now()};
};

}  // namespace tallyfs::tracing
