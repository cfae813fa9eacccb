#include "feeders/client/registrar.h"

#include <cerrno>
#include <utility>
#include <variant>

#include "feeders/client/request.h"

namespace tallyfs {
namespace {

constexpr std::uint32_t kSubjectMask = 7u << 29;
// Of subjects that there is one of, or that need not be told apart.
constexpr std::uint32_t kNoId = 1;

}  // namespace

Registrar::Registrar(Registry& registry, Link& link, Switches& switches, Events events)
    : registry_(registry),
      link_(link),
      switches_(switches),
      events_(std::move(events)),
      requests_(0) {}

void Registrar::begin() {
  epoch_ = 0;
  asked_ = 0;
  ping_asked_ = false;
  stale_ = false;
  page_ = Standing::kUnknown;
  some_refused_ = told_silence_ = false;
  changed_ = true;
  // The daemon after the first is another, and what is in it may be others'.
  if (std::exchange(was_connected_, true)) removals_.clear();
  switches_.forget();
  registry_.for_each_interface([](FedInterface& each) {
    if (!each.removed) each.standing = Standing::kUnknown;
  });
  registry_.for_each_statistic([](FedStatistic& each) {
    if (each.removed) return;
    // Whoever had it on in the daemon before may have it on in the next one: its answer will tell.
    each.set_switch(each.is_on() || each.started ? &FedStatistic::kOn : &FedStatistic::kOff);
    each.number.store(0, std::memory_order_release);
    each.standing = Standing::kUnknown;
    each.changes_asked = 0;
  });
  events_.begun();
}

// ---- asking

void Registrar::ask(Time now, Changes changes) {
  if (asked_ != 0) {
    if (now - asked_at_ < kAnswerWait) return;
    report_silence();
    give_up_asking();
  }
  if (some_refused_ && now >= retry_refused_at_) forget_refusals();
  if (!changed_) return;
  changed_ = false;
  requests_.clear(epoch_);
  added_ = {};
  if (page_ == Standing::kUnknown) {
    add_request(Subject::kSwitches, kNoId, "switches");
    page_ = Standing::kAsked;
  }
  if (changes == Changes::kToo) add_pending();
  add_removals();
  // What has the name of something that is still to be removed is made after that.
  if (added_.removals == std::ssize(removals_)) {
    ask_for_interfaces();
    ask_for_statistics();
  }
  if (added_.requests != 0) send_requests(now);
  changed_ |= has_pending();
}

void Registrar::forget_refusals() {
  some_refused_ = false;
  changed_ = true;
  registry_.for_each_interface([](FedInterface& each) {
    if (each.standing == Standing::kRefused && !each.removed) each.standing = Standing::kUnknown;
  });
  registry_.for_each_statistic([](FedStatistic& each) {
    if (each.standing == Standing::kRefused && !each.removed) each.standing = Standing::kUnknown;
  });
}

bool Registrar::has_room_for(std::string_view text) const {
  return requests_.size() + kRequestBytes + text.size() <= kRequestsBytes;
}

void Registrar::add_request(Subject subject, std::uint32_t id, std::string_view text) {
  requests_.request(static_cast<std::uint32_t>(subject) | id, text);
  added_.requests += 1;
}

void Registrar::ask_for_interfaces() {
  registry_.for_each_interface([this](FedInterface& interface) {
    if (interface.standing != Standing::kUnknown) return;
    const std::string line = create_line(interface);
    changed_ = true;  // its statistics come next
    if (!has_room_for(line)) return;
    add_request(Subject::kInterface, interface.id, line);
    interface.standing = Standing::kAsked;
  });
}

void Registrar::ask_for_statistics() {
  registry_.for_each_statistic([this](FedStatistic& statistic) {
    if (statistic.standing != Standing::kUnknown) return;
    if (statistic.interface->standing == Standing::kRefused) {
      statistic.standing = Standing::kRefused;
      return;
    }
    if (statistic.interface->standing != Standing::kKnown) {
      changed_ = true;
      return;
    }
    const std::string line = create_line(statistic);
    if (!has_room_for(line)) {
      changed_ = true;
      return;
    }
    add_request(Subject::kStatistic, statistic.id, line);
    statistic.standing = Standing::kAsked;
  });
}

void Registrar::add_pending() {
  registry_.for_each_statistic([this](FedStatistic& statistic) {
    if (statistic.standing != Standing::kKnown || !statistic.has_pending()) return;
    const std::string line = define_line(statistic, Pending::kAll);
    if (!has_room_for(line)) return;
    add_request(Subject::kDefine, statistic.id, line);
    added_.changes.push_back(&statistic);
  });
}

void Registrar::add_removals() {
  for (const std::string& line : removals_) {
    if (!has_room_for(line)) break;
    add_request(Subject::kRemove, kNoId, line);
    added_.removals += 1;
  }
  changed_ |= static_cast<std::size_t>(added_.removals) != removals_.size();
}

bool Registrar::has_pending() {
  bool found = false;
  registry_.for_each_statistic([&](FedStatistic& each) {
    const Standing standing = each.standing;
    const bool is_heard = standing != Standing::kRefused && standing != Standing::kGone;
    found = found || (is_heard && each.has_pending());
  });
  return found;
}

void Registrar::note_asked(FedStatistic& statistic, Pending part) {
  if (part == Pending::kAll) {
    statistic.forget_pending();
  } else {
    statistic.forget_defaults();
  }
  statistic.changes_asked += 1;
}

void Registrar::send_requests(Time now) {
  if (link_.send(requests_.bytes()) != Link::Sent::kDone) return give_up_asking();
  asked_ = added_.requests;
  asked_at_ = now;
  for (FedStatistic* const changed : added_.changes) note_asked(*changed, Pending::kAll);
  removals_.erase(removals_.begin(), removals_.begin() + added_.removals);
}

// Once for a connection, if it has not answered anything. Our address is an abstract one, which a
// daemon in another network namespace does not see.
void Registrar::report_silence() {
  if (epoch_ != 0 || std::exchange(told_silence_, true)) return;
  events_.report("no answer from the daemon at " + link_.path() +
                 ": is it stopped, or in another network namespace?");
}

// Whatever was asked for and not answered is asked for again.
void Registrar::give_up_asking() {
  asked_ = 0;
  changed_ = true;
  if (page_ == Standing::kAsked) page_ = Standing::kUnknown;
  registry_.for_each_interface([](FedInterface& each) {
    if (each.standing == Standing::kAsked) each.standing = Standing::kUnknown;
  });
  registry_.for_each_statistic([this](FedStatistic& each) {
    if (each.standing == Standing::kAsked) each.standing = Standing::kUnknown;
    each.changes_asked = 0;
    point_at_switch(each);
  });
}

void Registrar::define(FedStatistic& statistic, Time now, Pending part) {
  changed_ = true;
  if (link_.full()) return;
  requests_.clear(epoch_);
  requests_.request(static_cast<std::uint32_t>(Subject::kDefine) | statistic.id,
                    define_line(statistic, part));
  if (link_.send(requests_.bytes()) != Link::Sent::kDone) return;
  note_asked(statistic, part);
  asked_ += 1;
  asked_at_ = now;
}

void Registrar::forget(FedStatistic& statistic) {
  statistic.removed = true;
  statistic.forget_pending();
  statistic.standing = Standing::kRefused;
  statistic.number = 0;
}

void Registrar::forget(FedInterface& interface) {
  interface.removed = true;
  interface.standing = Standing::kRefused;
}

void Registrar::remove(const std::string& target) {
  if (!link_.connected() && was_connected_) return;
  removals_.push_back("remove " + target);
  if (removals_.size() > kRemovalsMax) removals_.pop_front();
  changed_ = true;
}

void Registrar::ping(Time now, std::uint64_t sent) {
  if (ping_asked_ && now - ping_at_ < kAnswerWait) return;
  requests_.clear(epoch_);
  ping_id_ = (ping_id_ + 1) % Registry::kIdsEnd;
  requests_.request(static_cast<std::uint32_t>(Subject::kPing) | ping_id_, "");
  if (link_.send(requests_.bytes()) != Link::Sent::kDone) return;
  ping_asked_ = true;
  ping_sent_ = sent;
  ping_at_ = now;
}

// ---- answers

void Registrar::take_answers(Time now) {
  while (auto received = link_.receive()) {
    auto reader = wire::DatagramReader::open(received->datagram);
    if (!reader) continue;
    if (const auto epoch = reader.value().epoch(); epoch != epoch_) {
      // On one connection only a daemon that took over from another has a new one.
      if (epoch_ != 0) begin();
      epoch_ = epoch;
      events_.other_epoch(epoch);
    }
    while (const auto message = reader.value().next()) {
      if (!*message) continue;
      if (const auto* answer = std::get_if<wire::Answer>(&message->value())) {
        take(*answer, received->attached, now);
      }
    }
  }
}

void Registrar::take(const wire::Answer& answer, const Fd& attached, Time now) {
  if (answer.sequence == 0 && answer.number != 0) return events_.other_answer(0, answer);
  if (answer.sequence == 0) return take_stale();
  const auto subject = static_cast<Subject>(answer.sequence & kSubjectMask);
  const std::uint32_t id = answer.sequence & ~kSubjectMask;
  if (subject == Subject::kOther) return events_.other_answer(id, answer);
  if (subject != Subject::kPing && asked_ != 0) asked_ -= 1;
  switch (subject) {
    case Subject::kInterface:
      if (auto* const interface = registry_.find_interface(id)) {
        take_interface(*interface, answer, now);
      }
      return;
    case Subject::kStatistic:
      if (auto* const statistic = registry_.find_statistic(id)) {
        take_statistic(*statistic, answer, now);
      }
      return;
    case Subject::kPing:
      if (id != ping_id_ || !ping_asked_) return;
      ping_asked_ = false;
      return events_.confirmed(ping_sent_, std::exchange(stale_, false));
    case Subject::kDefine:
      if (auto* const statistic = registry_.find_statistic(id)) take_defined(*statistic, answer);
      return;
    case Subject::kOther:
      return;
    case Subject::kSwitches:
      return take_switches(answer, attached);
    case Subject::kRemove:
      // What is gone already was to be removed.
      if (answer.error != 0 && answer.error != ENOENT) {
        events_.report("the daemon refused to remove something: " + words_for(answer));
      }
      return;
  }
}

void Registrar::take_switches(const wire::Answer& answer, const Fd& page) {
  page_ = answer.error == 0 ? Standing::kKnown : Standing::kRefused;
  if (answer.error != 0) return;  // then everything is sent, and the daemon sees what is on
  if (const auto done = switches_.map(page, answer.number); !done) {
    return events_.report(done.error().reason);
  }
  registry_.for_each_statistic([this](FedStatistic& each) { point_at_switch(each); });
}

void Registrar::take_interface(FedInterface& interface, const wire::Answer& answer, Time now) {
  if (interface.removed) return;
  if (answer.error != 0) {
    interface.standing = Standing::kRefused;
    interface.refusal = static_cast<int>(answer.error);
    return refused(interface.name, answer, now);
  }
  interface.standing = Standing::kKnown;
  interface.refusal = 0;
}

void Registrar::take_statistic(FedStatistic& statistic, const wire::Answer& answer, Time now) {
  if (statistic.removed) return;
  if (answer.error != 0) {
    statistic.standing = Standing::kRefused;
    statistic.refusal = static_cast<int>(answer.error);
    return refused(path_of(statistic), answer, now);
  }
  statistic.refusal = 0;
  if (answer.made == wire::Made::kNew) statistic.made_in_epoch = epoch_;
  statistic.was_there = statistic.made_in_epoch != epoch_;
  if (statistic.was_there) statistic.forget_defaults();
  if (answer.made == wire::Made::kNew) statistic.pending_reset = false;  // there was nothing yet
  statistic.standing = Standing::kKnown;
  // Before the number is known, and samples follow.
  if (statistic.has_pending_defaults()) define(statistic, now, Pending::kDefaults);
  changed_ |= statistic.has_pending();
  statistic.number.store(answer.number, std::memory_order_release);
  point_at_switch(statistic);
}

void Registrar::take_defined(FedStatistic& statistic, const wire::Answer& answer) {
  statistic.refusal = static_cast<int>(answer.error);
  if (answer.error != 0) {
    events_.report("the daemon refused to change " + path_of(statistic) + ": " + words_for(answer));
  }
  if (statistic.changes_asked != 0) statistic.changes_asked -= 1;
  point_at_switch(statistic);
}

void Registrar::refused(const std::string& what, const wire::Answer& answer, Time now) {
  some_refused_ = true;
  changed_ = true;
  retry_refused_at_ = now + kRefusedPause;
  events_.report("the daemon refused " + what + ": " + words_for(answer));
}

int Registrar::refusal() const {
  int first = 0;
  const auto look = [&first](const auto& each) {
    if (first == 0 && !each.lingers) first = each.refusal;
  };
  registry_.for_each_interface(look);
  registry_.for_each_statistic(look);
  return first;
}

void Registrar::take_stale() {
  stale_ = true;
  if (switches_.has_page()) return look_for_void();
  // The answer does not say which is gone. They are numbered as they were until we hear otherwise.
  registry_.for_each_interface([](FedInterface& each) {
    if (each.standing == Standing::kKnown) each.standing = Standing::kUnknown;
  });
  registry_.for_each_statistic([](FedStatistic& each) {
    if (each.standing == Standing::kKnown) each.standing = Standing::kUnknown;
  });
  changed_ = true;
}

// A statistic whose number is void is gone, and its interface may be.
void Registrar::look_for_void() {
  registry_.for_each_statistic([this](FedStatistic& statistic) {
    const auto number = statistic.number.load(std::memory_order_relaxed);
    if (statistic.standing != Standing::kKnown || !switches_.is_void(number)) return;
    statistic.set_switch(&FedStatistic::kOn);
    statistic.standing = Standing::kGone;
    statistic.number.store(0, std::memory_order_release);
    statistic.interface->standing = Standing::kUnknown;
  });
}

void Registrar::point_at_switch(FedStatistic& statistic) {
  if (statistic.standing != Standing::kKnown) return;
  if (statistic.has_pending() || statistic.changes_asked != 0) return;
  const auto number = statistic.number.load(std::memory_order_relaxed);
  const std::uint32_t* const found = switches_.find(number);
  statistic.set_switch(found ? found : &FedStatistic::kOn);
}

}  // namespace tallyfs
