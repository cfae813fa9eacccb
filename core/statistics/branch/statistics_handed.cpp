// What of statistics/ the next server of the mount goes on with: all interfaces, with the numbers
// that feeders know and with what they count in cells, and those with lifetime=feeder.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/statistics/branch/statistics_branch.h"

namespace tallyfs {
namespace {

constexpr std::uint16_t kFedFormat = 1;
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

// Numbers: of its statistics, in their order, without views.
struct StatisticsBranch::Handed {
  NodeId node = 0;
  std::string name{};
  std::shared_ptr<Interface> interface {};  // shared with its entry and its files
  std::vector<std::uint64_t> numbers{};
  std::vector<std::int32_t> feeders{};
};

// In the order in which they came, which is that of the listing.
std::vector<StatisticsBranch::Handed> StatisticsBranch::list_handed() const {
  std::vector<Handed> all;
  const MutexLock lock(mutex_);
  all.reserve(interfaces_.size());
  for (const auto& [key, entry] : interfaces_) {
    Handed handed{.node = entry->node, .name = entry->name, .interface = entry->interface};
    for (const Statistic* const each : entry->interface->statistics()) {
      const StatisticEntry* const known = find(entry->name + "/" + each->name());
      if (known) handed.numbers.push_back(known->number);
    }
    entry->feeders.each([&](pid_t process) { handed.feeders.push_back(process); });
    all.push_back(std::move(handed));
  }
  std::ranges::sort(all, {}, &Handed::node);
  return all;
}

void StatisticsBranch::hand_on(ObjectSink& sink, Moment now) {
  if (!put_rules(sink)) return;
  std::string bytes;
  CellBudget budget = CellBudget::for_the_end();
  for (const Handed& each : list_handed()) {
    bytes.clear();
    ByteWriter out(bytes);
    put_all(out, each.numbers);
    put_all(out, each.feeders);
    each.interface->hand_on(out, now, budget);
    if (!sink.put(saved_object(SavedKind::kFedInterface, kFedFormat, each.name, bytes))) return;
  }
  bytes.clear();
  ByteWriter out(bytes);
  {
    const MutexLock lock(mutex_);
    statistics_.save(out);
  }
  sink.put(saved_object(SavedKind::kStatisticNumbers, kNumbersFormat, "statistics", bytes));
}

Result<void> StatisticsBranch::load_fed(const SavedObject& object, const Loading& loading) {
  if (object.format != kFedFormat) return other_format(object);
  if (!is_name(object.label)) return Error{ErrorCode::kInvalid, "this is no interface's name"};
  ByteReader in(object.bytes);
  Handed fed{.name = std::string(object.label)};
  fed.numbers = get_all<std::uint64_t>(in);
  fed.feeders = get_all<std::int32_t>(in);
  if (!in.ok()) return not_handed_here();
  auto loaded = Interface::load_handed(in, ledger_);
  if (!loaded) return loaded.error();
  if (in.left() != 0) return not_handed_here();
  if (fed.name == kOwnName) return own_->go_on(*loaded.value(), loading.now);
  // Without the pages, its feeders register it anew.
  if (!loading.has_pages && !fed.feeders.empty()) return {};
  fed.interface = std::move(loaded.value());
  return enter_fed(std::move(fed), loading);
}

Result<void> StatisticsBranch::enter_fed(Handed fed, const Loading& loading) {
  const auto statistics = fed.interface->statistics();
  const MutexLock lock(mutex_);
  if (find_interface(fed.name)) {
    return Error{ErrorCode::kExists, "there is an interface of that name already"};
  }
  if (loading.has_pages && (fed.numbers.size() != statistics.size() || !are_free(fed.numbers))) {
    return not_handed_here();
  }
  InterfaceEntry& entry = enter(fed.name, std::move(fed.interface), loading.now);
  for (std::size_t i = 0; i < statistics.size(); ++i) {
    if (loading.has_pages) {
      enter_again(entry, statistics[i], fed.numbers[i]);
    } else {
      enter(entry, statistics[i]);
    }
  }
  for (const pid_t each : fed.feeders) {
    if (auto added = entry.feeders.add(ledger_, entry.interface->uid(), each); !added) return added;
  }
  return {};
}

bool StatisticsBranch::are_free(std::vector<std::uint64_t> numbers) const {
  for (const std::uint64_t each : numbers) {
    if (!statistics_.can_put(each)) return false;
  }
  for (std::uint64_t& each : numbers) each &= 0xffff'ffff;  // the slot
  std::ranges::sort(numbers);
  return std::ranges::adjacent_find(numbers) == numbers.end();
}

void StatisticsBranch::enter_again(InterfaceEntry& interface, Statistic* statistic,
                                   std::uint64_t number) {
  auto made = make_entry(interface, statistic, number);
  StatisticEntry& entry = *made;
  statistics_.put(number, std::move(made));
  paths_.insert(entry);
  entry.is_published = statistics_.had_switch(number);
  Switch* const on = entry.is_published ? statistics_.keep_switch(number) : nullptr;
  interface.interface->go_on_at(statistic, published(number, on));
}

Result<void> StatisticsBranch::load_numbers(const SavedObject& object, const Loading& loading) {
  if (object.format != kNumbersFormat) return other_format(object);
  if (!loading.has_pages) return {};
  ByteReader in(object.bytes);
  const MutexLock lock(mutex_);
  if (statistics_.settle(in)) return {};
  return not_handed_here();
}

}  // namespace tallyfs
