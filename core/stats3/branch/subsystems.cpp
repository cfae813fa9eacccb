#include "core/stats3/branch/subsystems.h"

#include <utility>
#include <vector>

#include "core/base/text.h"

namespace tallyfs::stats3 {
namespace {

constexpr Audience kForWriters{.permissions = 0600, .readers = true, .writers = true};
// Room for OBJECT.json.
constexpr std::size_t kObjectNameBytesMax = 250;
// Bytes that are charged for the names, nodes and files of an object or a subsystem, in addition to
// its blob.
constexpr std::uint64_t kSubsystemBytes = 2048;
// So many objects go together, as each pass over their directory costs about as much as removing a
// few of them.
constexpr std::size_t kObjectsAtOnce = 256;

// Whether its names in the tree are free, and stay so.
bool is_object_name(std::string_view name) {
  return is_name(name) && name.size() <= kObjectNameBytesMax && name != kSampleRates &&
         !name.ends_with(kJson);
}

}  // namespace

Object* find_object(const Subsystem& subsystem, std::string_view name) {
  const auto found = subsystem.objects.find(name);
  return found == subsystem.objects.end() ? nullptr : found->second;
}

Subsystem* Subsystems::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

const Object* Subsystems::find_object(std::uint64_t number) const {
  const auto* const found = numbered_.find(number);
  return found ? std::get_if<Object>(found->get()) : nullptr;
}

Result<Subsystems::Numbering> Subsystems::give_number(Number before) {
  if (!before) {
    const std::uint64_t number = numbered_.next_number();
    return Numbering{number, numbered_.give_switch(number)};
  }
  if (numbered_.can_put(*before)) return Numbering{*before, numbered_.keep_switch(*before)};
  return Error{ErrorCode::kInvalid, "its number is not free"};
}

void Subsystems::add_numbered(std::uint64_t number, std::unique_ptr<Numbered> entry) {
  if (number == numbered_.next_number()) {
    numbered_.add(std::move(entry));
  } else {
    numbered_.put(number, std::move(entry));
  }
}

Result<Subsystem> Subsystems::prepare(std::string_view name, uid_t uid, Timestamp now,
                                      Number before) {
  if (!is_name(name) || name == kTemplates) {
    return invalid("not a subsystem's name (1 to 255 printable bytes, no '=')");
  }
  auto share =
      Reservation::create(dependencies_.ledger, uid, {.interfaces = 1, .bytes = kSubsystemBytes});
  if (!share) return share.error();
  const auto given = give_number(before);
  if (!given) return given.error();
  return Subsystem{.name = std::string(name),
                   .uid = uid,
                   .number = given.value().number,
                   .share = std::move(share.value()),
                   .rates = std::make_shared<SubsystemRates>(dependencies_.templates, uid,
                                                             given.value().its_switch, now)};
}

std::uint64_t Subsystems::enter(Subsystem subsystem, Timestamp now) {
  const std::string name = subsystem.name;
  subsystem.node =
      dependencies_.tree.add_directory(dependencies_.directory, name, dependencies_.rules(name),
                                       now, {.permissions = 0755, .writers = true});
  dependencies_.tree.add_file(subsystem.node, kSampleRates, kForWriters,
                              std::make_shared<SampleRatesFile>(subsystem.rates), now);
  auto entry = std::make_unique<Numbered>(std::move(subsystem));
  Subsystem* const added = std::get_if<Subsystem>(entry.get());
  by_name_.emplace(name, added);
  add_numbered(added->number, std::move(entry));
  return added->number;
}

Result<Object*> Subsystems::add_object(Subsystem& subsystem, std::string_view name, Timestamp now,
                                       Number before) {
  if (!is_object_name(name)) {
    return invalid("not an object's name (1 to 250 printable bytes, no '=', no .json)", 0);
  }
  auto share = Reservation::create(dependencies_.ledger, subsystem.uid,
                                   {.statistics = 1, .bytes = kSubsystemBytes});
  if (!share) return share.error();
  const auto given = give_number(before);
  if (!given) return given.error();
  Object made{.name = std::string(name), .owner = &subsystem, .number = given.value().number};
  made.content =
      std::make_shared<StatsObject>(dependencies_.templates, made.number, std::move(share.value()),
                                    given.value().its_switch, now);
  const auto enter = [&](const std::string& file, StatsObject::Format format) {
    return dependencies_.tree.add_file(subsystem.node, file, kForReaders,
                                       std::make_shared<StatsObjectFile>(made.content, format),
                                       now);
  };
  made.freeform = enter(made.name, StatsObject::Format::kFreeform);
  made.json = enter(made.name + std::string(kJson), StatsObject::Format::kJson);
  auto entry = std::make_unique<Numbered>(std::move(made));
  Object* const added = std::get_if<Object>(entry.get());
  subsystem.objects.emplace(name, added);
  add_numbered(added->number, std::move(entry));
  return added;
}

bool Subsystems::forget_if(Subsystem& subsystem, const std::function<bool(Object&)>& is_gone,
                           Timestamp now, const IsLate& is_late) {
  for (;;) {
    std::vector<Object*> gone;
    for (const auto& [name, object] : subsystem.objects) {
      if (gone.size() == kObjectsAtOnce) break;
      if (is_gone(*object)) gone.push_back(object);
    }
    forget(gone, now);
    if (gone.size() < kObjectsAtOnce) return true;
    if (is_late()) return false;
  }
}

void Subsystems::forget(std::span<Object* const> objects, Timestamp now) {
  std::vector<NodeId> files;
  for (Object* const object : objects) {
    object->content->detach();
    files.insert(files.end(), {object->freeform, object->json});
    object->owner->objects.erase(object->name);
    numbered_.remove(object->number);
  }
  dependencies_.tree.remove(files, now);
}

// sample_rates goes with the directory.
void Subsystems::forget(Subsystem& subsystem, Timestamp now) {
  subsystem.rates->detach();
  dependencies_.tree.remove(subsystem.node, now);
  by_name_.erase(subsystem.name);
  numbered_.remove(subsystem.number);
}

bool Subsystems::forget_all(Subsystem& subsystem, Timestamp now, const IsLate& is_late) {
  if (!forget_if(
          subsystem, [](Object&) { return true; }, now, is_late))
    return false;
  forget(subsystem, now);
  return true;
}

}  // namespace tallyfs::stats3
