// What of stats/ outlives the daemon: templates, subsystems and objects of a state file.
#include <algorithm>
#include <utility>

#include "core/base/bytes.h"
#include "core/stats3/blob/templates.h"
#include "core/stats3/branch/stats_branch.h"

namespace tallyfs {
namespace {

// Of the contents of the three kinds.
constexpr std::uint16_t kFormat = 1;

Error not_saved_here() { return {ErrorCode::kInvalid, "no saved object of stats/"}; }

std::string encode(const FeederTemplates::Saved& saved) {
  std::string bytes;
  ByteWriter out(bytes);
  out.put(std::uint32_t{saved.uid});
  out.put(saved.hash);
  out.put_text(saved.names.name);
  out.put(static_cast<std::uint32_t>(saved.names.vois.size()));
  for (const std::string& each : saved.names.vois) out.put_text(each);
  return bytes;
}

Result<FeederTemplates::Saved> decode(std::string_view bytes) {
  ByteReader in(bytes);
  FeederTemplates::Saved saved;
  saved.uid = in.get<std::uint32_t>();
  saved.hash = in.get<std::uint32_t>();
  saved.names.name = in.get_text();
  for (auto left = in.get<std::uint32_t>(); left != 0 && in.ok(); --left) {
    saved.names.vois.emplace_back(in.get_text());
    if (saved.names.vois.back().size() > blob::kVoiNameBytesMax) in.fail();
  }
  if (!in.ok() || in.left() != 0) return not_saved_here();
  return saved;
}

}  // namespace

// In the order in which they came, which is that of their nodes: a subsystem before its objects.
std::vector<StatsBranch::Saved> StatsBranch::listed() const {
  std::vector<Saved> all;
  {
    const MutexLock lock(mutex_);
    for (const auto& [name, subsystem] : subsystems_) {
      all.push_back({subsystem->node, name, subsystem->uid, subsystem->rates, nullptr});
      for (const auto& [object_name, object] : subsystem->objects) {
        if (object->lifetime == Lifetime::kFeeder) continue;
        std::string label = name;
        label.append("/").append(object_name);
        all.push_back(
            {object->freeform, std::move(label), subsystem->uid, nullptr, object->content});
      }
    }
  }
  std::ranges::sort(all, {}, &Saved::node);
  return all;
}

bool StatsBranch::put_template(const FeederTemplates::Saved& saved, ObjectSink& sink) {
  std::string label = saved.names.name;
  label.append(":").append(std::to_string(saved.hash));
  return sink.put(saved_object(SavedKind::kTemplate, kFormat, label, encode(saved)));
}

void StatsBranch::save(ObjectSink& sink) const {
  for (const FeederTemplates::Saved& each : templates_->all()) {
    if (!put_template(each, sink)) return;
  }
  std::string bytes;
  for (const Saved& each : listed()) {
    bytes.clear();
    ByteWriter out(bytes);
    SavedKind kind = SavedKind::kStatsObject;
    if (each.rates) {
      kind = SavedKind::kSubsystem;
      out.put(std::uint32_t{each.uid});
      each.rates->save(out);
    } else {
      each.object->save(out);
    }
    if (!sink.put(saved_object(kind, kFormat, each.label, bytes))) return;
  }
}

Branch::SavedAt StatsBranch::save_at(std::string_view path, ObjectSink&, Moment) const {
  return path == "stats" || path.starts_with("stats/") ? SavedAt::kAll : SavedAt::kElsewhere;
}

std::uint64_t StatsBranch::stamp(Moment) const {
  std::uint64_t stamp = spread(templates_->version());
  for (const Saved& each : listed()) {
    const std::uint64_t version =
        each.rates ? std::uint64_t{each.rates->changes()} : each.object->published();
    stamp += spread(spread(each.node) + version);
  }
  return stamp;
}

Result<void> StatsBranch::load(const SavedObject& object, const Loading& loading) {
  if (object.format != kFormat) return other_format(object);
  if (is_of(object, SavedKind::kTemplate)) return load_template(object, loading);
  if (is_of(object, SavedKind::kTellers)) return load_tellers(object, loading);
  const MutexLock lock(mutex_);
  if (is_of(object, SavedKind::kStatsNumbers)) return load_numbers(object, loading);
  if (is_of(object, SavedKind::kFedSubsystem)) return load_fed_subsystem(object, loading);
  if (is_of(object, SavedKind::kFedStatsObject)) return load_fed_object(object, loading);
  if (is_of(object, SavedKind::kSubsystem)) return load_subsystem(object, loading);
  return load_object(object, loading);
}

Result<void> StatsBranch::load_template(const SavedObject& object, const Loading& loading) {
  auto saved = decode(object.bytes);
  if (!saved) return saved.error();
  return templates_->restore(std::move(saved.value()), loading.now);
}

Result<void> StatsBranch::load_subsystem(const SavedObject& object, const Loading& loading) {
  if (find(object.label)) return Error{ErrorCode::kExists, "there is one of that name already"};
  ByteReader in(object.bytes);
  const auto uid = in.get<std::uint32_t>();
  auto made = prepare_subsystem(object.label, uid, loading.now);
  if (!made) return made.error();
  made.value().rates->load(in, loading.now);
  if (!in.ok() || in.left() != 0) {
    made.value().rates->detach();
    numbered_.take_back_switch(made.value().number);
    return not_saved_here();
  }
  enter(std::move(made.value()), loading.now);
  return {};
}

Result<void> StatsBranch::load_object(const SavedObject& object, const Loading& loading) {
  const wire::Path path = wire::split_path(object.label);
  Subsystem* const owner = find(path.interface);
  if (!owner) return Error{ErrorCode::kNotFound, "its subsystem is not there"};
  if (find(*owner, path.statistic)) {
    return Error{ErrorCode::kExists, "there is one of that name already"};
  }
  const auto made = add_object(*owner, path.statistic, loading.now);
  if (!made) return made.error();
  ByteReader in(object.bytes);
  auto loaded = made.value()->content->load(in, loading.now);
  if (loaded && in.left() != 0) loaded = not_saved_here();
  if (!loaded) forget(*made.value(), loading.now);
  return loaded;
}

void StatsObject::save(ByteWriter& out) const {
  const MutexLock lock(mutex_);
  save_locked(out);
}

void StatsObject::save_locked(ByteWriter& out) const {
  out.put(std::uint32_t{publisher_});
  out.put_text({reinterpret_cast<const char*>(blob_.data()), blob_.size()});
}

Result<void> StatsObject::load(ByteReader& in, Moment now) {
  const auto publisher = in.get<std::uint32_t>();
  // A copy: a blob is read where memory is aligned.
  const std::string bytes(in.get_text());
  if (!in.ok()) return not_saved_here();
  if (bytes.empty()) return {};
  return publish(bytes, publisher, now);
}

std::uint64_t StatsObject::published() const {
  const MutexLock lock(mutex_);
  return published_;
}

void SubsystemRates::save(ByteWriter& out) const {
  const MutexLock lock(mutex_);
  save_locked(out);
}

void SubsystemRates::save_locked(ByteWriter& out) const {
  out.put(std::uint8_t{set_by_user_});
  out.put(static_cast<std::uint32_t>(rates_.size()));
  for (const Rate& each : rates_) {
    out.put_text(each.name.value_or(""));
    out.put(each.hash);
    out.put(each.percent);
  }
}

void SubsystemRates::load(ByteReader& in, Moment now) {
  const bool is_set = in.get_flag();
  Rates rates = load_rates(in);
  if (!in.ok()) return;
  const MutexLock lock(mutex_);
  set_by_user_ = is_set;
  take(std::move(rates), now);
}

SubsystemRates::Rates SubsystemRates::load_rates(ByteReader& in) {
  Rates rates;
  const auto size = in.get<std::uint32_t>();
  if (size > kRatesMax) in.fail();
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < size && in.ok(); ++i) {
    Rate rate{.name = std::string(in.get_text()),
              .hash = in.get<std::uint32_t>(),
              .percent = in.get<std::uint32_t>()};
    if (rate.percent > 100 - sum || !blob::is_template_name(*rate.name)) in.fail();
    sum += in.ok() ? rate.percent : 0;
    rates.push_back(std::move(rate));
  }
  return rates;
}

}  // namespace tallyfs
