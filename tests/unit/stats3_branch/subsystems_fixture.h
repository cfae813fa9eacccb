// What the tests of the stats/ branch have: a tree with it, feeders that come and end, and blobs.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/stats3/branch/stats_branch.h"
#include "core/wire/line.h"
#include "tally/stats.h"
#include "tests/unit/fake_clock.h"
#include "tests/unit/fake_processes.h"
#include "tests/unit/senders.h"

namespace tallyfs::stats3 {

// A template "NAME" with a VOI "x", u32, SUM, and a blob of it.
struct Blob {
  Blob(const char* name, std::uint32_t sum) {
    int id = stats_tpl_fetch_allocid(name, 0);
    if (id < 0) {
      id = stats_tpl_alloc(name, 0);
      voistatspec spec{};
      spec.hlpr = stats_vss_numeric_hlpr;
      spec.stype = VS_STYPE_SUM;
      EXPECT_EQ(stats_tpl_add_voistats(static_cast<std::uint32_t>(id), 0, "x", VSD_DTYPE_INT_U32, 1,
                                       &spec, 0),
                0);
    }
    statsblob* const sb = stats_blob_alloc(static_cast<std::uint32_t>(id), 0);
    fresh.assign(reinterpret_cast<const char*>(sb), sb->cursz);
    stats_voi_update_abs_u32(sb, 0, sum);
    bytes.assign(reinterpret_cast<const char*>(sb), sb->cursz);
    stats_blob_destroy(sb);
    std::memcpy(&hash, bytes.data() + 8, sizeof hash);
  }
  // With the same times in each run, for files that are kept.
  std::string bytes_of_old() const {
    std::string old = bytes;
    return old.replace(16, 16, 16, '\1');
  }
  std::string fresh, bytes;
  std::uint32_t hash = 0;
};

class SubsystemsTest : public testing::Test {
 protected:
  Result<Done> execute(std::string_view line, const Sender& sender = kAlice) {
    const auto parsed = wire::parse_line(line);
    return subsystems_.execute(std::get<wire::StatsLine>(parsed.value()), sender, clock_.now());
  }
  Result<Done> tell(const char* name, const std::string& blob, const Sender& sender = kAlice) {
    return subsystems_.add_template({.sequence = 1, .name = name, .blob = blob, .voi_names = {"x"}},
                                    sender, clock_.now());
  }
  Result<void> publish(std::uint64_t number, std::string_view bytes, uid_t uid = kAlice) {
    return subsystems_.publish({number, bytes}, uid, clock_.now());
  }
  void end(pid_t process) {
    processes_.watched.erase(process);
    subsystems_.process_ended(process, clock_.now());
  }
  std::shared_ptr<File> file(std::string_view directory, std::string_view name) {
    NodeId node = tree_.lookup(Tree::kRoot, "stats").value().id;
    if (!directory.empty()) {
      const auto found = tree_.lookup(node, directory);
      if (!found) return nullptr;
      node = found.value().id;
    }
    const auto found = tree_.lookup(node, name);
    return found ? tree_.file(found.value().id).value() : nullptr;
  }
  std::string said() { return errors_.render(clock_.now(), 1 << 16).value(); }
  std::string read(std::string_view directory, std::string_view name) {
    const auto found = file(directory, name);
    if (!found) return "(none)";
    found->opened(clock_.now());
    return found->render(clock_.now(), 1 << 20).value();
  }
  ErrorCode write(std::string_view subsystem, std::string_view text) {
    const auto done = file(subsystem, "sample_rates")->write_line(text, clock_.now());
    return done ? ErrorCode::kExists : done.error().code;
  }
  // kExists stands for: it was taken.
  static constexpr ErrorCode kTaken = ErrorCode::kExists;

  std::uint32_t switch_of(std::uint64_t number) {
    return switches_[static_cast<std::uint32_t>(number) - kFirst].on.load();
  }
  bool is_void(std::uint64_t number) {
    return switches_[static_cast<std::uint32_t>(number) - kFirst].generation != number >> 32;
  }

  static constexpr std::uint32_t kFirst = 100;
  FakeClock clock_{std::chrono::seconds(10)};
  Tree tree_{clock_.now()};
  Ledger ledger_{{.per_uid = {.interfaces = 4, .statistics = 8, .bytes = 1 << 20},
                  .total = {.interfaces = 8, .statistics = 16, .bytes = 2 << 20}}};
  std::vector<Switch> switches_ = std::vector<Switch>(16);
  FakeProcesses processes_;
  ErrorLog errors_{clock_.now()};
  StatsBranch subsystems_{
      tree_, ledger_, kDaemon, clock_.now(),
      BranchDependencies{
          .switches = {switches_, kFirst}, .processes = &processes_, .errors = &errors_}};
};

}  // namespace tallyfs::stats3
