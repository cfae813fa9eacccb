// What a branch saves, kept in memory: to be compared, and loaded into another one. Confined to a
// test.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
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
    const auto ended = branch.end_loading(loading);
    return all ? ended : all;
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

// What the next server finds after a kill: each object as it was put last. Confined to a test.
class KeptObjects final : public ObjectSink {
 public:
  Reader reader() const override { return Reader::kSuccessor; }
  bool put(const SavedObject& object) override {
    Kept& kept = kept_[{object.kind, std::string(object.label)}];
    kept = {object.format, std::string(object.bytes), std::exchange(version_, {}), kept.puts + 1};
    return true;
  }
  bool wants_changes(std::string_view interface, std::uint64_t object) override {
    const auto found = kept_.find({static_cast<std::uint16_t>(SavedKind::kFedInterface),
                                   std::string(interface)});
    constexpr std::size_t kShort = 4096;
    return found != kept_.end() && found->second.version.object == object &&
           found->second.bytes.size() > kShort;
  }
  bool put_changes(const SavedObject& object, const ObjectVersion& version) override {
    version_ = version;
    return put(object);
  }
  bool wants(SavedKind kind, std::string_view label, const ObjectVersion& version) override {
    const auto found = kept_.find({static_cast<std::uint16_t>(kind), std::string(label)});
    version_ = version;
    return found == kept_.end() || found->second.version != version;
  }

  // The labels of what was put of a kind, in their order.
  std::vector<std::string> labels(SavedKind kind) const {
    std::vector<std::string> all;
    for (const auto& [name, kept] : kept_) {
      if (name.first == static_cast<std::uint16_t>(kind)) all.push_back(name.second);
    }
    return all;
  }
  // How often something was put of a kind.
  std::uint64_t puts(SavedKind kind) const {
    std::uint64_t all = 0;
    for (const auto& [name, kept] : kept_) {
      if (name.first == static_cast<std::uint16_t>(kind)) all += kept.puts;
    }
    return all;
  }
  // In the order of their kinds, which is that in which a branch needs them.
  SavedObjects all() const {
    SavedObjects objects;
    for (const auto& [name, kept] : kept_) {
      objects.put({name.first, kept.format, name.second, kept.bytes});
    }
    return objects;
  }

  // The same, with changes before what they are of, as the next server reads them.
  SavedObjects for_loading() const {
    SavedObjects objects;
    for (const bool are_changes : {true, false}) {
      for (const auto& [name, kept] : kept_) {
        const bool is_one = name.first == static_cast<std::uint16_t>(SavedKind::kFedChanges);
        if (is_one == are_changes) objects.put({name.first, kept.format, name.second, kept.bytes});
      }
    }
    return objects;
  }

 private:
  struct Kept {
    std::uint16_t format = 0;
    std::string bytes{};
    ObjectVersion version{};
    std::uint64_t puts = 0;
  };

  std::map<std::pair<std::uint16_t, std::string>, Kept> kept_;
  ObjectVersion version_;
};

}  // namespace tallyfs
