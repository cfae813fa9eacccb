// The tracing directory on a test stand: a source that does as the test says, and files by their
// paths.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/tracing/branch/tracing.h"
#include "tests/unit/fake_clock.h"
#include "tests/unit/tracing_branch/find_node.h"

namespace tallyfs::tracing {

class FakeSource : public EventSource {
 public:
  using EventSource::EventSource;

  Result<void> want(const Wanted& wanted, const CancellationToken&) override {
    orders += 1;
    if (at_want) at_want();
    is_wanted = wanted();
    return answer;
  }
  void drain(const CancellationToken&) override {
    drains += 1;
    if (at_drain) at_drain();
  }

  std::string printk_formats(const CancellationToken&) const override { return texts; }

  Result<void> answer;
  std::string texts;
  std::vector<WantedEvent> is_wanted;
  int orders = 0, drains = 0;
  std::function<void()> at_drain;  // hands out what it has recorded
  std::function<void()> at_want;
};

inline constexpr char kCommon[] =
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

// An event with the number `pid` at 8 and the number `prio` at 12.
inline std::string format_of(const std::string& name, int id) {
  return "name: " + name + "\nID: " + std::to_string(id) + "\nformat:\n" + kCommon +
         "\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
         "\tfield:int prio;\toffset:12;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n";
}

class TracingTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kWaking = 315, kSwitch = 314;

  explicit TracingTest(const Ledger::Limits& limits = {}, Tracing::Options options = {})
      : ledger_(limits), options_(std::move(options)) {}

  Result<void> offer(EventSource& source, const std::string& name, std::uint32_t id,
                     std::string_view system = "sched") {
    const std::string text = format_of(name, static_cast<int>(id));
    return tracing_.offer(source, {.system = system, .text = text, .source_id = id}, clock_.now());
  }
  void feed(EventSource& source, std::uint32_t id, std::int32_t pid, std::int32_t prio,
            std::int32_t common_pid = 1) {
    std::string bytes(16, '\0');
    std::memcpy(bytes.data() + 4, &common_pid, 4);
    std::memcpy(bytes.data() + 8, &pid, 4);
    std::memcpy(bytes.data() + 12, &prio, 4);
    const EventRecord record{.event = id, .time_ns = 1000, .pid = common_pid, .bytes = bytes};
    tracing_.feed(source, {&record, 1}, clock_.now());
  }

  void feed_in_interrupt(EventSource& source, std::uint32_t id, std::int32_t pid,
                         std::int32_t common_pid, char flags) {
    std::string bytes(16, '\0');
    bytes[2] = flags;
    std::memcpy(bytes.data() + 4, &common_pid, 4);
    std::memcpy(bytes.data() + 8, &pid, 4);
    const EventRecord record{.event = id, .time_ns = 1000, .pid = common_pid, .bytes = bytes};
    tracing_.feed(source, {&record, 1}, clock_.now());
  }
  Result<void> offer_switch(EventSource& source, std::uint32_t id) {
    std::string text = format_of("sched_switch", static_cast<int>(id));
    text.replace(text.find(" pid;"), 4, " prev_pid").replace(text.find(" prio;"), 5, " next_pid");
    return tracing_.offer(source, {.system = "sched", .text = text, .source_id = id}, clock_.now());
  }
  void feed_switch(EventSource& source, std::uint32_t id, std::int32_t prev, std::int32_t next) {
    feed(source, id, prev, next, prev);
  }

  // A node by its path below tracing/.
  Result<NodeInfo> node(std::string_view path) {
    return find_node(tree_, directory_, path, clock_.now());
  }
  std::shared_ptr<File> file(std::string_view path) {
    const auto found = node(path);
    if (!found) {
      ADD_FAILURE() << "no " << path;
      std::abort();
    }
    return tree_.file(found.value().id).value();
  }
  // With its file, which lives as long.
  std::shared_ptr<Stream> stream(std::string_view path) {
    const auto its_file = file(path);
    return {its_file, its_file->stream()};
  }
  std::string read(std::string_view path) {
    const auto opened = file(path);
    opened->opened(clock_.now());
    return opened->render(clock_.now(), 1 << 24).value();
  }
  Result<void> write(std::string_view path, std::string_view text) {
    return write_file(*file(path), text, clock_.now());
  }
  // As `echo > path` opens it.
  Result<void> truncate(std::string_view path) { return file(path)->truncate(clock_.now()); }
  std::vector<std::string> list(std::string_view path) {
    const auto found = path.empty() ? tree_.info(directory_) : node(path);
    tree_.rules(found.value().id).value()->entered(clock_.now());
    std::vector<std::string> names;
    for (const NodeEntry& entry : tree_.list(found.value().id, 0, 10'000).value()) {
      names.push_back(entry.name);
    }
    return names;
  }

  FakeClock clock_;
  Ledger ledger_;
  Tree tree_{clock_.now()};
  NodeId directory_ =
      tree_.add_directory(Tree::kRoot, "tracing", std::make_shared<Directory>(), clock_.now());
  FakeSource kernel_;
  const Tracing::Options options_;
  Tracing tracing_{tree_, directory_, ledger_, options_, clock_.now()};
};

}  // namespace tallyfs::tracing
