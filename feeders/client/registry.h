// The interfaces and statistics of this process, by name and number of their own, and the lines of
// text (core/wire/FORMAT.md) that register them with the daemon.
//
// Confined to the Client's lock. At most kInterfacesMax and kStatisticsMax. Numbers
// are never used twice, so that a late response cannot be taken for another's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/base/result.h"
#include "feeders/client/due_requests.h"
#include "feeders/client/fed_statistic.h"

namespace tallyfs {

class Registry {
 public:
  static constexpr std::size_t kInterfacesMax = 65'536;
  static constexpr std::size_t kStatisticsMax = 65'536;
  static constexpr std::uint32_t kIdsEnd = 1u << 29;

  // kInvalid: the name; kExists; kNoSpace.
  Result<FedInterface*> create_interface(std::string_view name, unsigned flags);
  Result<FedStatistic*> create_statistic(FedInterface& interface, std::string_view name,
                                         std::string_view units);
  // It lingers, without its name. An interface after all that is in it.
  void detach(FedStatistic& statistic);
  void detach(FedInterface& interface);
  // After detach().
  void erase(FedStatistic& statistic);
  void erase(FedInterface& interface);  // which has no statistics any more

  // Nullptr: gone.
  FedInterface* find_interface(std::uint32_t id) const;
  FedStatistic* find_statistic(std::uint32_t id) const;
  // The source of a view; nullptr for a statistic that is no view.
  FedStatistic* find_source(const FedStatistic& view) const;

  // The requests that are due. Creating a statistic makes it due, and erasing it ends that.
  DueRequests& due() { return due_; }
  // Makes due all that needs a request.
  void find_due();

  template <typename Do>
  void for_each_interface(Do&& what) {
    for (auto& [id, interface] : interfaces_) what(*interface);
  }
  // In the order of their creation.
  template <typename Do>
  void for_each_statistic(Do&& what) {
    for (auto& [id, statistic] : statistics_) what(*statistic);
  }

 private:
  std::uint32_t next_id_ = 1;
  DueRequests due_;
  std::map<std::uint32_t, std::unique_ptr<FedInterface>> interfaces_;
  std::map<std::uint32_t, std::unique_ptr<FedStatistic>> statistics_;
  std::unordered_map<std::string, FedInterface*> interfaces_by_name_;
  std::unordered_map<std::string, FedStatistic*> statistics_by_path_;
};

std::string path_of(const FedStatistic& statistic);
std::string create_line(const FedInterface& interface);
std::string create_line(const FedStatistic& statistic);
// The pending part of a definition. kDefaults: the initial definition, of which the daemon accepts
// the parts that neither users nor rules have defined. kChanges: the changes after that.
enum class Pending { kDefaults, kChanges };
std::string define_line(const FedStatistic& statistic, Pending part);

}  // namespace tallyfs
