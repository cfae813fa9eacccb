// The ids of events that are not the kernel's: programs' events and synthetic events. As in the
// kernel, an event has one id in all instances, since clients read formats at the top only and
// records in an instance. The kernel's own ids come with its formats and are smaller.
//
// Confined to the lock of the EventSets that share it. An id that of() has given may be released on
// any thread.
// Limits: kIds events at a time. The names of as many are remembered, until their ids are given
// again, which is as late as can be.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tallyfs::tracing {

class EventIds {
 public:
  static constexpr std::uint16_t kFirst = 32'768;
  static constexpr std::size_t kIds = 32'768;
  // Shared by the events of that name in all instances; when the last is gone, the id is free.
  using Id = std::shared_ptr<const std::uint16_t>;

  EventIds() = default;
  EventIds(const EventIds&) = delete;
  EventIds& operator=(const EventIds&) = delete;

  // The id of the event, a new one if it has none. nullptr: all are in use.
  Id of(std::string_view system, std::string_view name);
  // of(), but a new id is `id` if that is free: the event existed before a restart.
  Id of(std::string_view system, std::string_view name, std::uint16_t id);

 private:
  using Key = std::pair<std::string, std::string>;
  using ByName = std::map<Key, std::size_t>;
  struct Holder {
    std::weak_ptr<const std::uint16_t> id;
    ByName::iterator name;  // the end: it has none
  };

  // nullptr: it has none, and its name may get one.
  Id known(const Key& key);
  Id give(std::size_t at, Key key);

  std::vector<Holder> holders_;  // by id, counted from kFirst
  ByName by_name_;               // where they are in holders_
  std::size_t next_ = 0;         // where the search for a free id begins
};

}  // namespace tallyfs::tracing
