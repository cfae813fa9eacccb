// The file statistics.json at the root of the mount (docs/json.md), and the list for it.
#include "core/statistics/branch/root_files.h"

#include <array>
#include <utility>

#include "core/base/json.h"
#include "core/base/json_head.h"

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

// There is no version: the text says when it was made, and so it changes all the time.
class OverviewFile final : public File {
 public:
  OverviewFile(InterfaceList& interfaces, const DaemonFacts& daemon, const Ledger& ledger)
      : interfaces_(interfaces), daemon_(daemon), ledger_(ledger) {}

  Result<std::string> render(const CallContext& call, std::size_t bytes_max) const override {
    std::string text;
    JsonWriter json(text, JsonWriter::Encoding::kUtf8, bytes_max);
    write_daemon(json.begin_object(), call.now);
    json.key("interfaces").begin_array();
    bool is_first = true;
    CellRounds rounds = interfaces_.begin_cell_open();
    CellBudget budget(CellBudget::Of::kAll);
    budget.go_by(rounds);
    const List all = interfaces_.all();
    for (const Listed& each : *all) {
      if (json.is_too_long()) break;
      if (!std::exchange(is_first, false)) text.push_back(',');
      write_interface(text, each.name, *each.interface, each.interface->overview(call.now, budget));
    }
    interfaces_.end_cell_open(rounds);
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
    json.key("tallyfs").string(daemon_.version).key("format").number(kJsonFormat);
    json.key("epoch").string(epoch_text(daemon_.epoch));
    write_timestamp(json, now);
    json.key("pid").number(daemon_.pid).key("socket");
    daemon_.socket.empty() ? json.null() : json.string(daemon_.socket);
    json.key("queue_length");
    daemon_.queue_length ? json.number(*daemon_.queue_length) : json.null();
    json.key("tracefs").string(spelled(daemon_.tracefs()));
    write_quotas(json, ledger_);
  }

  InterfaceList& interfaces_;
  const DaemonFacts& daemon_;
  const Ledger& ledger_;
  mutable std::atomic<std::size_t> last_length_{0};
};

}  // namespace

std::shared_ptr<File> make_overview_file(InterfaceList& interfaces, const DaemonFacts& daemon,
                                         const Ledger& ledger) {
  return std::make_shared<OverviewFile>(interfaces, daemon, ledger);
}

List InterfaceList::all() {
  auto made = std::make_shared<std::vector<Listed>>();
  std::uint64_t as_of = 0;
  {
    const MutexLock lock(mutex_);
    if (registry_.kept_list()) return registry_.kept_list();
    as_of = registry_.entered_or_removed();
    made->reserve(registry_.interfaces().size());
    // They lie all over the memory: the next ones are fetched while one is looked at.
    std::array<const InterfaceEntry*, 16> ahead{};
    std::size_t n = 0;
    for (const auto& [key, entry] : registry_.interfaces()) {
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
  registry_.keep_list(made, as_of);
  return made;
}

CellRounds InterfaceList::begin_cell_open() {
  const MutexLock lock(mutex_);
  cell_rounds_.begin_open();
  return cell_rounds_;
}

void InterfaceList::end_cell_open(CellRounds& rounds) {
  const MutexLock lock(mutex_);
  cell_rounds_.end_open(rounds);
}

uid_t InterfaceList::uid_of(std::string_view path) const {
  const MutexLock lock(mutex_);
  const InterfaceEntry* const found = registry_.find_interface(path.substr(0, path.find('/')));
  return found ? found->interface->uid() : 0;
}

}  // namespace tallyfs::statistics
