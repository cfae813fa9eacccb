#include "core/tree/feeder_templates.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <utility>

#include "core/base/text.h"
#include "core/blob/check.h"
#include "core/blob/layout.h"

namespace tally {
namespace {

// What an entry takes beside its names.
constexpr std::uint64_t kEntryBytes = 256;

Error invalid(std::string reason) { return {ErrorCode::kInvalid, std::move(reason)}; }

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

}  // namespace

Result<void> FeederTemplates::add(uid_t uid, const wire::Template& given, Moment now) {
  if (!is_template_name(given.name)) {
    return invalid("not a template's name (at most 64 printable bytes, no '\"')");
  }
  auto names = names_of(given);
  if (!names) return names.error();
  const auto hash = blob::load<blob::Header>(given.blob.data()).tplhash;
  std::uint64_t bytes = kEntryBytes + given.name.size();
  for (const std::string& each : names.value().vois) bytes += sizeof each + each.size();

  const MutexLock lock(mutex_);
  if (const Entry* const there = find_entry(uid, hash)) {
    if (there->names->name == given.name && there->names->vois == names.value().vois) return {};
    return Error{ErrorCode::kExists, "another template has this hash"};
  }
  if (entries_.size() >= kTemplatesMax || by_uid_[uid] >= kPerUidMax) {
    return Error{ErrorCode::kNoSpace, "too many templates; they go when the daemon ends"};
  }
  auto share = Reservation::create(ledger_, uid, {.bytes = bytes});
  if (!share) return share.error();
  entries_.push_back({uid, hash,
                      std::make_shared<const blob::TemplateNames>(std::move(names.value())),
                      std::move(share.value())});
  by_uid_[uid] += 1;
  last_change_ = now;
  return {};
}

const FeederTemplates::Entry* FeederTemplates::find_entry(uid_t uid, std::uint32_t hash) const {
  const auto is_it = [&](const Entry& each) { return each.uid == uid && each.hash == hash; };
  const auto found = std::ranges::find_if(entries_, is_it);
  return found == entries_.end() ? nullptr : &*found;
}

int FeederTemplates::find(uid_t uid, std::optional<std::string_view> name,
                          std::uint32_t hash) const {
  const MutexLock lock(mutex_);
  for (std::size_t i = entries_.size(); i > 0; --i) {
    const Entry& each = entries_[i - 1];
    if (each.uid == uid && (!name || each.names->name == *name) &&
        (hash == 0 || each.hash == hash)) {
      return static_cast<int>(i - 1);
    }
  }
  return -1;
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
  const Entry* const found = find_entry(uid, hash);
  return found ? found->names : nullptr;
}

std::string FeederTemplates::list() const {
  const MutexLock lock(mutex_);
  boost::unordered_flat_set<std::string> listed;
  std::string text;
  for (const Entry& each : entries_) {
    const auto [spec, is_new] = listed.insert(spec_of(each));
    if (is_new) text.append(text.empty() ? "" : ",").append(*spec);
  }
  return text;
}

std::uint64_t FeederTemplates::version() const {
  const MutexLock lock(mutex_);
  return entries_.size();
}

Moment FeederTemplates::last_change() const {
  const MutexLock lock(mutex_);
  return last_change_;
}

}  // namespace tally
