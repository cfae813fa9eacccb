// Statistics of libtally by name, made when their first sample comes, for feeders that do not know
// them before. One that is there with samples of other units, as of an earlier run with other
// settings, is refused: its samples are dropped, and counted. Confined to one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "tally/statistic.hpp"

namespace tallyfs {

class LibraryStatistics {
 public:
  using Id = std::uintptr_t;  // the address of the ::statistic

  // nullopt: libtally has no room for it.
  std::optional<Id> open(const std::string& interface, const std::string& name,
                         const tally::Definition& definition);
  // Removes the statistic with its counts. The id is invalid afterwards.
  void remove(Id id);

  static ::statistic* at(Id id) { return reinterpret_cast<::statistic*>(id); }

 private:
  std::map<std::string, tally::Interface> interfaces_;
  std::unordered_map<Id, tally::Statistic> statistics_;  // after their interfaces
};

}  // namespace tallyfs
