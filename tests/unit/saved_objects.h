// What a branch saves, kept in memory: to be compared, and loaded into another one. Confined to a
// test.
#pragma once

#include <string>
#include <vector>

#include "core/branch/branch.h"

namespace tallyfs {

class SavedObjects final : public ObjectSink {
 public:
  SavedObjects() = default;
  explicit SavedObjects(const Branch& branch) { branch.save(*this); }

  bool put(const SavedObject& object) override {
    objects_.push_back({object.kind, object.format, std::string(object.label),
                        std::string(object.bytes)});
    return true;
  }

  std::size_t size() const { return objects_.size(); }
  SavedObject at(std::size_t i) const {
    const Object& object = objects_.at(i);
    return {object.kind, object.format, object.label, object.bytes};
  }
  bool operator==(const SavedObjects& other) const { return objects_ == other.objects_; }

  // The first error, if there is one; the other objects are loaded all the same.
  Result<void> load_into(Branch& branch, const Loading& loading) const {
    Result<void> all;
    for (std::size_t i = 0; i < size(); ++i) {
      const auto done = branch.load(at(i), loading);
      if (!done && all) all = done;
    }
    return all;
  }

 private:
  struct Object {
    std::uint16_t kind = 0;
    std::uint16_t format = 0;
    std::string label;
    std::string bytes;

    bool operator==(const Object&) const = default;
  };

  std::vector<Object> objects_;
};

}  // namespace tallyfs
