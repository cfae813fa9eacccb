#include "core/tracing/set/saved_trigger.h"

#include <bit>
#include <utility>

namespace tallyfs::tracing {

void SavedTrigger::save_one(ByteWriter& out) const {
  out.put(serial);
  out.put_text(system);
  out.put_text(event);
  out.put(static_cast<std::uint8_t>(kind));
  out.put_text(parameters);
  out.put_text(filter);
  out.put(left);
  out.put(std::uint8_t{paused});
  out.put(entries_max);
  out.put(expiry_ns);
}

SavedTrigger SavedTrigger::load_one(ByteReader& in) {
  SavedTrigger saved;
  saved.serial = in.get<std::uint64_t>();
  saved.system = in.get_text();
  saved.event = in.get_text();
  const auto kind = in.get<std::uint8_t>();
  saved.parameters = in.get_text();
  saved.filter = in.get_text();
  saved.left = in.get<std::int64_t>();
  saved.paused = in.get_flag();
  saved.entries_max = in.get<std::uint32_t>();
  saved.expiry_ns = in.get<std::uint64_t>();
  saved.kind = static_cast<TriggerKind>(kind);
  const bool is_hist = saved.kind == TriggerKind::kHist;
  if (saved.serial == 0 || saved.serial >= kSerialMax || saved.left > kLeftMax ||
      saved.left < TriggerLine::kUnlimited ||
      kind > static_cast<std::uint8_t>(TriggerKind::kDisableHist) ||
      is_hist != std::has_single_bit(saved.entries_max)) {
    in.fail();
  }
  return saved;
}

void SavedTrigger::save(ByteWriter& out) const {
  out.put(static_cast<std::uint32_t>(hidden.size()));
  for (const SavedTrigger& each : hidden) each.save_one(out);
  save_one(out);
}

SavedTrigger SavedTrigger::load(ByteReader& in) {
  const auto size = in.get<std::uint32_t>();
  if (size > kHiddenMax) in.fail();
  std::vector<SavedTrigger> hidden;
  std::uint64_t last = 0;
  for (std::uint32_t i = 0; i < size && in.ok(); ++i) {
    hidden.push_back(load_one(in));
    const std::uint64_t serial = hidden.back().serial;
    if (serial <= last || hidden.back().kind != TriggerKind::kHist) in.fail();
    last = serial;
  }
  SavedTrigger saved = load_one(in);
  if (saved.serial <= last) in.fail();
  saved.hidden = std::move(hidden);
  return saved;
}

}  // namespace tallyfs::tracing
