// What a server leaves for the next one beside what is saved: descriptors, and the objects of parts
// of the daemon that are no branches. Values and an interface, confined to the thread that hands
// over or takes over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "core/branch/saved_object.h"

namespace tallyfs {

// Objects name a descriptor by its place in the list.
class HandedDescriptors {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  HandedDescriptors() = default;
  explicit HandedDescriptors(std::vector<Fd> received) : received_(std::move(received)) {}

  // In the server that hands over, which keeps the descriptor. kNone for none.
  std::uint32_t add(int fd) {
    if (fd < 0) return kNone;
    sent_.push_back(fd);
    return static_cast<std::uint32_t>(sent_.size() - 1);
  }
  std::span<const int> sent() const { return sent_; }

  // In the next server; each once. Not valid: there is none.
  Fd take(std::uint32_t place) {
    return place < received_.size() ? std::move(received_[place]) : Fd();
  }

 private:
  std::vector<int> sent_;
  std::vector<Fd> received_;
};

class HandedPart {
 public:
  virtual ~HandedPart() = default;

  // The kinds that hand_on() puts and load() takes; no branch and no other part has them.
  virtual SavedKinds objects() const = 0;
  // No other thread uses the part then.
  virtual void hand_on(ObjectSink& sink, HandedDescriptors& descriptors) = 0;
  // Called before the part is used, and behind the objects of all branches. kInvalid, kNoSpace:
  // nothing of it was taken.
  virtual Result<void> load(const SavedObject& object, const Loading& loading,
                            HandedDescriptors& descriptors) = 0;
};

}  // namespace tallyfs
