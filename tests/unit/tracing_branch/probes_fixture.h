// A tracing directory with probes, beside a source of probes that is played.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/tracing/branch/probe_source.h"
#include "tests/unit/tracing_branch/tracing_fixture.h"

namespace tallyfs::tracing {

class PlayedProbes : public ProbeSource {
 public:
  explicit PlayedProbes(EventSource& events) : events_(events) {}

  EventSource& events() override { return events_; }
  Result<MadeProbe> define(const ProbePlace& place, const CancellationToken&) override {
    if (!answer || made.size() == made_max) {
      refused.push_back(place);
      return answer ? full() : answer.error();
    }
    made.push_back(place);
    if (at_define) at_define();
    MadeProbe probe = made_of(place);
    probe.file = file;
    probe.format.insert(probe.format.find("\nprint fmt"), more_fields);
    return probe;
  }
  Result<std::string> find(ProbeKind kind, const std::string& place,
                           const CancellationToken&) override {
    searched.push_back(std::string(1, static_cast<char>(kind)) + " " + place);
    return found;
  }
  Result<void> remove(const std::vector<std::uint64_t>& serials,
                      const CancellationToken&) override {
    removed.insert(removed.end(), serials.begin(), serials.end());
    return {};
  }
  Result<ProbeHits> hits(const CancellationToken&) override { return counted; }
  static MadeProbe made_of(const ProbePlace& place) {
    const auto id = static_cast<std::uint32_t>(1000 + place.serial);
    return {.source_id = id,
            .text = place.text,
            .file = "8:1:77",
            .format = format_of(place.event, static_cast<int>(id))};
  }

  static Error full() { return {ErrorCode::kNoSpace, "no more"}; }

  Result<void> answer;
  Result<std::string> found = std::string("x86_64\n4096 0\n");
  std::vector<std::string> searched;
  Result<ProbeHits> counted = ProbeHits();
  std::size_t made_max = SIZE_MAX;
  std::string file = "8:1:77";  // which one the places are in
  std::string more_fields;
  std::function<void()> at_define;
  std::vector<ProbePlace> made, refused;
  std::vector<std::uint64_t> removed;

 private:
  EventSource& events_;
};

class ProbesTest : public testing::Test {
 protected:
  explicit ProbesTest(ProbeTargets targets = {}) : targets_(targets) {}

  Result<void> write_as(uid_t uid, std::string_view text) {
    CallContext call(clock_.now());
    call.uid = uid;
    return file("uprobe_events")->write_line(text, call);
  }
  Result<void> write(std::string_view text) { return write_as(0, text); }
  Result<void> clear() {
    CallContext call(clock_.now());
    call.uid = 0;
    return file("uprobe_events")->truncate(call);
  }
  Result<void> put(std::string_view path, std::string_view text) {
    return write_file(*file(path), text, clock_.now());
  }
  bool has(std::string_view path) {
    return find_node(tree_, directory_, path, clock_.now()).has_value();
  }
  std::shared_ptr<File> file(std::string_view path) {
    return tree_.file(find_node(tree_, directory_, path, clock_.now()).value().id).value();
  }
  std::string read(std::string_view path) {
    return file(path)->render(clock_.now(), 1 << 24).value();
  }
  // A record of the probe of that serial, by a thread, with the flags that uprobes have.
  void feed(std::uint64_t serial, std::int32_t common_pid, char flags = '\xff') {
    std::string bytes(16, '\0');
    bytes[2] = bytes[3] = flags;
    std::memcpy(bytes.data() + 4, &common_pid, 4);
    const EventRecord record{.event = static_cast<std::uint32_t>(1000 + serial),
                             .time_ns = 1000,
                             .pid = common_pid,
                             .bytes = bytes};
    tracing_.feed(kernel_, {&record, 1}, clock_.now());
  }

  const ProbeTargets targets_;
  FakeClock clock_;
  Ledger ledger_{Ledger::Limits()};
  Tree tree_{clock_.now()};
  NodeId directory_ =
      tree_.add_directory(Tree::kRoot, "tracing", std::make_shared<Directory>(), clock_.now());
  FakeSource kernel_;
  PlayedProbes probes_{kernel_};
  Tracing tracing_{
      tree_, directory_, ledger_, {.probes = &probes_, .probe_targets = targets_}, clock_.now()};
};

}  // namespace tallyfs::tracing
