#include "core/tree/feeder_templates.h"

#include <boost/unordered/unordered_flat_set.hpp>
#include <utility>

#include "core/base/text.h"
#include "core/blob/check.h"
#include "core/blob/layout.h"

namespace tally {
namespace {

// What an entry takes beside its names.
constexpr std::uint64_t kTemplateBytes = 256;

// Specs stand in files, one behind the other: no name may break its line, or out of its marks.
bool is_template_name(std::string_view name) {
  if (name.size() > TPL_MAX_NAME_LEN || name.find('"') != name.npos) return false;
  std::string escaped;
  append_escaped(escaped, name, 4 * TPL_MAX_NAME_LEN, 0);
  return escaped == name;
}

// The names by their slots, those of vacant ones empty; kInvalid: the hash is not of these.
Result<blob::TemplateNames> names_of(const wire::Template& given) {
  std::vector<std::uint8_t> bytes(given.blob.begin(), given.blob.end());
  const auto size = blob::check_blob(bytes);
  if (!size) return invalid("the template's blob: " + size.error().reason);
  auto* const sb = reinterpret_cast<statsblob*>(bytes.data());
  blob::Header& header = blob::header_of(sb);
  const std::uint32_t hash = header.tplhash;
  header.tplhash = 0;
  header.created = header.lastrst = 0;
  const auto slots = static_cast<std::size_t>(blob::voi_slots(header));
  if (given.voi_names.size() != slots) return invalid("there is not a name for each VOI");
  blob::TemplateNames names{std::string(given.name), {}};
  std::vector<std::string_view> hashed;
  for (std::size_t i = 0; i < slots; ++i) {
    names.vois.emplace_back(given.voi_names[i]);
    if (names.vois.back().size() > blob::kVoiNameBytesMax)
      return invalid("a VOI's name is too long");
    if (blob::vois_of(sb)[i].id >= 0) hashed.push_back(given.voi_names[i]);
  }
  const std::string_view blank(reinterpret_cast<const char*>(bytes.data()), size.value());
  const std::uint32_t right = blob::hash_template(given.name, hashed, blank);
  if (hash != right) return invalid("the template's hash is " + std::to_string(right));
  return names;
}

std::uint64_t hash_key(uid_t uid, std::uint32_t hash) { return std::uint64_t{uid} << 32 | hash; }

std::string name_key(uid_t uid, std::string_view name) {
  return std::to_string(uid).append("/").append(name);
}

}  // namespace

Result<void> FeederTemplates::add(const Sender& sender, const wire::Template& given, Moment now) {
  if (!is_template_name(given.name)) {
    return invalid("not a template's name (at most 64 printable bytes, no '\"')");
  }
  auto names = names_of(given);
  if (!names) return names.error();
  const auto hash = blob::load<blob::Header>(given.blob.data()).tplhash;
  std::uint64_t bytes = kTemplateBytes + given.name.size();
  for (const std::string& each : names.value().vois) bytes += sizeof each + each.size();

  const MutexLock lock(mutex_);
  const uid_t uid = sender.uid;
  if (const int id = find_id(uid, hash); id >= 0) {
    const Entry& there = entries_[static_cast<std::size_t>(id)];
    if (there.names->name == given.name && there.names->vois == names.value().vois) {
      note_told(id, sender.pid);
      return {};
    }
    return Error{ErrorCode::kExists, "another template has this hash"};
  }
  if (entries_.size() >= kTemplatesMax || by_uid_[uid] >= kPerUidMax) {
    return Error{ErrorCode::kNoSpace, "too many templates; they go when the daemon ends"};
  }
  auto share = Reservation::create(ledger_, uid, {.bytes = bytes});
  if (!share) return share.error();
  const auto id = static_cast<int>(entries_.size());
  entries_.push_back({uid, hash, sender.pid,
                      std::make_shared<const blob::TemplateNames>(std::move(names.value())),
                      std::move(share.value())});
  by_uid_[uid] += 1;
  by_hash_.emplace(hash_key(uid, hash), id);
  note_told(id, sender.pid);
  last_change_ = now;
  return {};
}

// Behind all others of its name.
void FeederTemplates::note_told(int id, pid_t teller) {
  Entry& entry = entries_[static_cast<std::size_t>(id)];
  entry.teller = teller;
  Ids& ids = by_name_[name_key(entry.uid, entry.names->name)];
  if (!ids.empty() && ids.back() == id) return;
  std::erase(ids, id);
  ids.push_back(id);
  changes_ += 1;
}

int FeederTemplates::find_id(uid_t uid, std::uint32_t hash) const {
  const auto found = by_hash_.find(hash_key(uid, hash));
  return found == by_hash_.end() ? -1 : found->second;
}

const FeederTemplates::Ids& FeederTemplates::ids_of(uid_t uid, std::string_view name) const {
  static const Ids none;
  const auto found = by_name_.find(name_key(uid, name));
  return found == by_name_.end() ? none : found->second;
}

int FeederTemplates::find(const Sender& feeder, std::optional<std::string_view> name,
                          std::uint32_t hash) const {
  const MutexLock lock(mutex_);
  if (hash != 0) {
    const int id = find_id(feeder.uid, hash);
    const bool is_it =
        id >= 0 && (!name || entries_[static_cast<std::size_t>(id)].names->name == *name);
    return is_it ? id : -1;
  }
  if (!name) return -1;
  const Ids& ids = ids_of(feeder.uid, *name);
  for (std::size_t i = ids.size(); i > 0; --i) {
    if (entries_[static_cast<std::size_t>(ids[i - 1])].teller == feeder.pid) return ids[i - 1];
  }
  return ids.empty() ? -1 : ids.back();
}

std::string FeederTemplates::spec_of(const Entry& entry) const {
  return '"' + entry.names->name + "\":" + std::to_string(entry.hash);
}

std::string FeederTemplates::spec(int id) const {
  const MutexLock lock(mutex_);
  return spec_of(entries_[static_cast<std::size_t>(id)]);
}

std::uint32_t FeederTemplates::hash(int id) const {
  const MutexLock lock(mutex_);
  return entries_[static_cast<std::size_t>(id)].hash;
}

std::shared_ptr<const blob::TemplateNames> FeederTemplates::names(uid_t uid,
                                                                  std::uint32_t hash) const {
  const MutexLock lock(mutex_);
  const int id = find_id(uid, hash);
  return id < 0 ? nullptr : entries_[static_cast<std::size_t>(id)].names;
}

std::string FeederTemplates::list() const {
  const MutexLock lock(mutex_);
  boost::unordered_flat_set<std::string> listed;
  std::string text;
  for (const Entry& each : entries_) {
    const int last = ids_of(each.uid, each.names->name).back();
    if (&each != &entries_[static_cast<std::size_t>(last)]) continue;
    const auto [spec, is_new] = listed.insert(spec_of(each));
    if (is_new) text.append(text.empty() ? "" : ",").append(*spec);
  }
  return text;
}

std::uint64_t FeederTemplates::version() const {
  const MutexLock lock(mutex_);
  return changes_;
}

Moment FeederTemplates::last_change() const {
  const MutexLock lock(mutex_);
  return last_change_;
}

}  // namespace tally
