// Publishes this process's blobs of stats(3): a Requester for templates, subsystems, objects and
// sample rates. See tally/publish.h for what it promises, and core/wire/FORMAT.md for the bytes.
//
// Confined to the Client's lock. At most kThingsMax subsystems, objects, and withdrawals of such
// that wait for room: none of them is forgotten.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/wire/binary.h"
#include "feeders/client/conversation.h"
#include "feeders/client/fed_statistic.h"
#include "feeders/client/requester.h"
#include "feeders/client/switches.h"
#include "tally/publish.h"

namespace tallyfs {

struct FedObject;

struct FedSubsystem {
  std::uint64_t id = 0;  // never used twice
  std::string name;
  Registration registration = Registration::kUnregistered;
  int refusal = 0;
  std::uint64_t number = 0;
  stats_tpl_sr_cb_t callback = nullptr;
  std::size_t context_bytes = 0;   // of what the callback gets as ctx
  std::string rates;               // as text, by hashes: those that hold here
  std::uint32_t changes_seen = 0;  // of the rates, in the daemon
  bool wants_rates = false;
  int rates_refusal = 0;  // an errno, of which the daemon has to be informed
  std::map<std::string, FedObject*, std::less<>> objects;
};

struct FedObject : ::stats_object {
  FedObject() : ::stats_object{&FedStatistic::kOn} {}

  std::uint64_t id = 0;               // never used twice
  FedSubsystem* subsystem = nullptr;  // nullptr: it was withdrawn with its subsystem
  std::string name;
  unsigned flags = 0;       // STATS_PUBLISH_
  bool has_handle = false;  // the program's, which gives it back
  Registration registration = Registration::kUnregistered;
  int refusal = 0;
  std::uint64_t number = 0;
  bool is_inherited = false;   // from the parent, by fork(); requested when it is published here
  bool was_requested = false;  // from this daemon, which may have it even without a response
  bool was_sent = false;       // a blob, to this daemon
  std::string kept;            // the last blob, until it can be sent, or while there is no demand
};

class Publisher final : public Requester {
 public:
  using Time = std::chrono::nanoseconds;
  static constexpr std::size_t kThingsMax = 65'536;

  // New rates, for a callback of the program, which is called without the lock.
  struct NewRates {
    std::string subsystem;
    stats_tpl_sr_cb_t callback;
    std::size_t context_bytes;
    std::string text;
  };

  Publisher(Conversation& conversation, Switches& switches);

  // The owner of an object: the program, by a handle, or this class for those that it names.
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
  // The callback refused the rates with an errno: the daemon shows it to the user.
  void refuse_rates(std::string_view subsystem, int error);
  // A negative errno or 0.
  int publish(FedObject& object, std::string_view blob);
  // While there is no demand for it: for send_kept().
  void keep(FedObject& object, std::string_view blob);
  // Sends the blobs of keep() after which none was published. False: there is no room for all.
  bool send_kept();

  // In a child of fork(), where the parent goes on publishing what is its own.
  void inherit();
  // Looks at the page for what has changed there, and at the process's templates.
  void look(Time now);

  int refusal() const { return refusal_; }
  std::vector<NewRates> take_new_rates() { return std::exchange(new_rates_, {}); }

 private:
  void forget_removals() override { withdrawals_.clear(); }
  void begin() override;
  void add_requests(RequestDatagram& requests) override;
  void retry_refused() override;
  void take_stale(std::uint64_t number) override;

  void add_templates(RequestDatagram& requests);
  void add_template(RequestDatagram& requests, std::int64_t id);
  void add_withdrawals(RequestDatagram& requests);
  void add_subsystem(RequestDatagram& requests, FedSubsystem& subsystem);
  void add_rates_refusal(RequestDatagram& requests, FedSubsystem& subsystem);
  void add_rates(RequestDatagram& requests, FedSubsystem& subsystem);
  void add_object(RequestDatagram& requests, FedObject& object);

  void take_template(std::uint32_t hash, const Response& response);
  void take_withdrawal(const Response& response);
  void take_subsystem(FedSubsystem& subsystem, const Response& response);
  void take_rates(FedSubsystem& subsystem, const Response& response);
  void take_object(FedObject& object, const Response& response);
  void refuse_object(FedObject& object, const Response& response);

  FedSubsystem* find_subsystem(std::string_view name) const;
  // Nullptr: it has been withdrawn, though another of its name may have been made.
  FedSubsystem* find_subsystem(std::string_view name, std::uint64_t id) const;
  FedObject* find_object(std::string_view subsystem, std::string_view name, std::uint64_t id) const;
  std::size_t things() const {
    return subsystems_.size() + objects_.size() + withdrawn_.size() + withdrawals_.size();
  }
  Result<FedSubsystem*> make_subsystem(std::string_view name);
  int send(FedObject& object, std::string_view blob);
  void point_at_switch(FedObject& object);
  void look_for_void();
  // The daemon says that its number is void.
  template <typename Thing>
  void note_gone(Thing& thing);
  void forget_templates() {
    templates_.clear();
    templates_seen_ = 0;
  }

  Switches& switches_;

  std::map<std::string, std::unique_ptr<FedSubsystem>, std::less<>> subsystems_;
  std::map<const FedObject*, std::unique_ptr<FedObject>> objects_;
  std::map<const FedObject*, std::unique_ptr<FedObject>> withdrawn_;  // with handles left
  std::map<std::uint32_t, Registration> templates_;                   // by their hashes
  std::uint64_t templates_seen_ = 0;                                  // changes of the process's
  std::deque<std::string> withdrawals_;
  std::vector<NewRates> new_rates_;

  wire::DatagramWriter blob_{0};
  std::uint64_t last_id_ = 0;  // of subsystems and objects
  Time looked_at_{0};
  bool has_kept_ = false;  // while there was no demand
  int refusal_ = 0;
};

}  // namespace tallyfs
