#include "core/stats3/branch/feeder_templates.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"
#include "core/stats3/blob/check.h"
#include "core/stats3/blob/layout.h"

namespace tallyfs::stats3 {
namespace {

// Bytes that are charged for an entry in addition to its names, and for each process that has
// registered it.
constexpr std::uint64_t kTemplateBytes = 256;
constexpr std::uint64_t kTellingBytes = 64;

// The names by their slots; a vacant slot has an empty name. kInvalid: the hash is not that of
// these names.
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

std::string spec_of(std::string_view name, std::uint32_t hash) {
  return '"' + std::string(name) + "\":" + std::to_string(hash);
}

Error no_room_for(const FeederTemplates::Saved& given, const std::string& why) {
  return {ErrorCode::kNoSpace, "template " + spec_of(given.names.name, given.hash) + ": " + why};
}

std::uint64_t bytes_of(const blob::TemplateNames& names) {
  std::uint64_t bytes = kTemplateBytes + names.name.size();
  for (const std::string& each : names.vois) bytes += sizeof each + each.size();
  return bytes;
}

Result<void> check_name(std::string_view name) {
  if (blob::is_template_name(name)) return {};
  std::string reason = "not a template's name (at most 64 printable bytes, no '\"'): ";
  append_escaped(reason, name, 2 * TPL_MAX_NAME_LEN, 0);
  return invalid(std::move(reason));
}

}  // namespace

bool FeederTemplates::Entry::is_told_by(const Processes& some) const {
  const bool is_smaller = tellers.size() < some.size();
  const Processes& other = is_smaller ? some : tellers;
  return std::ranges::any_of(is_smaller ? tellers : some,
                             [&](pid_t each) { return other.contains(each); });
}

Result<FeederTemplates::Told> FeederTemplates::add(uid_t uid, pid_t teller,
                                                   const wire::Template& given, Timestamp now) {
  if (const auto named = check_name(given.name); !named) return named.error();
  auto names = names_of(given);
  if (!names) return names.error();
  const auto hash = blob::load<blob::Header>(given.blob.data()).tplhash;
  const MutexLock lock(mutex_);
  return enter({uid, hash, std::move(names.value())}, teller, now);
}

Result<void> FeederTemplates::restore(Saved saved, Timestamp now) {
  if (const auto named = check_name(saved.names.name); !named) return named.error();
  const MutexLock lock(mutex_);
  if (const auto entered = enter(std::move(saved), 0, now); !entered) return entered.error();
  return {};
}

Result<FeederTemplates::Told> FeederTemplates::enter(Saved given, pid_t teller, Timestamp now) {
  if (const Entry* const there = find(given.uid, given.hash)) {
    if (there->names->name == given.names.name && there->names->vois == given.names.vois) {
      return note_told(by_hash_.at(hash_key(given.uid, given.hash)), teller);
    }
    return Error{ErrorCode::kExists, "another template has this hash"};
  }
  auto share = make_room(given);
  if (!share) return share.error();
  const Id id = next_id_++;
  entries_.emplace(
      id, Entry{.uid = given.uid,
                .hash = given.hash,
                .names = std::make_shared<const blob::TemplateNames>(std::move(given.names)),
                .share = std::move(share.value())});
  by_uid_[given.uid] += 1;
  by_hash_.emplace(hash_key(given.uid, given.hash), id);
  last_change_ = now;
  auto told = note_told(id, teller);
  if (!told) forget(id);
  return told;
}

std::vector<FeederTemplates::Saved> FeederTemplates::all() const {
  const MutexLock lock(mutex_);
  std::vector<const Entry*> entries;
  entries.reserve(entries_.size());
  for (const auto& [id, entry] : entries_) entries.push_back(&entry);
  std::ranges::sort(entries, {}, &Entry::told_at);
  std::vector<Saved> saved;
  saved.reserve(entries.size());
  for (const Entry* const each : entries) saved.push_back({each->uid, each->hash, *each->names});
  return saved;
}

std::vector<pid_t> FeederTemplates::tellers(uid_t uid, std::uint32_t hash) const {
  const MutexLock lock(mutex_);
  const Entry* const found = find(uid, hash);
  if (!found) return {};
  return {found->tellers.begin(), found->tellers.end()};
}

Result<void> FeederTemplates::restore_teller(uid_t uid, std::uint32_t hash, pid_t process) {
  const MutexLock lock(mutex_);
  const auto found = by_hash_.find(hash_key(uid, hash));
  if (found == by_hash_.end()) return Error{ErrorCode::kNotFound, "there is no such template"};
  if (const auto told = note_told(found->second, process); !told) return told.error();
  return {};
}

// Its share of the ledger.
Result<Reservation> FeederTemplates::make_room(const Saved& given) {
  const uid_t uid = given.uid;
  if (by_uid_[uid] >= kPerUidMax && !forget_one(uid)) {
    return no_room_for(given, "uid " + std::to_string(uid) + " has " + std::to_string(kPerUidMax) +
                                  " in use, which is all it may");
  }
  const std::uint64_t most = reserve_.limit_for(uid, kTemplatesMax);
  if (entries_.size() >= most && !forget_one(std::nullopt)) {
    return no_room_for(given, std::to_string(most) + " are in use, which is all it may");
  }
  for (;;) {
    auto share = Reservation::create(ledger_, uid, {.bytes = bytes_of(given.names)});
    if (share) return share;
    if (!forget_one(uid)) return no_room_for(given, share.error().reason);
  }
}

bool FeederTemplates::forget_one(std::optional<uid_t> uid) {
  const Entry* oldest = nullptr;
  Id its_id = 0;
  for (const auto& [id, each] : entries_) {
    if (each.in_use() || (uid && each.uid != *uid)) continue;
    if (oldest && each.told_at >= oldest->told_at) continue;
    oldest = &each;
    its_id = id;
  }
  if (oldest) forget(its_id);
  return oldest != nullptr;
}

void FeederTemplates::forget(Id id) {
  const auto found = entries_.find(id);
  const Entry& entry = found->second;
  by_hash_.erase(hash_key(entry.uid, entry.hash));
  const auto named = by_name_.find(name_key(entry.uid, entry.names->name));
  if (named != by_name_.end()) {
    std::erase(named->second, id);
    if (named->second.empty()) by_name_.erase(named);
  }
  if (--by_uid_[entry.uid] == 0) by_uid_.erase(entry.uid);
  entries_.erase(found);
  changes_ += 1;
}

// Behind all others of its name.
Result<FeederTemplates::Told> FeederTemplates::note_told(Id id, pid_t teller) {
  Entry& entry = entries_.at(id);
  Ids& ids = by_name_[name_key(entry.uid, entry.names->name)];
  const bool is_last = !ids.empty() && ids.back() == id;
  if (is_last && (teller == 0 || entry.tellers.contains(teller))) return Told::kAgain;
  if (teller != 0 && !entry.tellers.contains(teller)) {
    if (auto grown = entry.share.grow({.bytes = kTellingBytes}); !grown) return grown.error();
    entry.tellers.insert(teller);
    by_teller_[teller].push_back(id);
  }
  std::erase(ids, id);
  ids.push_back(id);
  entry.told_at = ++changes_;
  if (teller != 0) drop_earlier(teller, id, ids);
  return Told::kNew;
}

// A process has one of each name.
void FeederTemplates::drop_earlier(pid_t teller, Id id, const Ids& of_its_name) {
  Ids& told = by_teller_[teller];
  for (const Id each : of_its_name) {
    if (each == id || !entries_.at(each).tellers.contains(teller)) continue;
    untell(each, teller);
    std::erase(told, each);
  }
}

void FeederTemplates::untell(Id id, pid_t teller) {
  Entry& entry = entries_.at(id);
  entry.tellers.erase(teller);
  entry.share.shrink({.bytes = kTellingBytes});
}

void FeederTemplates::process_ended(pid_t process) {
  const MutexLock lock(mutex_);
  const auto found = by_teller_.find(process);
  if (found == by_teller_.end()) return;
  for (const Id id : found->second) untell(id, process);
  by_teller_.erase(found);
  changes_ += 1;
}

const FeederTemplates::Entry* FeederTemplates::find(uid_t uid, std::uint32_t hash) const {
  const auto found = by_hash_.find(hash_key(uid, hash));
  return found == by_hash_.end() ? nullptr : &entries_.at(found->second);
}

const FeederTemplates::Ids& FeederTemplates::ids_of(uid_t uid, std::string_view name) const {
  static const Ids none;
  const auto found = by_name_.find(name_key(uid, name));
  return found == by_name_.end() ? none : found->second;
}

std::optional<std::string> FeederTemplates::name(uid_t uid, std::uint32_t hash) const {
  const MutexLock lock(mutex_);
  const Entry* const found = find(uid, hash);
  return found ? std::optional(found->names->name) : std::nullopt;
}

std::vector<std::uint32_t> FeederTemplates::hashes(uid_t uid, std::string_view name,
                                                   const Processes& tellers) const {
  const MutexLock lock(mutex_);
  std::vector<std::uint32_t> found;
  for (const Id id : ids_of(uid, name)) {
    const Entry& entry = entries_.at(id);
    if (entry.is_told_by(tellers)) found.push_back(entry.hash);
  }
  return found;
}

std::optional<std::uint32_t> FeederTemplates::last_hash(uid_t uid, std::string_view name) const {
  const MutexLock lock(mutex_);
  const Ids& ids = ids_of(uid, name);
  return ids.empty() ? std::nullopt : std::optional(entries_.at(ids.back()).hash);
}

bool FeederTemplates::is_told_by(uid_t uid, std::uint32_t hash, const Processes& tellers) const {
  const MutexLock lock(mutex_);
  const Entry* const found = find(uid, hash);
  return found && found->is_told_by(tellers);
}

bool FeederTemplates::has_told(pid_t process) const {
  const MutexLock lock(mutex_);
  return by_teller_.contains(process);
}

std::shared_ptr<const blob::TemplateNames> FeederTemplates::names(uid_t uid,
                                                                  std::uint32_t hash) const {
  const MutexLock lock(mutex_);
  const Entry* const found = find(uid, hash);
  return found ? found->names : nullptr;
}

// The last of a name of which none is in use.
bool FeederTemplates::stands_for_its_name(const Entry& entry, Id id) const {
  const Ids& ids = ids_of(entry.uid, entry.names->name);
  const auto in_use = [this](Id each) REQUIRES(mutex_) { return entries_.at(each).in_use(); };
  return ids.back() == id && std::ranges::none_of(ids, in_use);
}

std::string FeederTemplates::list() const {
  const MutexLock lock(mutex_);
  boost::unordered_flat_set<std::string> listed;
  std::string text;
  for (const auto& [id, each] : entries_) {
    if (!each.in_use() && !stands_for_its_name(each, id)) continue;
    const auto [spec, is_new] = listed.insert(spec_of(each.names->name, each.hash));
    if (is_new) text.append(text.empty() ? "" : ",").append(*spec);
  }
  return text;
}

std::uint64_t FeederTemplates::version() const {
  const MutexLock lock(mutex_);
  return changes_;
}

Timestamp FeederTemplates::last_change() const {
  const MutexLock lock(mutex_);
  return last_change_;
}

}  // namespace tallyfs::stats3
