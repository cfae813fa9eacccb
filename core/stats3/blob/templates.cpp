#include "core/stats3/blob/templates.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include "core/base/made_once.h"
#include "core/base/text.h"
#include "core/stats3/blob/digest.h"
#include "core/stats3/blob/histogram.h"
#include "core/stats3/blob/number.h"

namespace tallyfs::stats3::blob {

struct Templates::Template {
  explicit Template(std::string_view called) : name(called), bytes(sizeof(Header)) {
    Header& header = header_of(blob());
    header = {};
    header.abi = STATS_ABI_V1;
    header.endian = SB_LE;
    header.maxsz = header.cursz = header.stats_off = header.statsdata_off = sizeof(Header);
    publish();
  }

  statsblob* blob() { return reinterpret_cast<statsblob*>(bytes.data()); }
  const statsblob* blob() const { return reinterpret_cast<const statsblob*>(bytes.data()); }

  // Brings the hash and the members that C sees up to date.
  void publish() {
    Header& header = header_of(blob());
    header.tplhash = 0;
    std::vector<std::string_view> given;
    for (std::size_t i = 0; i < voi_names.size(); ++i) {
      if (vois_of(blob())[i].id >= 0) given.push_back(voi_names[i]);
    }
    header.tplhash = hash_template(
        name, given, {reinterpret_cast<const char*>(bytes.data()), std::size_t{header.cursz}});
    metas.assign(voi_names.size(), {});
    for (std::size_t i = 0; i < voi_names.size(); ++i) {
      if (vois_of(blob())[i].id >= 0) metas[i] = {voi_names[i].data(), nullptr};
    }
    meta = {name.data(), header.tplhash, metas.data()};
    shown = {&meta, blob()};
  }

