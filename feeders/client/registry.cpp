#include "feeders/client/registry.h"

#include "core/base/text.h"

namespace tallyfs {
namespace {

constexpr const char* kNameRule =
    "must be 1 to 255 printable bytes without white space, '/' and '=', and not . or ..";

Error exists() { return {ErrorCode::kExists, "this process has one of that name already"}; }
Error too_many() { return {ErrorCode::kNoSpace, "one feeder cannot have more than 65536"}; }

}  // namespace

Result<FedInterface*> Registry::create_interface(std::string_view name, unsigned flags) {
  if (!is_name(name)) return invalid(std::string("an interface's name ") + kNameRule);
  if (interfaces_by_name_.contains(std::string(name))) return exists();
  if (interfaces_.size() >= kInterfacesMax || next_id_ == kIdsEnd) return too_many();
  auto made = std::make_unique<FedInterface>();
  FedInterface& interface = *made;
  interface.id = next_id_;
  interface.name = name;
  interface.flags = flags;
  due_.interfaces.insert(interface.id);
  interfaces_by_name_.emplace(interface.name, &interface);
  interfaces_.emplace(next_id_++, std::move(made));
  return &interface;
}

Result<FedStatistic*> Registry::create_statistic(FedInterface& interface, std::string_view name,
                                                 std::string_view units) {
  if (!is_name(name)) return invalid(std::string("a statistic's name ") + kNameRule);
  if (!units.empty() && !is_units(units)) {
    return invalid("units must be at most 255 printable bytes without white space and '='");
  };
  if (statistics_by_path_.contains(interface.name + "/" + std::string(name))) return exists();
  if (statistics_.size() >= kStatisticsMax || next_id_ == kIdsEnd) return too_many();
  auto made = std::make_unique<FedStatistic>();
  FedStatistic& statistic = *made;
  statistic.interface = &interface;
  statistic.id = next_id_;
  statistic.name = name;
  statistic.units = units;
  due_.statistics.insert(statistic.id);
  interface.statistics.insert(&statistic);
  statistics_by_path_.emplace(path_of(statistic), &statistic);
  statistics_.emplace(next_id_++, std::move(made));
  return &statistic;
}

void Registry::detach(FedStatistic& statistic) {
  statistics_by_path_.erase(path_of(statistic));
  statistic.lingers = true;
}

void Registry::detach(FedInterface& interface) {
  interfaces_by_name_.erase(interface.name);
  interface.lingers = true;
}

void Registry::erase(FedStatistic& statistic) {
  due_.forget(statistic.id);
  statistic.interface->statistics.erase(&statistic);
  statistics_.erase(statistic.id);
}

void Registry::erase(FedInterface& interface) {
  due_.forget(interface.id);
  interfaces_.erase(interface.id);
}

void Registry::find_due() {
  for_each_interface([this](const FedInterface& each) {
    due_.note_visit();
    if (each.registration == Registration::kUnregistered) due_.interfaces.insert(each.id);
  });
  for_each_statistic([this](const FedStatistic& each) {
    due_.note_visit();
    if (each.registration == Registration::kUnregistered) due_.statistics.insert(each.id);
    if (!each.has_pending()) return;
    due_.changes.insert(each.id);
    due_.pending.insert(each.id);
  });
}

FedInterface* Registry::find_interface(std::uint32_t id) const {
  const auto found = interfaces_.find(id);
  return found == interfaces_.end() ? nullptr : found->second.get();
}

FedStatistic* Registry::find_statistic(std::uint32_t id) const {
  const auto found = statistics_.find(id);
  return found == statistics_.end() ? nullptr : found->second.get();
}

FedStatistic* Registry::find_source(const FedStatistic& view) const {
  if (view.source.empty()) return nullptr;
  const auto found = statistics_by_path_.find(view.interface->name + "/" + view.source);
  return found == statistics_by_path_.end() ? nullptr : found->second;
}

std::string path_of(const FedStatistic& statistic) {
  return statistic.interface->name + "/" + statistic.name;
}

namespace {

// A view has those of its source. Daemons of old do not know the key.
std::string decimals_words(const FedStatistic& statistic) {
  const unsigned decimals = statistic.asked_decimals;
  const bool has_any = decimals != 0 && statistic.source.empty();
  return has_any ? " decimals=" + std::to_string(decimals) : std::string();
}

std::string help_words(const FedStatistic& statistic) {
  return statistic.help.empty() ? std::string() : " help=" + statistic.help;
}

}  // namespace

std::string create_line(const FedInterface& interface) {
  const bool leaves = (interface.flags & STATISTIC_LIFETIME_FEEDER) != 0;
  const bool is_closed = (interface.flags & STATISTIC_FEED_OWNER) != 0;
  return "create " + interface.name + (leaves ? " lifetime=feeder" : "") +
         (is_closed ? " feed=owner" : "");
}

std::string create_line(const FedStatistic& statistic) {
  std::string line = "create " + path_of(statistic);
  if (!statistic.source.empty()) line += " of=" + statistic.source;
  if (!statistic.type.empty()) line += " " + statistic.type;
  line += decimals_words(statistic);
  const bool on = statistic.pending_on ? statistic.started_before_pending : statistic.started;
  if (on) line += " on=1";
  if (!on && !statistic.source.empty()) line += " on=0";  // a view is on by default
  if (!statistic.units.empty()) line += " units=" + statistic.units;
  const bool is_exact = (statistic.interface->flags & STATISTIC_UNITS_EXACT) != 0;
  if (statistic.source.empty() && is_exact) {
    line += " sample_units=" + (statistic.units.empty() ? "-" : statistic.units);
  }
  return line + help_words(statistic);
}

std::string define_line(const FedStatistic& statistic, Pending part) {
  std::string line = "define " + statistic.interface->name + " name=" + statistic.name;
  auto on = statistic.pending_on;
  if (part == Pending::kDefaults) {
    line += " default=1";
    if (statistic.pending_type) {
      line += " " + statistic.type + decimals_words(statistic) + help_words(statistic);
    }
    on = statistic.pending_begin;
  } else if (statistic.pending_reset) {
    line += " data=reset";
  }
  if (on) line += *on ? " on=1" : " on=0";
  return line;
}

}  // namespace tallyfs
