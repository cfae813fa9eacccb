// What of statistics/ the next server of the mount goes on with: all interfaces, with the numbers
// that feeders know and with what they count in cells, and those with lifetime=feeder.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/statistics/branch/statistics_branch.h"

namespace tallyfs::statistics {
namespace {

constexpr std::uint16_t kFedFormat = handed_format(SavedKind::kFedInterface);
constexpr std::uint16_t kNumbersFormat = 1;

Error not_handed_here() { return {ErrorCode::kInvalid, "not what statistics/ hands on"}; }

template <typename Number>
void put_all(ByteWriter& out, const std::vector<Number>& numbers) {
  out.put(static_cast<std::uint32_t>(numbers.size()));
  for (const Number each : numbers) out.put(each);
}

template <typename Number>
std::vector<Number> get_all(ByteReader& in) {
  std::vector<Number> numbers;
  const auto count = in.get<std::uint32_t>();
  if (count > in.left() / sizeof(Number)) in.fail();
  for (std::uint32_t i = 0; in.ok() && i < count; ++i) numbers.push_back(in.get<Number>());
  return numbers;
}

}  // namespace

// In the order in which they came, which is that of the listing. All but the daemon's own.
std::vector<StatisticsBranch::Handed> StatisticsBranch::list_handed() const {
  std::vector<Handed> all;
  const MutexLock lock(mutex_);
  all.reserve(interfaces_.size());
  for (const auto& [key, entry] : interfaces_) {
    if (entry->name != kOwnName) all.push_back(handed(*entry));
  }
  std::ranges::sort(all, {}, &Handed::node);
  return all;
}

StatisticsBranch::Handed StatisticsBranch::handed(const InterfaceEntry& entry) const {
  Handed handed{.node = entry.node,
                .name = entry.name,
                .interface = entry.interface,
                .changes = entry.changes};
  entry.feeders.each([&](pid_t process) { handed.feeders.push_back(process); });
  return handed;
}

std::string StatisticsBranch::bytes_of(const Handed& handed, CellBudget& budget) {
  std::string bytes;
  ByteWriter out(bytes);
  put_all(out, handed.feeders);
  handed.interface->save_for_successor(out, budget);
  return bytes;
}

// False: the sink takes no more.
bool StatisticsBranch::put_fed(const Handed& handed, ObjectSink& sink) {
  const ObjectVersion version{handed.node, handed.interface->changes() + handed.changes};
  if (!sink.wants(SavedKind::kFedInterface, handed.name, version)) return true;
  CellBudget budget;  // for each, as what is saved should be as of now
  const std::string bytes = bytes_of(handed, budget);
  return sink.put(saved_object(SavedKind::kFedInterface, kFedFormat, handed.name, bytes));
}

void StatisticsBranch::put_numbers(ObjectSink& sink) const {
  std::string bytes;
  ByteWriter out(bytes);
  {
    const MutexLock lock(mutex_);
    statistics_.save(out);
  }
  sink.put(saved_object(SavedKind::kStatisticNumbers, kNumbersFormat, "statistics", bytes));
}

void StatisticsBranch::hand_on(ObjectSink& sink, Timestamp now) {
  if (!put_rules(sink)) return;
  auto all = list_handed();
  {
    const MutexLock lock(mutex_);
    all.push_back(handed(*find_interface(kOwnName)));
  }
  CellBudget budget = CellBudget::for_the_end();
  for (const Handed& each : all) {
    (void)each.interface->version(now, budget);
    const std::string bytes = bytes_of(each, budget);
    if (!sink.put(saved_object(SavedKind::kFedInterface, kFedFormat, each.name, bytes))) return;
  }
  put_numbers(sink);
}

Result<void> StatisticsBranch::load_fed(const SavedObject& object, const Loading& loading) {
  if (object.format != kFedFormat) return other_format(object);
  if (!is_name(object.label)) return Error{ErrorCode::kInvalid, "this is no interface's name"};
  ByteReader in(object.bytes);
  Handed fed{.name = std::string(object.label)};
  fed.feeders = get_all<std::int32_t>(in);
  if (!in.ok()) return not_handed_here();
  auto loaded = Interface::load_handed(in, ledger_);
  if (!loaded) return loaded.error();
  if (in.left() != 0) return not_handed_here();
  if (fed.name == kOwnName) return own_->resume_from(*loaded.value(), loading.now);
  const auto taken = take_changes(fed.name, *loaded.value());
  // Without the pages, its feeders register it anew.
  if (!loading.has_pages && !fed.feeders.empty()) return {};
  if (loading.is_after_kill) loaded.value()->resume(loading.boot, loading.now);
  fed.interface = std::move(loaded.value());
  if (auto entered = enter_fed(std::move(fed), loading); !entered) return entered;
  return taken;
}

// Numbers are given anew where none was known, behind those that were. A server that was killed may
// have given one of them again and saved that, before it saved what had it first.
Result<void> StatisticsBranch::enter_fed(Handed fed, const Loading& loading) {
  const auto statistics = fed.interface->statistics();
  const MutexLock lock(mutex_);
  if (find_interface(fed.name)) {
    return Error{ErrorCode::kExists, "there is an interface of that name already"};
  }
  InterfaceEntry& entry = enter(fed.name, std::move(fed.interface), loading.now);
  entry.changes = 1;  // what is here is newer than what the keeper's memory has
  for (Statistic* const each : statistics) {
    const auto number = each->number_before();
    if (!loading.has_pages) {
      entry.interface->publish_at(each, {});
      enter(entry, each);
    } else if (number && statistics_.can_put(*number)) {
      enter_again(entry, each, *number);
    } else {
      without_number_.push_back({&entry, each});
    }
  }
  for (const pid_t each : fed.feeders) {
    if (auto added = entry.feeders.add(ledger_, entry.interface->uid(), each); !added) return added;
  }
  return {};
}

void StatisticsBranch::enter_again(InterfaceEntry& interface, Statistic* statistic,
                                   std::uint64_t number) {
  auto made = make_entry(interface, statistic, number);
  StatisticEntry& entry = *made;
  statistics_.put(number, std::move(made));
  paths_.insert(entry);
  entry.is_published = statistics_.had_switch(number);
  Switch* const on = entry.is_published ? statistics_.keep_switch(number) : nullptr;
  interface.interface->resume_at(statistic, published(number, on));
}

// The table stands behind the interfaces, but for those that were written through.
Result<void> StatisticsBranch::load_numbers(const SavedObject& object, const Loading& loading) {
  if (object.format != kNumbersFormat) return other_format(object);
  if (!loading.has_pages) return {};
  const MutexLock lock(mutex_);
  numbers_before_ = object.bytes;
  return {};
}

Result<void> StatisticsBranch::end_loading(const Loading& loading) {
  const MutexLock lock(mutex_);
  changes_before_.clear();
  if (!loading.has_pages) return {};
  const std::string numbers = std::exchange(numbers_before_, {});
  ByteReader in(numbers);
  bool is_whole = true;
  if (loading.is_after_kill) {
    statistics_.finish_late_restore(in);
  } else {
    is_whole = statistics_.finish_restore(in);
  }
  for (const auto& [entry, statistic] : std::exchange(without_number_, {})) {
    entry->interface->publish_at(statistic, {});
    enter(*entry, statistic);
  }
  if (is_whole) return {};
  return not_handed_here();
}

}  // namespace tallyfs::statistics
