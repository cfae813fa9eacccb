#include "core/statistics/branch/saved_state.h"

#include <charconv>
#include <optional>

#include "core/statistics/branch/command_text.h"

namespace tallyfs::statistics {
namespace {

Error not_transferred_here() { return {ErrorCode::kInvalid, "not what statistics/ hands on"}; }

template <typename Number>
std::vector<Number> get_all(ByteReader& in) {
  std::vector<Number> numbers;
  const auto count = in.get<std::uint32_t>();
  if (count > in.left() / sizeof(Number)) in.fail();
  for (std::uint32_t i = 0; in.ok() && i < count; ++i) numbers.push_back(in.get<Number>());
  return numbers;
}

}  // namespace

Result<void> StateLoader::load(const SavedObject& object, const Loading& loading) {
  if (is_of(object, SavedKind::kInterface)) return load_interface(object, loading);
  if (is_of(object, SavedKind::kFedInterface)) return load_fed(object, loading);
  if (is_of(object, SavedKind::kStatisticNumbers)) return load_numbers(object, loading);
  return load_changes(object);
}

Result<void> StateLoader::load_interface(const SavedObject& object, const Loading& loading) {
  if (object.format != kInterfaceFormat) return other_format(object);
  if (!is_name(object.label)) return Error{ErrorCode::kInvalid, "this is no interface's name"};
  ByteReader in(object.bytes);
  auto loaded = Interface::load(in, ledger_);
  if (!loaded) return loaded.error();
  if (in.left() != 0) return Error{ErrorCode::kInvalid, "there is something behind the interface"};
  loaded.value()->resume(loading.boot, loading.now);
  const MutexLock lock(mutex_);
  if (registry_.find_interface(object.label)) {
    return Error{ErrorCode::kExists, "there is an interface of that name already"};
  }
  InterfaceEntry& entry = registry_.enter(object.label, std::move(loaded.value()), loading.now);
  for (Statistic* const statistic : entry.interface->statistics())
    registry_.enter(entry, statistic);
  return {};
}

Result<void> StateLoader::load_fed(const SavedObject& object, const Loading& loading) {
  if (object.format != kFedFormat) return other_format(object);
  if (!is_name(object.label)) return Error{ErrorCode::kInvalid, "this is no interface's name"};
  ByteReader in(object.bytes);
  FedInterface fed{.name = std::string(object.label)};
  fed.feeders = get_all<std::int32_t>(in);
  if (!in.ok()) return not_transferred_here();
  auto loaded = Interface::load_transferred(in, ledger_);
  if (!loaded) return loaded.error();
  if (in.left() != 0) return not_transferred_here();
  if (fed.name == kOwnInterface) return counters_.resume_from(*loaded.value(), loading.now);
  const auto taken = apply_changes(fed.name, *loaded.value());
  // Without the pages, its feeders register it anew.
  if (!loading.has_pages && !fed.feeders.empty()) return {};
  fed.interface = std::move(loaded.value());
  // Histories go on where the replay ends.
  if (loading.is_after_kill) {
    const MutexLock lock(mutex_);
    registry_.input().add_loaded(fed.interface);
  }
  if (auto entered = enter_fed(std::move(fed), loading); !entered) return entered;
  return taken;
}

// Numbers are given anew where none was known, behind those that were. A server that was killed may
// have given one of them again and saved that, before it saved what had it first.
Result<void> StateLoader::enter_fed(FedInterface fed, const Loading& loading) {
  const auto statistics = fed.interface->statistics();
  const MutexLock lock(mutex_);
  if (registry_.find_interface(fed.name)) {
    return Error{ErrorCode::kExists, "there is an interface of that name already"};
  }
  InterfaceEntry& entry = registry_.enter(fed.name, std::move(fed.interface), loading.now);
  entry.changes = 1;  // what is here is newer than what the keeper's memory has
  for (Statistic* const each : statistics) {
    const auto number = each->number_before();
    if (!loading.has_pages) {
      entry.interface->publish_at(each, {});
      registry_.enter(entry, each);
    } else if (number && registry_.can_resume(*number)) {
      registry_.resume(entry, each, *number);
    } else {
      without_number_.push_back({&entry, each});
    }
  }
  for (const pid_t each : fed.feeders) {
    if (auto added = registry_.add_feeder(entry, each); !added) return added;
  }
  return {};
}

// The table stands behind the interfaces, but for those that were written through.
Result<void> StateLoader::load_numbers(const SavedObject& object, const Loading& loading) {
  if (object.format != kNumbersFormat) return other_format(object);
  if (!loading.has_pages) return {};
  const MutexLock lock(mutex_);
  numbers_ = object.bytes;
  return {};
}

Result<void> StateLoader::load_changes(const SavedObject& object) {
  if (object.format != kChangesFormat) return other_format(object);
  const std::size_t slash = object.label.rfind('/');
  const std::string_view interface = object.label.substr(0, slash);
  std::uint64_t number = 0;
  if (slash != std::string_view::npos) {
    const char* const end = object.label.data() + object.label.size();
    (void)std::from_chars(object.label.data() + slash + 1, end, number);
  }
  journal_.continue_after(number);
  const MutexLock lock(mutex_);
  registry_.raise_first_version(Interface::version_of_changes(object.bytes));
  changes_[std::string(interface)].emplace_back(object.bytes);
  return {};
}

Result<void> StateLoader::apply_changes(std::string_view name, Interface& interface) {
  const MutexLock lock(mutex_);
  const auto found = changes_.find(std::string(name));
  auto taken = found == changes_.end() ? Result<void>() : interface.load_changes(found->second);
  registry_.raise_first_version(interface.changes());
  return taken;
}

Result<void> StateLoader::end_loading(const Loading& loading) {
  const MutexLock lock(mutex_);
  changes_.clear();
  if (!loading.has_pages) return {};
  const std::string numbers = std::exchange(numbers_, {});
  const bool is_whole = registry_.finish_restore(numbers, loading.is_after_kill);
  for (const auto& [entry, statistic] : std::exchange(without_number_, {})) {
    entry->interface->publish_at(statistic, {});
    registry_.enter(*entry, statistic);
  }
  if (is_whole) return {};
  return not_transferred_here();
}

}  // namespace tallyfs::statistics
