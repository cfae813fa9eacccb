#include "feeders/statsd/series/series_book.h"

#include <cstdint>
#include <utility>

#include "core/base/text.h"
#include "feeders/statsd/series/series_definition.h"
#include "core/base/encoded_name.h"

namespace tallyfs::statsd {
namespace {

constexpr const char* kDefaultInterface = "statsd";
constexpr const char* kChecksInterface = "statsd~checks";

constexpr std::string_view suffix_of(Kind kind) {
  switch (kind) {
    case Kind::kCounter:
      return "~c";
    case Kind::kGauge:
      return "~g";
    case Kind::kTimer:
      return "~t";
    case Kind::kHistogram:
      return "~h";
    case Kind::kSet:
      break;
  }
  return "~s";
}

Refusal name_refused(const char* text) { return {Reason::kName, 0, text}; }

}  // namespace

SeriesBook::SeriesBook(const Settings& settings, Outlet& outlet)
    : settings_(settings),
      bounds_(settings.limits),
      outlet_(outlet) {}

SeriesBook::~SeriesBook() = default;

std::string_view SeriesBook::split_name(std::string_view name,
                                        std::vector<std::string_view>& tags) const {
  if (settings_.name_tags == NameTags::kNone) return name;
  const char at = settings_.name_tags == NameTags::kInflux ? ',' : ';';
  const std::size_t end = name.find(at);
  if (end == name.npos || end == 0) return name;
  for (std::string_view rest = name.substr(end); !rest.empty();) {
    rest.remove_prefix(1);
    tags.push_back(rest.substr(0, rest.find(at)));
    rest.remove_prefix(tags.back().size());
  }
  return name.substr(0, end);
}

unsigned SeriesBook::scale_of(const SeriesKey& key) {
  if (key.space == SeriesKey::Space::kChecks) return 0;
  tags_.clear();
  const std::string_view bare = split_name(key.name, tags_);
  const auto& names = table_of(key.space).names;
  const auto name = names.find(bare);
  const MapRule* rule =
      name != names.end() ? name->second->rule : find_rule(settings_.map, std::string(bare));
  return statsd::scale_of(key.kind, rule);
}

SeriesBook::Resolved SeriesBook::resolve(const SeriesKey& key, std::uint32_t now_s) {
  tags_.clear();
  std::vector<std::string> owned;
  const std::string_view bare = split_name(key.name, tags_);
  // `k=v` of a name is the tag `k:v`.
  owned.reserve(tags_.size() + 1);
  for (std::string_view& each : tags_) {
    std::string& tag = owned.emplace_back(each);
    if (const auto equals = tag.find('='); equals != tag.npos) tag[equals] = ':';
    each = tag;
  }
  split_tags(key.tags, tags_);
  if (settings_.has_container_tag && !key.container.empty()) {
    tags_.push_back(owned.emplace_back("container_id:").append(key.container));
  }
  Refusal refusal;
  Name* const name = find_or_add_name(key, bare, now_s, refusal);
  if (!name) return {nullptr, refusal};
  return resolve_name(key, table_of(key.space), *name, tags_);
}

SeriesBook::Name* SeriesBook::find_or_add_name(const SeriesKey& key, std::string_view name,
                                               std::uint32_t now_s, Refusal& refusal) {
  const auto& names = table_of(key.space).names;
  const auto found = names.find(name);
  return found != names.end() ? found->second.get() : add_name(key, name, now_s, refusal);
}

SeriesBook::Name* SeriesBook::add_name(const SeriesKey& key, std::string_view name,
                                       std::uint32_t now_s, Refusal& refusal) {
  auto made = std::make_unique<Name>(
      Name{.sent = std::string(name), .space = key.space, .encoded = encoded_name(name)});
  if (made->encoded.size() > kNameBytesMax) {
    refusal = name_refused("the name has more than 255 bytes");
    return nullptr;
  }
  if (!bounds_.has_room_for_name() && !give_up_one(now_s)) {
    refusal = name_refused("there are 5,000 names already, all used within the last hour");
    return nullptr;
  }
  make_room(key.kind, now_s);
  const bool is_metric = key.space == SeriesKey::Space::kMetrics;
  made->rule = is_metric ? find_rule(settings_.map, std::string(name)) : nullptr;
  made->interface = interface_of(name, made->rule, key.space);
  made->first = key.kind;
  made->made_s = now_s;
  bounds_.add_name();
  return table_of(key.space).names.emplace(std::string(name), std::move(made)).first->second.get();
}

std::string SeriesBook::interface_of(std::string_view name, const MapRule* rule,
                                     SeriesKey::Space space) {
  if (space == SeriesKey::Space::kChecks) return kChecksInterface;
  std::string interface = kDefaultInterface;
  const std::size_t dot = name.find('.');
  if (rule) {
    interface = rule->interface;
  } else if (dot != name.npos && dot != 0) {
    interface += "-";
    append_encoded(interface, name.substr(0, dot));
  }
  if (interface.size() > kNameBytesMax) return kDefaultInterface;
  const bool has_room = interface == kDefaultInterface || bounds_.admit_interface(interface);
  return has_room ? interface : kDefaultInterface;
}

bool SeriesBook::has_room(const Name& name, Kind kind) const {
  return bounds_.has_room(name.members.size() - name.overflows) &&
         (kind != Kind::kSet || sets_.size() - overflow_sets_ < kSetsMax);
}

SeriesBook::Resolved SeriesBook::resolve_name(const SeriesKey& key, Table& table, Name& name,
                                              const std::vector<std::string_view>& tags) {
  std::string base = name.encoded;
  if (key.kind != name.first) base.append(suffix_of(key.kind));
  std::vector<const TagFilter*> filters{&settings_.tags};
  if (name.rule) filters.push_back(&name.rule->tags);
  NamedSeries named{base + tags_text(tags, filters)};
  const bool is_long = named.name.size() > kNameBytesMax;
  if (!is_long) {
    const auto found = table.series.find(named.name);
    if (found != table.series.end()) return {found->second.get(), {}};
    if (has_room(name, key.kind)) return make(key, table, name, named);
  }
  using enum SeriesBounds::Overflow;
  bounds_.note_overflow(name.sent, is_long ? kLongName : kNoRoom);
  named = {base.append(kOverflowLabels), true};
  const auto found = table.series.find(named.name);
  if (found != table.series.end()) return {found->second.get(), {}};
  if (named.name.size() > kNameBytesMax) {
    return {nullptr, name_refused("the name with {*} has more than 255 bytes")};
  }
  if (key.kind == Kind::kSet && overflow_sets_ == kOverflowSetsMax) {
    return {nullptr, name_refused("there are 1,280 sets already")};
  }
  return make(key, table, name, named);
}

SeriesBook::Resolved SeriesBook::make(const SeriesKey& key, Table& table, Name& name,
                                      const NamedSeries& named) {
  const bool is_check = key.space == SeriesKey::Space::kChecks;
  const auto id =
      outlet_.open({name.interface, named.name, key.kind,
                    is_check ? definition_of_check() : definition_of(key.kind, name.rule)});
  if (!id) return {nullptr, name_refused("the library has no room for another statistic")};
  auto made = std::make_unique<Series>(
      *id, key.kind, is_check ? 0 : statsd::scale_of(key.kind, name.rule), named.is_overflow);
  Series* const series = made.get();
  table.series.emplace(named.name, std::move(made));
  name.members.push_back({named.name, series});
  made_ += 1;
  if (named.is_overflow) {
    name.overflows += 1;
  } else {
    bounds_.add();
  }
  if (key.kind == Kind::kSet) {
    sets_.push_back(series);
    names_of_sets_.push_back(&name);
    overflow_sets_ += named.is_overflow ? 1 : 0;
  }
  return {series, {}};
}

}  // namespace tallyfs::statsd
