// The C functions: one Client for the process, made by the first call, and a buffer for each
// thread. Everything that a thread, a fork or the end of the process has to bring about is here.
//
// Longer than most: all calls of statistic.h are here, and most are short.
#include "tally/statistic.h"

#include <pthread.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "feeders/client/client.h"
#include "feeders/client/decimal_to_x.h"
#include "feeders/client/definition_text.h"
#include "feeders/client/errno_guard.h"
#include "feeders/client/last_error.h"
#include "feeders/client/latency_calls.h"
#include "feeders/client/name_with_labels.h"
#include "feeders/client/process_client.h"
#include "feeders/client/socket_path.h"
#include "feeders/clock/owned_lock.h"

namespace tallyfs {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kSocketPathMax = 107;
// The size in a program that was compiled before no_lane was a member.
constexpr std::size_t kSettingsBytesOld = offsetof(statistic_settings, no_lane);
constexpr std::uint32_t kDelayMaxUs = 10'000'000;
constexpr std::uint32_t kWaitMaxMs = 60'000;
constexpr std::uint32_t kHeldMin = 1'024;
constexpr std::uint32_t kHeldMax = 1'048'576;
// How long the end of the process waits for a daemon that is there but does not take anything.
constexpr std::chrono::milliseconds kFinishMax = 250ms;

constinit OwnedLock g_making{LockRank::kClientSettings};
std::atomic<Client*> g_client{nullptr};
Client::Settings g_settings GUARDED_BY(g_making);
bool g_configured GUARDED_BY(g_making) = false;

// The key by which a thread's end gives its buffer back. The values of keys below kKeysInPlace lie
// in the thread itself; for higher ones glibc allocates memory, as no signal handler may. So the
// key is made as soon as we are loaded, and if it is too high all the same, or there is none at
// all, a thread's samples do without.
constexpr pthread_key_t kKeysInPlace = 32;
pthread_key_t g_buffer_key GUARDED_BY(g_making);
std::atomic<bool> g_has_key{false};
std::atomic<bool> g_key_is_in_place{false};

// initial-exec: reading it never allocates, so that a signal handler may.
[[gnu::tls_model("initial-exec")]] thread_local ThreadBuffer* t_buffer = nullptr;
[[gnu::tls_model("initial-exec")]] thread_local ThreadBuffers::Search t_search;

void end_thread(void* buffer) {
  t_buffer = nullptr;
  g_client.load()->samples().give_back(*static_cast<ThreadBuffer*>(buffer));
}

// The locks that the handlers below have taken on a thread that forks. They may be registered
// twice, by a thread of the parent and by its child, and work once.
struct Forking {
  bool is_on = false;
  bool has_settings = false;  // else a handler of a signal forks, which interrupted their owner
  Client* client = nullptr;
};
[[gnu::tls_model("initial-exec")]] thread_local constinit Forking t_forking;

void client_before_fork() NO_THREAD_SAFETY_ANALYSIS {
  if (std::exchange(t_forking.is_on, true)) return;
  t_forking.has_settings = !g_making.is_mine();
  if (t_forking.has_settings) g_making.lock();
  t_forking.client = g_client.load();
  if (t_forking.client) t_forking.client->forking().before(t_buffer);
}
void client_after_fork_in_parent() NO_THREAD_SAFETY_ANALYSIS {
  const Forking forking = std::exchange(t_forking, {});
  if (forking.client) forking.client->forking().after_in_parent(t_buffer);
  if (forking.has_settings) g_making.unlock();
}
void client_after_fork_in_child() NO_THREAD_SAFETY_ANALYSIS {
  const Forking forking = std::exchange(t_forking, {});
  if (forking.client) forking.client->forking().after_in_child(t_buffer);
  if (forking.has_settings) g_making.unlock();
}

// At exit(): before objects are destroyed that the program made before it first called us, such as
// what its report function writes to.
void finish() {
  if (Client* const client = g_client.load()) client->finish(kFinishMax);
}

void make_key() REQUIRES(g_making) {
  if (g_has_key || ::pthread_key_create(&g_buffer_key, &end_thread) != 0) return;
  g_key_is_in_place = g_buffer_key < kKeysInPlace;
  g_has_key = true;
}

[[gnu::constructor]] void make_key_early() {
  const Owned lock(g_making);
  make_key();
}

// A thread that is gone in the child may have been at its settings, and left a string half written.
[[gnu::constructor]] void watch_forks() {
  ::pthread_atfork(nullptr, nullptr, [] {
    if (!g_making.take_from_the_gone()) return;
    const Owned lock(g_making);
    g_configured = false;
    new (&g_settings) Client::Settings;
  });
}

void configure_by_default() REQUIRES(g_making) {
  if (!std::exchange(g_configured, true)) g_settings.socket = find_socket_path("");
}

// Null: no memory.
Client* make_client() {
  const Owned lock(g_making);
  if (Client* const made = g_client.load()) return made;
  configure_by_default();
  auto* const client = new (std::nothrow) Client(g_settings);
  if (!client) return nullptr;
  make_key();
  ::pthread_atfork(&client_before_fork, &client_after_fork_in_parent, &client_after_fork_in_child);
  std::atexit(&finish);
  g_client = client;
  return client;
}

// Whether the end of this thread gives the buffer back. After g_has_key the key does not change.
bool bind_to_thread(ThreadBuffer* buffer) NO_THREAD_SAFETY_ANALYSIS {
  return ::pthread_setspecific(g_buffer_key, buffer) == 0;
}

ThreadBuffer* buffer_of_this_thread(Client& client) {
  if (t_buffer) return t_buffer;
  ThreadBuffer* const buffer = client.buffers().own(t_search);
  if (t_buffer) {
    // A signal handler was here in between.
    if (buffer) client.samples().give_back(*buffer);
    return t_buffer;
  }
  if (!buffer) return nullptr;
  t_search = {};
  t_buffer = buffer;
  if (!g_key_is_in_place || !bind_to_thread(buffer)) ThreadBuffers::watch(*buffer);
  return buffer;
}

// buffer_of_this_thread() for calls that may allocate, and that no signal handler makes.
ThreadBuffer* bound_buffer_of_this_thread(Client& client) {
  ThreadBuffer* const buffer = buffer_of_this_thread(client);
  if (buffer && buffer->watched() != 0 && g_has_key && bind_to_thread(buffer)) buffer->watch(0);
  return buffer;
}

// A thread's first sample.
[[gnu::cold, gnu::noinline]] void add_first(Client& client, FedStatistic& statistic, std::int64_t x,
                                            std::uint64_t y) {
  client.samples().add(buffer_of_this_thread(client), statistic, x, y);
}

// A call that takes locks says that its thread is inside, so that a signal handler on it takes
// none.
class Inside {
 public:
  explicit Inside(Client& client) : client_(client), buffer_(bound_buffer_of_this_thread(client)) {
    if (buffer_ && buffer_->is_inside()) buffer_ = nullptr;
    if (buffer_) buffer_->enter_call();
  }
  ~Inside() {
    if (buffer_) client_.samples().leave_call(*buffer_);
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  const ErrnoGuard guard_;
  Client& client_;
  ThreadBuffer* buffer_;
};

int out_of_memory() { return fail_with(ENOMEM, "out of memory"); }

std::string_view text_of(const char* text) { return text ? text : ""; }

// No exception leaves through C; all that there is to fear is want of memory.
template <typename Do>
int guarded(Do&& what) {
  try {
    Client* const client = g_client.load() ? g_client.load() : make_client();
    if (!client) return out_of_memory();
    const Inside inside(*client);
    client->forking().wake_up_in_child();
    return what(*client);
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

// The handle of a statistic that could not be created: it is always off.
::statistic g_none{&FedStatistic::kOff};

bool is_none(const ::statistic* statistic) { return !statistic || statistic == &g_none; }

FedStatistic& fed(::statistic* statistic) { return *static_cast<FedStatistic*>(statistic); }

// The range of a definition.
RangeOfX range_of(::statistic* statistic, std::int64_t min, std::int64_t max) {
  return {min, max, is_none(statistic) ? 0u : fed(statistic).asked_decimals.load()};
}

int fail_none() { return fail_with(EINVAL, "the statistic could not be created"); }

int define(::statistic* statistic, Result<std::string> text) {
  if (!text) return fail_with(text.error());
  if (is_none(statistic)) return fail_none();
  return guarded(
      [&](Client& client) { return client.statistics().define(fed(statistic), text.value()); });
}

void drop(::statistic** statistic, ServerSide side) {
  if (!is_none(*statistic)) {
    guarded([&](Client& client) {
      client.statistics().drop(fed(*statistic), side);
      return 0;
    });
  }
  *statistic = nullptr;
}

void drop(::statistic_interface** interface, ServerSide side) {
  if (!*interface) return;
  guarded([&](Client& client) {
    client.statistics().drop(*static_cast<FedInterface*>(*interface), side);
    return 0;
  });
  *interface = nullptr;
}

// The fault of the settings; empty: there is none.
const char* fault_of(const statistic_settings* settings) {
  if (!settings) return "settings must not be NULL";
  if (settings->size != sizeof *settings && settings->size != kSettingsBytesOld) {
    return "settings.size is of no known version";
  }
  if (settings->delay_us > kDelayMaxUs) return "delay_us must be a number from 0 to 10000000";
  if (settings->wait_ms > kWaitMaxMs) return "wait_ms must be a number from 0 to 60000";
  if (settings->held_max < kHeldMin || settings->held_max > kHeldMax) {
    return "held_max must be a number from 1024 to 1048576";
  }
  return "";
}

// Runs after all destructors of static objects, which may have added samples.
[[gnu::destructor]] void finish_the_rest() {
  if (Client* const client = g_client.load()) client->finish(kFinishMax);
}

}  // namespace

int call_client(int (*what)(Client& client, void* context), void* context) {
  return guarded([&](Client& client) { return what(client, context); });
}

SocketPath configured_socket_path() {
  const Owned lock(g_making);
  configure_by_default();
  return g_settings.socket;
}

}  // namespace tallyfs

using namespace tallyfs;

int statistic_configure(const statistic_settings* settings) {
  if (const char* const fault = fault_of(settings); *fault) return fail_with(EINVAL, fault);
  if (settings->socket && std::strlen(settings->socket) > kSocketPathMax) {
    return fail_with(ENAMETOOLONG, "the socket's path is longer than 107 bytes");
  }
  const bool is_old = settings->size == kSettingsBytesOld;
  const Owned lock(g_making);
  if (g_client.load()) return fail_with(EBUSY, "an interface has been created already");
  try {
    g_settings = {.socket = find_socket_path(settings->socket ? settings->socket : ""),
                  .delay = std::chrono::microseconds(settings->delay_us),
                  .wait_max = std::chrono::milliseconds(settings->wait_ms),
                  .held_max = std::bit_ceil(settings->held_max),
                  .report = settings->report,
                  .context = settings->context,
                  .has_lane = is_old || settings->no_lane == 0,
                  .statistics_max = is_old ? 0 : settings->statistics_max};
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
  g_configured = true;
  return 0;
}

int statistic_create_interface(statistic_interface** interface, const char* name, unsigned flags) {
  *interface = nullptr;
  if (!name) return fail_with(EINVAL, "an interface's name must not be NULL");
  return guarded([&](Client& client) {
    FedInterface* made = nullptr;
    const int error = client.statistics().create_interface(&made, name, flags);
    *interface = made;
    return error;
  });
}

void statistic_interface_remove(statistic_interface** interface) {
  drop(interface, ServerSide::kDelete);
}

void statistic_interface_release(statistic_interface** interface) {
  drop(interface, ServerSide::kKeep);
}

int statistic_create(::statistic** statistic, statistic_interface* interface, const char* name,
                     const char* units) {
  *statistic = &g_none;
  if (!interface || !name) return fail_with(EINVAL, "interface and name must not be NULL");
  return guarded([&](Client& client) {
    FedStatistic* made = nullptr;
    const int error = client.statistics().create_statistic(
        &made, *static_cast<FedInterface*>(interface), name, units ? units : "");
    if (error == 0) *statistic = made;
    return error;
  });
}

int statistic_create_view(::statistic** view, ::statistic* source, const char* name) {
  *view = &g_none;
  if (is_none(source)) return fail_none();
  if (!name) return fail_with(EINVAL, "name must not be NULL");
  if (!fed(source).source.empty()) return fail_with(EINVAL, "a view has no views");
  return guarded([&](Client& client) {
    FedStatistic* made = nullptr;
    const int error = client.statistics().create_view(&made, fed(source), name);
    if (error == 0) *view = made;
    return error;
  });
}

void statistic_remove(::statistic** statistic) { drop(statistic, ServerSide::kDelete); }

void statistic_release(::statistic** statistic) { drop(statistic, ServerSide::kKeep); }

int statistic_define_value(::statistic* statistic, int64_t range_min, int64_t range_max,
                           statistic_mode mode) {
  return define(statistic, value_text(range_of(statistic, range_min, range_max), mode));
}

int statistic_define_range(::statistic* statistic, int64_t range_min, int64_t range_max) {
  return define(statistic, range_text(range_of(statistic, range_min, range_max)));
}

int statistic_define_array(::statistic* statistic, int64_t range_min, int64_t range_max,
                           uint64_t base_interval, statistic_scale scale) {
  return define(statistic,
                array_text(range_of(statistic, range_min, range_max), base_interval, scale));
}

int statistic_define_list(::statistic* statistic, int64_t range_min, int64_t range_max,
                          uint32_t entries_max) {
  return statistic_define_list_base(statistic, range_min, range_max, entries_max, 16);
}

int statistic_define_list_base(::statistic* statistic, int64_t range_min, int64_t range_max,
                               uint32_t entries_max, unsigned base) {
  return define(statistic, list_text(range_of(statistic, range_min, range_max), entries_max, base));
}

int statistic_define_raw(::statistic* statistic, int64_t range_min, int64_t range_max,
                         uint32_t entries_max) {
  return define(statistic, raw_text(range_of(statistic, range_min, range_max), entries_max));
}

int statistic_define_history(::statistic* statistic, int64_t range_min, int64_t range_max,
                             uint32_t entries_max, uint64_t period_us, statistic_mode mode) {
  return define(statistic, history_text(range_of(statistic, range_min, range_max), entries_max,
                                        period_us, mode));
}

int statistic_define_quantiles(::statistic* statistic, int64_t range_min, int64_t range_max,
                               unsigned precision, const char* quantiles) {
  return define(statistic,
                quantiles_text(range_of(statistic, range_min, range_max), precision, quantiles));
}

int statistic_define_quantile_history(::statistic* statistic, int64_t range_min, int64_t range_max,
                                      uint32_t entries_max, uint64_t period_us, unsigned precision,
                                      const char* quantiles) {
  return define(statistic, quantile_history_text(range_of(statistic, range_min, range_max),
                                                 entries_max, period_us, precision, quantiles));
}

int statistic_define_last(::statistic* statistic, int64_t range_min, int64_t range_max) {
  return define(statistic, last_text(range_of(statistic, range_min, range_max)));
}

int statistic_name_with_labels(char* name, size_t size, const char* family, const char* const* keys,
                               const char* const* values, size_t count) {
  const ErrnoGuard guard;
  if (size != 0) name[0] = '\0';
  try {
    std::vector<GivenLabel> labels;
    for (size_t i = 0; i < count; ++i) labels.push_back({text_of(keys[i]), text_of(values[i])});
    const auto made = name_with_labels(text_of(family), labels);
    if (!made) return fail_with(made.error());
    if (made.value().size() >= size) return fail_with(ENAMETOOLONG, "the name does not fit");
    std::memcpy(name, made.value().c_str(), made.value().size() + 1);
    return 0;
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

int statistic_define_decimals(::statistic* statistic, unsigned decimals) {
  if (is_none(statistic)) return fail_none();
  return guarded([&](Client& client) {
    return client.statistics().define_decimals(fed(statistic), decimals);
  });
}

unsigned statistic_decimals(const ::statistic* statistic) {
  return is_none(statistic) ? 0 : static_cast<const FedStatistic*>(statistic)->decimals();
}

int statistic_to_x(const ::statistic* statistic, double number, int64_t* x) {
  const auto kept = decimal_to_x(number, statistic_decimals(statistic));
  if (!kept) return fail_with(kept.error());
  *x = kept.value();
  return 0;
}

int statistic_define_help(::statistic* statistic, const char* help) {
  if (is_none(statistic)) return fail_none();
  return guarded([&](Client& client) {
    return client.statistics().define_help(fed(statistic), text_of(help));
  });
}

int statistic_start(::statistic* statistic) {
  if (is_none(statistic)) return fail_none();
  return guarded([&](Client& client) { return client.statistics().switch_on(fed(statistic)); });
}

int statistic_stop(::statistic* statistic) {
  if (is_none(statistic)) return fail_none();
  return guarded([&](Client& client) { return client.statistics().switch_off(fed(statistic)); });
}

int statistic_reset(::statistic* statistic) {
  if (is_none(statistic)) return fail_none();
  return guarded([&](Client& client) { return client.statistics().reset(fed(statistic)); });
}

void statistic_on_add(::statistic* statistic, int64_t x, uint64_t y) {
  Client& client = *g_client.load(std::memory_order_relaxed);
  if (!t_buffer) [[unlikely]]
    return add_first(client, fed(statistic), x, y);
  client.samples().add(t_buffer, fed(statistic), x, y);
}

void statistic_on_add_at(::statistic* statistic, int64_t x, uint64_t y, int64_t time_ns) {
  const statistic_sample sample{x, y, time_ns};
  statistic_on_add_batch(statistic, &sample, 1);
}

void statistic_on_add_batch(::statistic* statistic, const statistic_sample* samples, size_t count) {
  Client& client = *g_client.load(std::memory_order_relaxed);
  client.samples().add(buffer_of_this_thread(client), fed(statistic), std::span(samples, count));
}

void statistic_add_each(const statistic_entry* entries, size_t count) {
  Client* const client = g_client.load(std::memory_order_relaxed);
  if (client) client->samples().add(buffer_of_this_thread(*client), std::span(entries, count));
}

int statistic_flush() {
  return guarded([](Client& client) {
    report_dropped_latencies();
    return client.flush();
  });
}

int statistic_sync(unsigned timeout_ms) {
  const auto time_max = std::chrono::milliseconds(std::min(timeout_ms, kWaitMaxMs));
  return guarded([&](Client& client) { return client.sync(time_max); });
}

void statistic_finish() {
  const ErrnoGuard guard;
  report_dropped_latencies();
  finish();
}

int statistic_count(statistic_counts* counts, size_t size) {
  if (size != sizeof *counts) return fail_with(EINVAL, "a size of no known version");
  *counts = {};
  if (const Client* const client = g_client.load()) client->count(*counts);
  return 0;
}

uint64_t statistic_dropped(const ::statistic* statistic) {
  if (is_none(statistic)) return 0;
  return static_cast<const FedStatistic*>(statistic)->dropped.load(std::memory_order_relaxed);
}

const char* statistic_last_error() { return last_error(); }

const char* tally_version() { return TALLYFS_VERSION; }
