// The tracing directories that exist: the top, and those of instances/ by name.
// Confined to the lock of Tracing's State.
// Limits: instances_max instances beside the top; each takes a share of the owner's quota.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/tracing/branch/tracing.h"
#include "core/tracing/branch/tracing_instance.h"

namespace tallyfs::tracing {

// The ids of ftrace/print and ftrace/raw_data, in their formats and records.
inline constexpr char kMarkerId = 5;
inline constexpr char kRawMarkerId = 16;

class Instances {
 public:
  using ByName = std::map<std::string, SharedInstance, std::less<>>;

  // Both outlive it. Creates the top.
  Instances(Ledger& ledger, const Tracing::Options& options);

  const SharedInstance& top() const { return top_; }
  // The top without a name. nullptr: there is none.
  SharedInstance top_or(std::string_view name) const { return name.empty() ? top_ : find(name); }
  EventIds& ids() { return *ids_; }
  const ByName& by_name() const { return by_name_; }
  template <typename Use>  // void(TracingInstance&)
  void each(const Use& use) const {
    use(*top_);
    for (const auto& [name, instance] : by_name_) use(*instance);
  }
  template <typename Use>  // void(const SharedInstance&)
  void each_shared(const Use& use) const {
    use(top_);
    for (const auto& [name, instance] : by_name_) use(instance);
  }

  // An instance without events, not yet among the others. kExists; kInvalid: not a name; kNoSpace.
  Result<SharedInstance> create(std::string_view name, Timestamp now);
  void add(const SharedInstance& instance) { by_name_.emplace(instance->name, instance); }
  // nullptr: there is none.
  SharedInstance find(std::string_view name) const;
  void erase(const SharedInstance& instance) { by_name_.erase(instance->name); }

 private:
  Result<SharedInstance> make(std::string_view name);

  Ledger& ledger_;
  const Tracing::Options& options_;
  // Shared by all instances, which may be open for longer than this; the last frees it.
  const std::shared_ptr<EventIds> ids_ = std::make_shared<EventIds>();
  const SharedInstance top_;
  ByName by_name_;
};

}  // namespace tallyfs::tracing