  std::string name;
  std::vector<std::string> voi_names;
  std::vector<std::uint8_t> bytes;
  std::vector<voi_meta> metas;
  metablob meta{};
  statsblob_tpl shown{};
};

namespace {

// The initial data of one statistic of a new VOI.
struct Part {
  std::uint8_t stype, dtype;
  std::vector<std::uint8_t> data;
};

bool fits(unsigned voi_dtype, const Part& part) {
  switch (part.stype) {
    case VS_STYPE_SUM:
    case VS_STYPE_MAX:
    case VS_STYPE_MIN:
      return part.dtype == voi_dtype && part.data.size() == number_bytes(voi_dtype);
    case VS_STYPE_HIST:
      return is_hist_dtype(part.dtype) && bucket_count(part.dtype, part.data.size()) != 0;
    case VS_STYPE_TDGST:
      return is_tdgst_dtype(part.dtype) && centroid_room(part.dtype, part.data.size()) >= 2 &&
             read_digest(part.data.data(), part.dtype, centroid_room(part.dtype, part.data.size()),
                         sign_of(voi_dtype))
                 .sound;
  }
  return false;
}

// Data that the program, or its helper, has made.
int take_part(unsigned voi_dtype, const voistatspec& spec, Part& part) {
  if (!spec.iv || spec.vsdsz == 0) return EINVAL;
  if (spec.vsdsz > kBlobBytesMax) return EFBIG;
  part.dtype = spec.vs_dtype;
  const auto* const iv = reinterpret_cast<const std::uint8_t*>(spec.iv);
  part.data.assign(iv, iv + spec.vsdsz);
  return fits(voi_dtype, part) ? 0 : EINVAL;
}

// Ours do not go through the C helpers, which would allocate for it.
int make_part(unsigned voi_dtype, const voistatspec& given, Part& part) {
  if (given.stype <= VS_STYPE_VOISTATE || given.stype >= VS_NUM_STYPES) return EINVAL;
  part.stype = given.stype;
  if (given.iv) return take_part(voi_dtype, given, part);
  if (given.hlpr == &stats_vss_hist_hlpr) {
    if (part.stype != VS_STYPE_HIST || !given.hlprinfo) return EINVAL;
    const auto& info = *reinterpret_cast<const vss_hist_hlpr_info*>(given.hlprinfo);
    part.dtype = static_cast<std::uint8_t>(info.hist_dtype);
    return build_histogram(voi_dtype, info, part.data);
  }
  if (given.hlpr == &stats_vss_tdgst_hlpr) {
    if (part.stype != VS_STYPE_TDGST || !given.hlprinfo) return EINVAL;
    const auto& info = *reinterpret_cast<const vss_tdgst_hlpr_info*>(given.hlprinfo);
    part.dtype = static_cast<std::uint8_t>(info.tdgst_dtype);
    return build_digest(voi_dtype, info, part.data);
  }
  if (given.hlpr == &stats_vss_numeric_hlpr ||
      (!given.hlpr && !given.iv && part.stype <= VS_STYPE_MIN)) {
    if (part.stype > VS_STYPE_MIN) return EINVAL;
    part.dtype = static_cast<std::uint8_t>(voi_dtype);
    part.data = initial_number(voi_dtype, part.stype,
                               reinterpret_cast<const vss_numeric_hlpr_info*>(given.hlprinfo));
    return 0;
  }
  voistatspec spec = given;
  if (!spec.hlpr) return EINVAL;
  if (const int error = spec.hlpr(static_cast<vsd_dtype>(voi_dtype), &spec, spec.hlprinfo))
    return error;
  return take_part(voi_dtype, spec, part);
}

int make_parts(unsigned voi_dtype, std::uint32_t count, const voistatspec* specs,
               std::vector<Part>& parts) {
  unsigned seen = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (const int error = make_part(voi_dtype, specs[i], parts[i])) return error;
    if (seen & 1u << parts[i].stype) return EINVAL;
    seen |= 1u << parts[i].stype;
  }
  return 0;
}

template <typename T>
void put(std::vector<std::uint8_t>& to, std::size_t at, const T& value) {
  store(to.data() + at, value);
}

// Where the regions of a blob with a VOI more begin: its slots go before the other VOIs' slots, its
// data before theirs.
struct Grown {
  std::size_t old_slots, slots, stats_off, data_off, size;
  std::size_t stats_shift, data_shift;  // of what was there
};

Grown measure(const Header& old_header, const Voi& added, const std::vector<Part>& parts) {
  Grown grown{};
  grown.old_slots = static_cast<std::size_t>(voi_slots(old_header));
  grown.slots = std::max(grown.old_slots, static_cast<std::size_t>(added.id) + 1);
  const std::size_t stats_added = sizeof(Stat) * static_cast<std::size_t>(added.stat_max + 1);
  std::size_t data_added = added.flags & kVoiRelative ? sizeof(voistatdata_numeric) : 0;
  for (const Part& part : parts) data_added += part.data.size();
  grown.stats_off = sizeof(Header) + sizeof(Voi) * grown.slots;
  grown.data_off = grown.stats_off + stats_added + old_header.statsdata_off - old_header.stats_off;
  grown.size = grown.data_off + data_added + old_header.cursz - old_header.statsdata_off;
  grown.stats_shift = grown.stats_off + stats_added - old_header.stats_off;
  grown.data_shift = grown.data_off + data_added - old_header.statsdata_off;
  return grown;
}

void move_old(const std::vector<std::uint8_t>& old_bytes, const Grown& grown,
              std::vector<std::uint8_t>& bytes) {
  const auto* const old_blob = reinterpret_cast<const statsblob*>(old_bytes.data());
  const Header& old_header = header_of(old_blob);
  for (std::size_t i = 0; i < grown.slots; ++i) {
    Voi voi = i < grown.old_slots ? vois_of(old_blob)[i] : kVacantVoi;
    if (voi.id >= 0) voi.stats_off = static_cast<std::uint16_t>(voi.stats_off + grown.stats_shift);
    put(bytes, sizeof(Header) + sizeof(Voi) * i, voi);
  }
  for (std::size_t at = old_header.stats_off; at < old_header.statsdata_off; at += sizeof(Stat)) {
    auto stat = load<Stat>(old_bytes.data() + at);
    if (stat.stype >= 0)
      stat.data_off = static_cast<std::uint16_t>(stat.data_off + grown.data_shift);
    put(bytes, at + grown.stats_shift, stat);
  }
  std::copy(
      old_bytes.begin() + old_header.statsdata_off, old_bytes.end(),
      bytes.begin() + old_header.statsdata_off + static_cast<std::ptrdiff_t>(grown.data_shift));
}

void put_added(Voi voi, const std::vector<Part>& parts, const Grown& grown,
               std::vector<std::uint8_t>& bytes) {
  voi.stats_off = static_cast<std::uint16_t>(grown.stats_off);
  put(bytes, sizeof(Header) + sizeof(Voi) * static_cast<std::size_t>(voi.id), voi);
  for (std::size_t i = 0; i <= static_cast<std::size_t>(voi.stat_max); ++i) {
    put(bytes, grown.stats_off + sizeof(Stat) * i, kVacantStat);
  }
  std::size_t at = grown.data_off;
  const auto place = [&](std::uint8_t stype, std::uint8_t dtype, std::size_t length) {
    put(bytes, grown.stats_off + sizeof(Stat) * stype,
        Stat{static_cast<std::int8_t>(stype), dtype, static_cast<std::uint16_t>(at),
             static_cast<std::uint16_t>(length), 0, 0});
    at += length;
  };
  if (voi.flags & kVoiRelative)
    place(VS_STYPE_VOISTATE, VSD_DTYPE_VOISTATE, sizeof(voistatdata_numeric));
  for (const Part& part : parts) {
    std::copy(part.data.begin(), part.data.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
    place(part.stype, part.dtype, part.data.size());
  }
}

int grow(const std::vector<std::uint8_t>& old_bytes, const Voi& added,
         const std::vector<Part>& parts, std::vector<std::uint8_t>& bytes) {
  Header header = header_of(reinterpret_cast<const statsblob*>(old_bytes.data()));
  const Grown grown = measure(header, added, parts);
  if (grown.size > kBlobBytesMax) return EFBIG;
  bytes.assign(grown.size, 0);
  header.maxsz = header.cursz = static_cast<std::uint16_t>(grown.size);
  header.stats_off = static_cast<std::uint16_t>(grown.stats_off);
  header.statsdata_off = static_cast<std::uint16_t>(grown.data_off);
  put(bytes, 0, header);
  move_old(old_bytes, grown, bytes);
  put_added(added, parts, grown, bytes);
  return 0;
}

}  // namespace

std::vector<std::uint8_t> initial_number(unsigned voi_dtype, int stype,
                                         const vss_numeric_hlpr_info* info) {
  return with_type(voi_dtype, [&](auto zero) {
    const auto number = initial<decltype(zero)>(stype, info ? tally_q_control(info->prec) : 0);
    std::vector<std::uint8_t> bytes(sizeof number);
    store(bytes.data(), number);
    return bytes;
  });
}

Templates::Templates() = default;
Templates::~Templates() = default;

namespace {
std::atomic<Templates*> g_used{nullptr};
constinit MadeOnce<Templates> g_templates;
}  // namespace

// Never destroyed: blobs may be looked at while the process ends.
Templates& Templates::of_process() {
  Templates* const used = g_used.load(std::memory_order_relaxed);
  return used ? *used : g_templates.get_or([] { return std::make_unique<Templates>(); });
}

void Templates::use(Templates* instead) { g_used = instead; }

const Templates::Template* Templates::slot(std::int64_t id) const {
  if (id < 0 || static_cast<std::size_t>(id) >= templates_.size()) return nullptr;
  return templates_[static_cast<std::size_t>(id)].get();
}

int Templates::add(const char* name) {
  if (!name) return -ENOMEM;
  const std::string_view wanted(name, ::strnlen(name, TPL_MAX_NAME_LEN + 1));
  if (!is_template_name(wanted)) return -EINVAL;
  const MutexLock lock(mutex_);
  if (std::ranges::any_of(templates_, [&](const auto& each) { return each->name == wanted; }))
    return -EEXIST;
  if (templates_.size() == kTemplatesMax) return -ENOMEM;
  templates_.push_back(std::make_unique<Template>(wanted));
  changes_ += 1;
  return static_cast<int>(templates_.size() - 1);
}

int Templates::find(const char* name, std::uint32_t hash) const {
  if (!name && hash == 0) return -ESRCH;
  const MutexLock lock(mutex_);
  for (std::size_t i = 0; i < templates_.size(); ++i) {
    const Template& each = *templates_[i];
    if ((!name || each.name == name) && (hash == 0 || each.meta.tplhash == hash))
      return static_cast<int>(i);
  }
  return -ESRCH;
}

statsblob_tpl* Templates::get(std::int64_t id) const {
  const MutexLock lock(mutex_);
  const Template* const found = slot(id);
  return found ? const_cast<statsblob_tpl*>(&found->shown) : nullptr;
}

int Templates::add_voi(std::int64_t id, std::int32_t voi_id, const char* voi_name,
                       unsigned voi_dtype, std::uint32_t count, const voistatspec* specs,
                       std::uint32_t flags) {
  if (voi_id < 0 || !voi_name || !is_voi_dtype(voi_dtype) || count == 0 || count >= VS_NUM_STYPES ||
      !specs || (flags & ~SB_VOI_RELUPDATE) != 0) {
    return EINVAL;
  }
  const std::string_view named(voi_name, ::strnlen(voi_name, kVoiNameBytesMax + 1));
  if (named.size() > kVoiNameBytesMax) return EINVAL;
  if (static_cast<std::size_t>(voi_id) >= kBlobBytesMax / sizeof(Voi))
    return get(id) ? EFBIG : EINVAL;
  // Outside of the lock: helpers are the caller's.
  std::vector<Part> parts(count);
  if (const int error = make_parts(voi_dtype, count, specs, parts)) return error;

  const MutexLock lock(mutex_);
  auto* const found = const_cast<Template*>(slot(id));
  if (!found) return EINVAL;
  if (find_voi(found->blob(), voi_id)) return EOPNOTSUPP;
  Voi voi{static_cast<std::int16_t>(voi_id), static_cast<std::uint8_t>(voi_dtype), 0, 0,
          static_cast<std::uint16_t>(flags & SB_VOI_RELUPDATE ? kVoiRelative : 0)};
  for (const Part& part : parts)
    voi.stat_max = std::max(voi.stat_max, static_cast<std::int8_t>(part.stype));
  std::vector<std::uint8_t> bytes;
  if (const int error = grow(found->bytes, voi, parts, bytes)) return error;
  found->bytes = std::move(bytes);
  found->voi_names.resize(static_cast<std::size_t>(voi_slots(header_of(found->blob()))));
  found->voi_names[static_cast<std::size_t>(voi_id)] = named;
  found->publish();
  changes_ += 1;
  return 0;
}

std::optional<TemplateMessage> Templates::tell(std::int64_t id) const {
  const MutexLock lock(mutex_);
  const Template* const found = slot(id);
  if (!found) return std::nullopt;
  return TemplateMessage{found->meta.tplhash, found->name, found->voi_names, found->bytes};
}

std::uint32_t Templates::hash(std::int64_t id) const {
  const MutexLock lock(mutex_);
  const Template* const found = slot(id);
  return found ? found->meta.tplhash : 0;
}

std::size_t Templates::size() const {
  const MutexLock lock(mutex_);
  return templates_.size();
}

std::uint64_t Templates::changes() const {
  const MutexLock lock(mutex_);
  return changes_;
}

std::optional<std::string> Templates::name(std::int64_t id) const {
  const MutexLock lock(mutex_);
  const Template* const found = slot(id);
  return found ? std::optional(found->name) : std::nullopt;
}

namespace {
void append_spec(std::string& out, std::string_view name, std::uint32_t hash) {
  out += '"';
  out += name;
  out += "\":";
  append_number(out, std::uint64_t{hash});
}
}  // namespace

std::optional<std::string> Templates::spec(std::int64_t id) const {
  const MutexLock lock(mutex_);
  const Template* const found = slot(id);
  if (!found) return std::nullopt;
  std::string out;
  append_spec(out, found->name, found->meta.tplhash);
  return out;
}

std::string Templates::list() const {
  const MutexLock lock(mutex_);
  std::string out;
  for (const auto& each : templates_) {
    if (!out.empty()) out += ',';
    append_spec(out, each->name, each->meta.tplhash);
  }
  return out;
}

std::optional<TemplateNames> Templates::names_by_hash(std::uint32_t hash) const {
  const int id = find(nullptr, hash);
  const MutexLock lock(mutex_);
  const Template* const found = slot(id);
  if (!found) return std::nullopt;
  return TemplateNames{found->name, found->voi_names};
}

std::vector<std::uint8_t> Templates::blob(std::int64_t id) const {
  const MutexLock lock(mutex_);
  const Template* const found = slot(id);
  return found ? found->bytes : std::vector<std::uint8_t>{};
}

int Templates::copy_blob(std::int64_t id, statsblob* to, std::size_t bytes) const {
  const MutexLock lock(mutex_);
  const Template* const found = slot(id);
  if (!found) return EINVAL;
  if (found->bytes.size() > bytes) return EOVERFLOW;
  std::memcpy(to, found->bytes.data(), found->bytes.size());
  return 0;
}

}  // namespace tallyfs::stats3::blob
