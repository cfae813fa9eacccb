#include "feeders/client/publish_calls.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/wire/errno.h"

namespace tallyfs {

PublishCalls::PublishCalls(const Dependencies& dependencies)
    : mutex_(dependencies.mutex),
      publisher_(dependencies.publisher),
      timer_(dependencies.timer),
      reports_(dependencies.reports),
      thread_(dependencies.thread),
      upkeep_(dependencies.upkeep) {}

int PublishCalls::create_object(FedObject** object, std::string_view subsystem,
                                std::string_view name, unsigned flags, Publisher::Holder holder) {
  if (const int error = thread_.start(); error != 0) return error;
  const MutexLock lock(mutex_);
  const auto made = publisher_.create(subsystem, name, flags, holder);
  if (!made) return -wire::to_errno(made.error().code);
  *object = made.value();
  timer_.start();
  return 0;
}

void PublishCalls::remove_object(FedObject& object) {
  const MutexLock lock(mutex_);
  publisher_.remove(object);
  upkeep_.sleep.wake();
}

int PublishCalls::publish(FedObject& object, std::string_view blob) {
  const MutexLock lock(mutex_);
  const bool inherited = object.is_inherited;
  const int error = publisher_.publish(object, blob);
  if (inherited) upkeep_.sleep.wake();
  return error;
}

int PublishCalls::publish(std::string_view subsystem, std::string_view name,
                          std::string_view blob) {
  {
    const MutexLock lock(mutex_);
    if (FedObject* const object = publisher_.find(subsystem, name)) {
      const bool is_wanted = __atomic_load_n(object->on, __ATOMIC_RELAXED) != 0;
      if (is_wanted) return publisher_.publish(*object, blob);
      publisher_.keep(*object, blob);
      return 0;
    }
  }
  FedObject* made = nullptr;
  const int error = create_object(&made, subsystem, name, 0, Publisher::Holder::kNames);
  // Another thread may have been first.
  if (error != 0 && error != -EEXIST) return error;
  const MutexLock lock(mutex_);
  FedObject* const object = publisher_.find(subsystem, name);
  return object ? publisher_.publish(*object, blob) : -ENOENT;
}

int PublishCalls::withdraw(std::string_view subsystem, std::string_view name) {
  const MutexLock lock(mutex_);
  FedObject* const object = publisher_.find(subsystem, name);
  if (!name.empty() && (!object || object->has_handle)) return -ENOENT;
  if (object) {
    publisher_.remove(*object);
  } else if (!publisher_.remove_subsystem(subsystem)) {
    return -ENOENT;
  }
  upkeep_.sleep.wake();
  return 0;
}

int PublishCalls::follow_rates(std::string_view subsystem, stats_tpl_sr_cb_t callback,
                               std::size_t context_bytes, std::string rates) {
  if (const int error = thread_.start(); error != 0) return error;
  const MutexLock lock(mutex_);
  const auto done = publisher_.follow_rates(subsystem, callback, context_bytes, std::move(rates));
  if (!done) return -wire::to_errno(done.error().code);
  timer_.start();
  return 0;
}

// The program's callback is called by the very handler that FreeBSD's sysctl calls.
void PublishCalls::deliver_rates(const std::vector<Publisher::NewRates>& new_rates) {
  for (const Publisher::NewRates& each : new_rates) {
    sysctl_req request{};
    request.newptr = each.text.c_str();
    request.newlen = each.text.size() + 1;
    const int error = stats_tpl_sample_rates(nullptr, reinterpret_cast<void*>(each.callback),
                                             static_cast<intmax_t>(each.context_bytes), &request);
    if (error == 0) continue;
    const MutexLock lock(mutex_);
    publisher_.refuse_rates(each.subsystem, error);
    timer_.start();
    reports_.add("sample rates " + each.text + " were not taken: " + std::strerror(error));
  }
}

}  // namespace tallyfs
