// The file statistics.json at the root of the mount (docs/json.md).
#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "core/base/json.h"
#include "core/base/json_head.h"
#include "core/statistics/branch/statistics_branch.h"
#include "core/tree/file.h"

namespace tallyfs::statistics {
namespace {

std::string_view spelled(TracefsState state) {
  switch (state) {
    case TracefsState::kOff:
      return "off";
    case TracefsState::kOn:
      return "on";
    case TracefsState::kLost:
      return "lost";
  }
  return {};
}

// As members of the object that has been begun.
void write_holdings(JsonWriter& json, const Holdings& holdings) {
  json.key("interfaces").number(holdings.interfaces);
  json.key("statistics").number(holdings.statistics).key("bytes").number(holdings.bytes);
}
void write_limits(JsonWriter& json, std::string_view of, const Holdings& limits) {
  write_holdings(json.key(of).begin_object(), limits);
  json.end_object();
}

void write_quotas(JsonWriter& json, const Ledger& ledger) {
  json.key("quotas").begin_array();
  for (const auto& [uid, held] : ledger.by_uid()) {
    write_holdings(json.begin_object().key("uid").number(uid), held);
    json.end_object();
  }
  json.end_array();
  json.key("quota_limits").begin_object();
  write_limits(json, "uid", ledger.limits().per_uid);
  write_limits(json, "all", ledger.limits().total);
  json.end_object();
}

// On a line of its own.
void write_interface(std::string& text, std::string_view name, const Interface& interface,
                     const Interface::Overview& shown) {
  text.push_back('\n');
  JsonWriter json(text);
  json.begin_object().key("interface").string(name).key("statistics").number(shown.statistics);
  json.key("on").number(shown.on).key("samples").number(shown.samples);
  json.key("serial").number(shown.version);
  interface.write_rights(json).end_object();
}

}  // namespace

// Called from several threads; the branch's lock is held only while the interfaces are listed, each
// of which is then looked at under its own lock. There is no version: the text says when it was
// made, and so it changes all the time.
class StatisticsBranch::OverviewFile final : public File {
 public:
  explicit OverviewFile(StatisticsBranch& statistics) : statistics_(statistics) {}

  Result<std::string> render(const CallContext& call, std::size_t bytes_max) const override {
    std::string text;
    JsonWriter json(text, JsonWriter::Encoding::kUtf8, bytes_max);
    write_daemon(json.begin_object(), call.now);
    json.key("interfaces").begin_array();
    bool is_first = true;
    CellRounds rounds = statistics_.begin_cell_open();
    CellBudget budget(CellBudget::Of::kAll);
    budget.go_by(rounds);
    const List all = statistics_.list();
    for (const Listed& each : *all) {
      if (json.is_too_long()) break;
      if (!std::exchange(is_first, false)) text.push_back(',');
      write_interface(text, each.name, *each.interface,
                      each.interface->overview(call.now, budget));
    }
    statistics_.end_cell_open(rounds);
    json.end_array().end_object();
    text.push_back('\n');
    if (json.is_too_long()) return Error{ErrorCode::kNoSpace, "the text would be too long"};
    last_length_ = text.size();
    return text;
  }
  std::optional<std::size_t> last_length() const override { return last_length_; }
  Timestamp last_change(Timestamp now) const override { return now; }

 private:
  void write_daemon(JsonWriter& json, Timestamp now) const {
    const DaemonFacts& daemon = statistics_.daemon_;
    json.key("tallyfs").string(daemon.version).key("format").number(kJsonFormat);
    json.key("epoch").string(epoch_text(daemon.epoch));
    write_timestamp(json, now);
    json.key("pid").number(daemon.pid).key("socket");
    daemon.socket.empty() ? json.null() : json.string(daemon.socket);
    json.key("queue_length");
    daemon.queue_length ? json.number(*daemon.queue_length) : json.null();
    json.key("tracefs").string(spelled(daemon.tracefs()));
    write_quotas(json, statistics_.ledger_);
  }

  StatisticsBranch& statistics_;
  mutable std::atomic<std::size_t> last_length_{0};
};

StatisticsBranch::List StatisticsBranch::list() const {
  auto made = std::make_shared<std::vector<Listed>>();
  std::uint64_t as_of = 0;
  {
    const MutexLock lock(mutex_);
    if (listed_) return listed_;
    as_of = entered_or_removed_;
    made->reserve(interfaces_.size());
    // They lie all over the memory: the next ones are fetched while one is looked at.
    std::array<const InterfaceEntry*, 16> ahead{};
    std::size_t n = 0;
    for (const auto& [key, entry] : interfaces_) {
      __builtin_prefetch(entry.get());
      if (const InterfaceEntry* const was = std::exchange(ahead[n++ % ahead.size()], entry.get())) {
        made->push_back({was->node, was->name, was->interface});
      }
    }
    for (const InterfaceEntry* const rest : ahead) {
      if (rest) made->push_back({rest->node, rest->name, rest->interface});
    }
  }
  std::ranges::sort(*made, {}, &Listed::node);
  const MutexLock lock(mutex_);
  if (as_of == entered_or_removed_) listed_ = made;
  return made;
}

void StatisticsBranch::enter_overview(Timestamp now) {
  overview_file_ = tree_.add_file(Tree::kRoot, "statistics.json",
                                  {.permissions = 0400, .readers = true},
                                  std::make_shared<OverviewFile>(*this), now);
}

}  // namespace tallyfs::statistics
