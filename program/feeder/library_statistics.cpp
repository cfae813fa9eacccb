#include "program/feeder/library_statistics.h"

#include <new>
#include <system_error>
#include <utility>

namespace tallyfs {

std::optional<LibraryStatistics::Id> LibraryStatistics::open(const std::string& interface,
                                                             const std::string& name,
                                                             const tally::Definition& definition) {
  try {
    auto of = interfaces_.find(interface);
    if (of == interfaces_.end()) {
      tally::Interface made(interface, tally::Lifetime::kForGood, tally::Units::kExact,
                             tally::Feed::kOwner);
      of = interfaces_.emplace(interface, std::move(made)).first;
    }
    tally::Statistic made(of->second, name, definition);
    const auto id = reinterpret_cast<Id>(made.get());
    statistics_.emplace(id, std::move(made));
    return id;
  } catch (const std::system_error&) {
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

void LibraryStatistics::remove(Id id) {
  const auto found = statistics_.find(id);
  found->second.remove();
  statistics_.erase(found);
}

}  // namespace tallyfs
