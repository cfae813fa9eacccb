// Tells the daemon of this process's templates, subsystems and objects of stats(3), publishes
// blobs, and follows the sample rates; see tally/publish.h for what it promises, and
// core/wire/FORMAT.md for how it is said.
//
// Confined to whoever holds the Client's lock. It has one datagram of requests on its way at a
// time, besides the Registrar's; what is not answered within kAnswerWait is asked for again, what
// is refused after kRefusedPause. At most kThingsMax subsystems, objects, and withdrawals of such
// that wait for room: none of them is forgotten.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/wire/binary.h"
#include "feeders/client/fed_statistic.h"
#include "feeders/client/link.h"
#include "feeders/client/switches.h"
#include "tally/publish.h"

namespace tallyfs {

struct FedObject;

struct FedSubsystem {
  std::string name;
  Standing standing = Standing::kUnknown;
  int refusal = 0;
  std::uint64_t number = 0;
  stats_tpl_sr_cb_t callback = nullptr;
  std::size_t context_bytes = 0;   // of what the callback gets as ctx
  std::string rates;               // as text, by hashes: those that hold here
  std::uint32_t changes_seen = 0;  // of the rates, in the daemon
  bool wants_rates = false;
  int rates_refusal = 0;  // an errno that the daemon is to be told
  std::map<std::string, FedObject*, std::less<>> objects;
};

struct FedObject : ::stats_object {
  FedObject() : ::stats_object{&FedStatistic::kOn} {}

  FedSubsystem* subsystem = nullptr;  // nullptr: it was withdrawn with its subsystem
  std::string name;
  unsigned flags = 0;       // STATS_PUBLISH_
  bool has_handle = false;  // the program's, which gives it back
  Standing standing = Standing::kUnknown;
  int refusal = 0;
  std::uint64_t number = 0;
  bool is_inherited = false;  // of the parent's, by fork(); asked for when it is published here
  bool was_asked = false;     // this daemon for it, which may have it even if no answer came
  bool was_sent = false;      // a blob, to this daemon
  std::string kept;           // the last one, until it can be, or while nobody asks
};

class Publisher {
 public:
  using Time = std::chrono::nanoseconds;
  static constexpr Time kAnswerWait = std::chrono::seconds(1);
  static constexpr Time kRefusedPause = std::chrono::seconds(10);
  static constexpr std::size_t kThingsMax = 65'536;

  // New rates, for a callback of the program's, which is called without the lock.
  struct News {
    std::string subsystem;
    stats_tpl_sr_cb_t callback;
    std::size_t context_bytes;
    std::string text;
  };

  Publisher(Link& link, Switches& switches, std::function<void(std::string)> report);
  ~Publisher();

  // Who holds an object: the program, by a handle, or this class for those that it names.
  enum class Holder { kProgram, kNames };
  // kInvalid, kExists, kNoSpace.
  Result<FedObject*> create(std::string_view subsystem, std::string_view name, unsigned flags,
                            Holder holder);
  // Nullptr: there is none.
  FedObject* find(std::string_view subsystem, std::string_view name) const;
  void remove(FedObject& object);
  // With all its objects; those with a handle are kGone until remove(). False: there is none.
  bool remove_subsystem(std::string_view name);
  // rates: by hashes.
  Result<void> follow_rates(std::string_view subsystem, stats_tpl_sr_cb_t callback,
                            std::size_t context_bytes, std::string rates);
  // The callback refused what it was told, with an errno: so that a user reads of it.
  void refuse_rates(std::string_view subsystem, int error);
  // A negative errno or 0.
  int publish(FedObject& object, std::string_view blob, std::uint64_t epoch);
  // While nobody asks for it: for send_kept().
  void keep(FedObject& object, std::string_view blob);
  // Sends what keep() has, and nobody has published since. False: there is no room for all of it.
  bool send_kept(std::uint64_t epoch);

  // In a child of fork(), where the parent goes on publishing what is its own.
  void inherit();
  // On a new connection, or with another daemon: nothing is known.
  void begin();
  // Takes the answer to request `id`; 0: what was published was for no object.
  void take(std::uint32_t id, const wire::Answer& answer, std::uint64_t epoch, Time now);
  // Looks at the page for what has changed there, and at the process's templates.
  void look(Time now);
  // Asks for what is not known, as far as there is room.
  void ask(std::uint64_t epoch, Time now);

  // All is known, or refused, and nothing is kept or on its way.
  bool is_settled() const { return asked_.empty() && !changed_; }
  int refusal() const { return refusal_; }
  std::vector<News> take_news() { return std::exchange(news_, {}); }

 private:
  // What a request was about; things may be gone when its answer comes.
  struct Asked {
    enum class What { kTemplate, kSubsystem, kObject, kRates, kRefusal, kWithdrawal } what;
    std::uint32_t hash = 0;
    std::string subsystem, object;
  };

  FedSubsystem* find_subsystem(std::string_view name) const;
  std::size_t things() const {
    return subsystems_.size() + objects_.size() + withdrawn_.size() + withdrawals_.size();
  }
  Result<FedSubsystem*> make_subsystem(std::string_view name);
  std::uint32_t note_asked(Asked asked);
  bool has_room_for(std::size_t bytes) const;
  bool add_request(std::string_view text, Asked asked);
  void ask_for_templates();
  void ask_for_subsystem(FedSubsystem& subsystem);
  void give_up_asking();
  void take_subsystem(FedSubsystem& subsystem, const wire::Answer& answer);
  void refuse_object(FedObject& object, const wire::Answer& answer, Time now);
  void take_object(FedObject& object, const wire::Answer& answer, std::uint64_t epoch);
  void take_stale(std::uint64_t number);
  void take_rates(FedSubsystem& subsystem, const wire::Answer& answer);
  void refused(const std::string& what, const wire::Answer& answer, Time now);
  int send(FedObject& object, std::string_view blob, std::uint64_t epoch);
  void point_at_switch(FedObject& object);
  void lose(FedSubsystem& subsystem);
  void look_for_void();

  Link& link_;
  Switches& switches_;
  const std::function<void(std::string)> report_;

  std::map<std::string, std::unique_ptr<FedSubsystem>, std::less<>> subsystems_;
  std::map<const FedObject*, std::unique_ptr<FedObject>> objects_;
  std::map<const FedObject*, std::unique_ptr<FedObject>> withdrawn_;  // whose handles are left
  std::map<std::uint32_t, Standing> told_;                            // templates, by their hashes
  std::uint64_t templates_seen_ = 0;                                  // changes of the process's
  std::deque<std::string> withdrawals_;
  std::vector<News> news_;

  wire::DatagramWriter requests_{0};
  wire::DatagramWriter blob_{0};
  std::map<std::uint32_t, Asked> asked_, added_;  // on their way; in requests_
  std::uint32_t next_id_ = 1;
  Time asked_at_{0};
  Time retry_refused_at_{0};
  Time looked_at_{0};
  bool some_refused_ = false;
  bool changed_ = false;
  bool has_kept_ = false;  // while nobody asked
  int refusal_ = 0;
};

}  // namespace tallyfs
