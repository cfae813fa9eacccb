// Which interfaces and statistics of the Registry requests may be due for, by their numbers and in
// the order of their creation. So the cost of a datagram of requests does not depend on how many
// others there are: 10,000 new statistics cost as much each as one.
//
// A number stays until its request is sent, or a visit finds that nothing is due for it. Bounded by
// the Registry, which takes out the numbers of what it destroys. Confined to the Client's lock.
#pragma once

#include <cstdint>
#include <set>

namespace tallyfs {

class DueRequests {
 public:
  using Ids = std::set<std::uint32_t>;
  enum class After { kKeep, kDrop, kStop };  // kStop: keeps it, and ends the visits

  void forget(std::uint32_t id) {
    for (Ids* const some : {&interfaces, &statistics, &changes, &pending}) some->erase(id);
  }
  template <typename Visit>
  void visit(Ids& some, Visit&& visit_one) {
    for (auto at = some.begin(); at != some.end();) {
      ++visits_;
      switch (visit_one(*at)) {
        case After::kKeep:
          ++at;
          break;
        case After::kDrop:
          at = some.erase(at);
          break;
        case After::kStop:
          return;
      }
    }
  }
  void note_visit() { ++visits_; }
  // How many were looked at so far: what requests cost.
  std::uint64_t visits() const { return visits_; }

  Ids interfaces;  // to be registered
  Ids statistics;  // to be registered, once their interface is
  Ids changes;     // of registered statistics, to be sent
  Ids pending;     // statistics that have changes

 private:
  std::uint64_t visits_ = 0;
};

}  // namespace tallyfs
