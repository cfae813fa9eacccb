// The C functions of tally/publish.h.
#include "tally/publish.h"

#include <cerrno>
#include <cstddef>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "core/stats3/blob/layout.h"
#include "core/stats3/blob/rates.h"
#include "core/stats3/blob/templates.h"
#include "feeders/client/client.h"
#include "feeders/client/process_client.h"

namespace tallyfs {
namespace {

FedObject& fed(stats_object* object) { return *static_cast<FedObject*>(object); }

// Empty: it is none. What the daemon will refuse beyond that, it says itself.
std::string_view bytes_of(const statsblob* blob) {
  if (!blob || blob->abi != STATS_ABI_V1 || blob->cursz < sizeof(stats3::blob::Header)) return {};
  return {reinterpret_cast<const char*>(blob), blob->cursz};
}

// The callback's rates, as text by hashes; an errno.
int rates_of(stats_tpl_sr_cb_t callback, std::size_t context_bytes, std::string& text) {
  std::vector<std::max_align_t> context(context_bytes / sizeof(std::max_align_t) + 1);
  stats3::blob::Rates rates;
  void* const given = context_bytes == 0 ? nullptr : context.data();
  if (const int error = stats3::blob::copy_rates(callback, given, rates)) return error;
  for (const stats_tpl_sample_rate& each : rates) {
    const auto hash = stats3::blob::Templates::of_process().hash(each.tpl_slot_id);
    text.append(text.empty() ? ":" : ",:").append(std::to_string(hash));
    text.append("=").append(std::to_string(each.tpl_sample_pct));
  }
  return 0;
}

}  // namespace
}  // namespace tallyfs

using namespace tallyfs;

int stats_object_create(stats_object** object, const char* subsystem, const char* name,
                        unsigned flags) {
  if (!object) return -EINVAL;
  *object = nullptr;
  if (!subsystem || !name) return -EINVAL;
  return with_client([&](Client& client) {
    FedObject* made = nullptr;
    const int error = client.publishing().create_object(&made, subsystem, name, flags,
                                                        Publisher::Holder::kProgram);
    *object = made;
    return error;
  });
}

void stats_object_remove(stats_object** object) {
  if (!object || !*object) return;
  with_client([&](Client& client) {
    client.publishing().remove_object(fed(*object));
    return 0;
  });
  *object = nullptr;
}

int stats_on_object_publish(stats_object* object, const statsblob* blob) {
  const std::string_view bytes = bytes_of(blob);
  if (!object || bytes.empty()) return -EINVAL;
  return with_client(
      [&](Client& client) { return client.publishing().publish(fed(object), bytes); });
}

int stats_publish(const char* subsystem, const char* object, const statsblob* blob) {
  const std::string_view bytes = bytes_of(blob);
  if (!subsystem || !object || bytes.empty()) return -EINVAL;
  return with_client(
      [&](Client& client) { return client.publishing().publish(subsystem, object, bytes); });
}

int stats_withdraw(const char* subsystem, const char* object) {
  if (!subsystem || (object && !*object)) return -EINVAL;
  return with_client([&](Client& client) {
    return client.publishing().withdraw(subsystem, object ? object : "");
  });
}

int stats_subsystem_rates(const char* subsystem, stats_tpl_sr_cb_t callback,
                          size_t context_bytes) try {
  constexpr size_t kContextBytesMax = 1 << 20;
  if (!subsystem || !callback || context_bytes > kContextBytesMax) return -EINVAL;
  std::string rates;
  if (const int error = rates_of(callback, context_bytes, rates)) return -error;
  return with_client([&](Client& client) {
    return client.publishing().follow_rates(subsystem, callback, context_bytes, std::move(rates));
  });
} catch (const std::bad_alloc&) {
  return -ENOMEM;
}
