// The Client's side of blobs: see publisher.h.
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/wire/errno.h"
#include "feeders/client/client.h"

namespace tallyfs {
int Client::create_object(FedObject** object, std::string_view subsystem, std::string_view name,
                          unsigned flags, Publisher::Holder holder) {
  if (const int error = start_keeper(); error != 0) return error;
  const MutexLock lock(mutex_);
  const auto made = publisher_.create(subsystem, name, flags, holder);
  if (!made) return -wire::to_errno(made.error().code);
  *object = made.value();
  register_soon();
  return 0;
}

void Client::remove_object(FedObject& object) {
  const MutexLock lock(mutex_);
  publisher_.remove(object);
  sleep_.wake();
}

int Client::publish(FedObject& object, std::string_view blob) {
  const MutexLock lock(mutex_);
  const bool inherited = object.is_inherited;
  const int error = publisher_.publish(object, blob);
  if (inherited) sleep_.wake();
  return error;
}

int Client::publish(std::string_view subsystem, std::string_view name, std::string_view blob) {
  {
    const MutexLock lock(mutex_);
    if (FedObject* const object = publisher_.find(subsystem, name)) {
      const bool asked = __atomic_load_n(object->on, __ATOMIC_RELAXED) != 0;
      if (asked) return publisher_.publish(*object, blob);
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

int Client::withdraw(std::string_view subsystem, std::string_view name) {
  const MutexLock lock(mutex_);
  FedObject* const object = publisher_.find(subsystem, name);
  if (!name.empty() && (!object || object->has_handle)) return -ENOENT;
  if (object) {
    publisher_.remove(*object);
  } else if (!publisher_.remove_subsystem(subsystem)) {
    return -ENOENT;
  }
  sleep_.wake();
  return 0;
}

int Client::follow_rates(std::string_view subsystem, stats_tpl_sr_cb_t callback,
                         std::size_t context_bytes, std::string rates) {
  if (const int error = start_keeper(); error != 0) return error;
  const MutexLock lock(mutex_);
  const auto done = publisher_.follow_rates(subsystem, callback, context_bytes, std::move(rates));
  if (!done) return -wire::to_errno(done.error().code);
  register_soon();
  return 0;
}

// By the very handler that FreeBSD's sysctl calls; the callback is the program's, and no lock of
// ours is held.
void Client::tell_rates(const std::vector<Publisher::NewRates>& new_rates) {
  for (const Publisher::NewRates& each : new_rates) {
    sysctl_req request{};
    request.newptr = each.text.c_str();
    request.newlen = each.text.size() + 1;
    const int error = stats_tpl_sample_rates(nullptr, reinterpret_cast<void*>(each.callback),
                                             static_cast<intmax_t>(each.context_bytes), &request);
    if (error == 0) continue;
    const MutexLock lock(mutex_);
    publisher_.refuse_rates(each.subsystem, error);
    register_soon();
    note_report("sample rates " + each.text + " were not taken: " + std::strerror(error));
  }
}

}  // namespace tallyfs
