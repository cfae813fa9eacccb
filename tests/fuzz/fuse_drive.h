// A user of the mount without a mount: knows what the daemon told it (nodes, handles, the text of
// each), draws the arguments of requests from the input, and checks each response against what it
// knows. Confined to one thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/fuzz/fuse_kernel.h"
#include "tests/fuzz/intake_fixture.h"

namespace tallyfs::fuzz {

inline constexpr std::size_t kReadBytesMax = 128 * 1024;
inline constexpr Handles::Limits kLimits{.files_per_uid = 6, .bytes_per_uid = 128 * 1024};
inline constexpr std::array<uid_t, 3> kUids = {0, 1000, 1001};

// The datagrams that the socket holds until drain_feeders().
class Pending final : public Barrier {
 public:
  explicit Pending(IntakeFixture& fixture) : fixture_(fixture) {}
  void push(std::string_view text, uid_t uid) { waiting_.emplace_back(text, uid); }
  using Barrier::drain_feeders;
  // Waits for something, as far as the caller can tell, if something is to be taken in.
  Timestamp drain_feeders(Subject, const std::function<void()>& before_waiting) override {
    if (!waiting_.empty() && before_waiting) before_waiting();
    while (!waiting_.empty()) {
      const auto [text, uid] = std::move(waiting_.front());
      waiting_.pop_front();
      fixture_.take(text, uid, 1, IntakeFixture::Pace::kAtOnce);
    }
    return fixture_.clock.now();
  }

 private:
  IntakeFixture& fixture_;
  std::deque<std::pair<std::string, uid_t>> waiting_;
};

struct Held {
  std::uint64_t handle = 0;
  std::uint64_t node = 0;
  std::uint32_t flags = 0;
  std::optional<std::string> text;  // if it can be read
};

class Drive {
 public:
  // The fixture lives longer.
  Drive(IntakeFixture& fixture, std::uint8_t how)
      : fixture_(fixture), kernel_(operations_, how & 1 ? ~0u : how * 0x01010101u) {
    (void)fixture_.subsystems.made();
    (void)fixture_.latencies.made();
    tracing_ = fixture_.tree.add_directory(Tree::kRoot, "tracing", std::make_shared<Directory>(),
                                           fixture_.clock.now());
    fixture_.tree.add_file(tracing_, "error_log", {0640},
                           std::shared_ptr<ErrorLog>(std::shared_ptr<void>(), &fixture_.errors),
                           fixture_.clock.now());
    if (!(how & 2)) return;
    notifier_.emplace(kernel_.session(), Tree::kRoot);
    operations_.notify_through(&*notifier_);
    fixture_.tree.observe(&*notifier_);
  }
  ~Drive() {
    operations_.stop_polling();
    if (notifier_) {
      notifier_->stop();
      fixture_.tree.observe(nullptr);
      operations_.notify_through(nullptr);
    }
    fixture_.tree.remove(tracing_, fixture_.clock.now());
  }

  void take_operation(Input& input);
  void check_end();

 private:
  Kernel::Response ask(std::uint32_t opcode, std::uint64_t node, std::string body = {}) {
    if (opcode == FUSE_SETATTR || opcode == FUSE_MKDIR || opcode == FUSE_RMDIR ||
        opcode == FUSE_UNLINK) {
      note_change(node);
    }
    return kernel_.ask({.opcode = opcode, .node = node, .uid = uid_, .body = std::move(body)});
  }
  // What may be changed below the node is made anew, or looked at, before the next input.
  void note_change(std::uint64_t node);
  std::uint64_t draw_node(Input& input);
  std::string draw_name(Input& input);
  std::uint64_t draw_handle(Input& input);
  Held* find(std::uint64_t handle);

  void lookup(std::uint64_t node, const std::string& name);
  void getattr(std::uint64_t node, Input& input);
  void setattr(std::uint64_t node, Input& input);
  void open(std::uint64_t node, std::uint32_t flags);
  std::string read_all(std::uint64_t node, std::uint64_t handle);
  void read(std::uint64_t node, Input& input);
  void write(std::uint64_t node, Input& input);
  void release(std::uint64_t handle);
  void list(std::uint32_t opcode, std::uint64_t node, Input& input);
  void check_entry(std::string_view name, const fuse_dirent& entry, std::uint64_t& last) const;
  void handle_operation(unsigned which, std::uint64_t node, Input& input);
  void name_operation(unsigned which, std::uint64_t node, Input& input);
  void raw_operation(Input& input);
  void check_no_handle_is_left();
  void check_reads();

  IntakeFixture& fixture_;
  NodeId tracing_ = 0;
  Pending pending_{fixture_};
  Operations operations_{
      {fixture_.tree, fixture_.errors, fixture_.statistics->counters(), pending_, fixture_.clock},
      {0, 0},
      kLimits};
  Kernel kernel_;
  std::optional<Notifier> notifier_;
  uid_t uid_ = 0;
  std::set<uid_t> uids_ = {0};  // that requests came from
  std::vector<std::uint64_t> nodes_ = {Tree::kRoot};
  std::vector<Held> held_;
};

}  // namespace tallyfs::fuzz
