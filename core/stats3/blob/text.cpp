// Longer than most: both formats of every type stand side by side, so that a change of one is made
// in sight of the other.
#include "core/stats3/blob/text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <concepts>
#include <cstdio>
#include <new>
#include <set>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/stats3/blob/digest.h"
#include "core/stats3/blob/histogram.h"
#include "core/stats3/blob/number.h"

namespace tallyfs::stats3::blob {
namespace {

constexpr const char* kStypes[] = {"VOISTATE", "SUM", "MAX", "MIN", "HIST", "TDGST"};
constexpr const char* kDtypes[] = {
    "VOISTATE", "INT_S32",  "INT_U32",  "INT_S64",      "INT_U64",     "INT_SLONG", "INT_ULONG",
    "Q_S32",    "Q_U32",    "Q_S64",    "Q_U64",        "CRHIST32",    "DRHIST32",  "DVHIST32",
    "CRHIST64", "DRHIST64", "DVHIST64", "TDGSTCLUST32", "TDGSTCLUST64"};

// Collects the text of one format. A histogram is hundreds of numbers: they are printed in place,
// not through a string each.
class Text {
 public:
  explicit Text(sb_str_fmt format, Audience audience = Audience::kProgram)
      : is_json_(format == SB_STRFMT_JSON), audience_(audience) {
    out_.reserve(1024);
  }
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;

  bool is_json() const { return is_json_; }
  // Empty buckets at the ends of a histogram are left out.
  bool is_short() const { return !is_json_ && audience_ == Audience::kTree; }
  JsonWriter& json() { return json_; }
  std::string take() { return std::move(out_); }

  // Freeform pieces.
  Text& operator<<(std::string_view piece) {
    out_.append(piece);
    return *this;
  }
  template <std::integral Integer>
  Text& operator<<(Integer number) {
    if constexpr (std::signed_integral<Integer>) {
      append_number(out_, static_cast<std::int64_t>(number));
    } else {
      append_number(out_, static_cast<std::uint64_t>(number));
    }
    return *this;
  }
  Text& operator<<(tally_q number) {
    append(out_, number);
    return *this;
  }
  template <typename Bits>
  Text& operator<<(QNumber<Bits> number) {
    return *this << number.q();
  }
  Text& hex4(unsigned number) {
    char piece[8];
    std::snprintf(piece, sizeof piece, "0x%04x", number & 0xFFFFu);
    return *this << std::string_view(piece);
  }
  // In quotes, and so that it forges no line.
  Text& name(std::string_view name) {
    out_.push_back('"');
    while (!name.empty()) {
      char32_t point = 0;
      const std::size_t length = utf8_length(name, point);
      append_character(name.substr(0, std::max<std::size_t>(length, 1)), length);
      name.remove_prefix(std::max<std::size_t>(length, 1));
    }
    out_.push_back('"');
    return *this;
  }

  // A number, in either format.
  template <std::integral Integer>
  Text& number(Integer number) {
    if (!is_json_) return *this << number;
    json_.number(number);
    return *this;
  }
  Text& number(tally_q number) {
    if (!is_json_) return *this << number;
    std::string digits;
    append(digits, number);
    json_.number_text(digits);
    return *this;
  }
  template <typename Bits>
  Text& number(QNumber<Bits> number) {
    return this->number(number.q());
  }
  // `, key=number`, or a key and its number in JSON.
  template <typename T>
  Text& field(std::string_view key, T number) {
    if (!is_json_) return *this << ", " << key << "=" << number;
    json_.key(key);
    return this->number(number);
  }

 private:
  // A character of a name, or a byte that is none (length 0).
  void append_character(std::string_view character, std::size_t length) {
    const auto byte = static_cast<unsigned char>(character.front());
    if (length != 0 && byte >= 0x20 && byte != 0x7F) {
      out_.append(character);
      return;
    }
    char code[8];
    std::snprintf(code, sizeof code, "\\x%02x", unsigned{byte});
    out_.append(code);
  }

  const bool is_json_;
  const Audience audience_;
  std::string out_;
  JsonWriter json_{out_};
};

constexpr std::string_view kInner = "\n\t\t\t\t";

// An object of a few numbers in JSON, put together in place: a histogram has hundreds of them.
class Row {
 public:
  template <typename T, std::size_t Size>
  Row& field(const char (&key)[Size], T number) {
    static_assert(Size <= kKeyMax + 1);
    const bool is_first = end_ == bytes_.data();
    *end_++ = is_first ? '{' : ',';
    *end_++ = '"';
    end_ = std::copy_n(key, Size - 1, end_);
    *end_++ = '"';
    *end_++ = ':';
    put(number);
    return *this;
  }
  std::string_view end() {
    *end_++ = '}';
    return {bytes_.data(), end_};
  }

 private:
  static constexpr std::size_t kFieldsMax = 4, kKeyMax = 3, kNumberMax = 136;

  template <std::integral Integer>
  void put(Integer number) {
    end_ = std::to_chars(end_, end_ + kNumberMax, number).ptr;
  }
  void put(tally_q number) { end_ = tally_q_print(number, -1, 10, end_, kNumberMax); }
  template <typename Bits>
  void put(QNumber<Bits> number) {
    put(number.q());
  }

  std::array<char, kFieldsMax*(kKeyMax + 4 + kNumberMax) + 1> bytes_;
  char* end_ = bytes_.data();
};

template <typename T>
void write_buckets(Text& text, const std::uint8_t* data, unsigned dtype, std::size_t count,
                   Detail detail) {
  const std::size_t size = bucket_bytes(dtype);
  const bool continuous = dtype == VSD_DTYPE_CRHIST32 || dtype == VSD_DTYPE_CRHIST64;
  const bool wide = has_wide_counters(dtype), objdump = detail == Detail::kObjdump;
  const auto counter = [wide](const std::uint8_t* at) {
    return wide ? load<std::uint64_t>(at) : std::uint64_t{load<std::uint32_t>(at)};
  };
  if (text.is_json()) {
    text.field("nbkts", count).field("oob", counter(data)).json().key("bkts").begin_array();
  } else {
    text << "nbkts=" << count << ", oob=" << counter(data);
  }
  const auto hits_of = [&](std::size_t i) {
    return counter(data + kHistHeadBytes + size * (i + 1) - 8);
  };
  std::size_t first = 0, end = count;
  while (text.is_short() && first < end && hits_of(first) == 0) ++first;
  while (text.is_short() && first < end && hits_of(end - 1) == 0) --end;
  for (std::size_t i = first; i < end; ++i) {
    const std::uint8_t* const bucket = data + kHistHeadBytes + size * i;
    const T lb = load<T>(bucket);
    const T ub = has_two_bounds(dtype) ? load<T>(bucket + 8)
                 : !continuous         ? lb
                 : i + 1 < count       ? load<T>(bucket + size)
                                       : highest<T>();
    const std::uint64_t hits = hits_of(i);
    if (text.is_json()) {
      Row row;
      if (objdump) row.field("bkt", i);
      text.json().value_text(row.field("lb", lb).field("ub", ub).field("cnt", hits).end());
    } else {
      text << kInner;
      if (objdump) text << "bkt[" << i << "].";
      text << "{lb=" << lb << ",ub=" << ub << ",cnt=" << hits << "}";
    }
  }
  if (text.is_json()) text.json().end_array();
}

void write_digest(Text& text, const DigestContent& digest, Detail detail) {
  const bool objdump = detail == Detail::kObjdump;
  if (text.is_json()) {
    text.field("smplcnt", digest.samples).field("compcnt", digest.compressions);
    text.field("maxctds", digest.room).field("nctds", digest.centroids.size());
    text.json().key("ctds").begin_array();
  } else {
    text << "smplcnt=" << digest.samples << ", compcnt=" << digest.compressions
         << ", maxctds=" << digest.room << ", nctds=" << digest.centroids.size();
  }
  for (const Centroid& each : objdump ? digest.places : digest.centroids) {
    if (text.is_json()) {
      Row row;
      if (objdump) row.field("ctd", each.index);
      text.json().value_text(row.field("mu", each.mean).field("cnt", each.count).end());
    } else {
      text << kInner;
      if (objdump) text << "ctd[" << each.index << "].";
      text << "{mu=" << each.mean << ",cnt=" << each.count << "}";
    }
  }
  if (text.is_json()) text.json().end_array();
}

// False, and nothing written, for a type or size that there is not.
bool write_data(Text& text, const std::uint8_t* data, unsigned voi_dtype, unsigned dtype,
                std::size_t bytes, Detail detail) {
  if (!is_voi_dtype(voi_dtype)) return false;
  if (is_voi_dtype(dtype)) {
    with_type(dtype, [&](auto zero) { text.number(load<decltype(zero)>(data)); });
    return true;
  }
  if (dtype == VSD_DTYPE_VOISTATE) {
    with_type(voi_dtype, [&](auto zero) {
      text.is_json() ? void(text.json().key("prev")) : void(text << "prev=");
      text.number(load<decltype(zero)>(data));
    });
    return true;
  }
  if (is_hist_dtype(dtype)) {
    const std::size_t count = bucket_count(dtype, bytes);
    if (count == 0) return false;
    with_type(voi_dtype,
              [&](auto zero) { write_buckets<decltype(zero)>(text, data, dtype, count, detail); });
    return true;
  }
  if (!is_tdgst_dtype(dtype) || centroid_room(dtype, bytes) == 0) return false;
  write_digest(text, read_digest(data, dtype, centroid_room(dtype, bytes), sign_of(voi_dtype)),
               detail);
  return true;
}

// One blob, slot by slot.
class Renderer {
 public:
  Renderer(const statsblob* sb, const TextOptions& options)
      : sb_(sb),
        header_(header_of(sb)),
        options_(options),
        text_(options.format, options.audience) {
    if (options.names && options.audience == Audience::kTree) make_keys();
  }

  std::string run() {
    text_.is_json() ? begin_json() : begin_freeform();
    for (int i = 0; i < voi_slots(header_); ++i) {
      const Voi& voi = vois_of(sb_)[i];
      if (voi.id < 0 && !dumps()) continue;
      text_.is_json() ? json_voi(i, voi) : freeform_voi(i, voi);
    }
    if (text_.is_json()) json().end_object().end_object();
    return text_.take();
  }

 private:
  std::string_view voi_name(int slot) const {
    if (!options_.names || static_cast<std::size_t>(slot) >= options_.names->vois.size()) return {};
    return options_.names->vois[static_cast<std::size_t>(slot)];
  }
  // A key for each VOI, none twice.
  void make_keys() {
    std::set<std::string> used;
    for (const std::string& name : options_.names->vois) {
      std::string key = name;
      for (int i = 2; !name.empty() && !used.insert(key).second; ++i) {
        key = name + '#' + std::to_string(i);
      }
      keys_.push_back(std::move(key));
    }
  }
  std::string_view voi_key(int slot) const {
    const auto place = static_cast<std::size_t>(slot);
    return place < keys_.size() ? std::string_view(keys_[place]) : voi_name(slot);
  }
  bool dumps() const { return options_.detail == Detail::kObjdump; }
  // A number has a key here, among others.
  void stat_data(const Voi& voi, const Stat& stat) {
    if (text_.is_json() && is_voi_dtype(stat.dtype)) json().key("val");
    write_data(text_, bytes_of(sb_) + stat.data_off, voi.dtype, stat.dtype, stat.dsz,
               options_.detail);
  }
  bool shown(const Stat& stat) const { return dumps() || stat.stype > VS_STYPE_VOISTATE; }

  void header_fields() {
    text_.field("endian", unsigned{header_.endian}).field("maxsz", unsigned{header_.maxsz});
    text_.field("cursz", unsigned{header_.cursz}).field("created", std::int64_t{header_.created});
    text_.field("lastrst", std::int64_t{header_.lastrst});
    flags_field(header_.flags);
    text_.field("stats_off", unsigned{header_.stats_off})
        .field("statsdata_off", unsigned{header_.statsdata_off});
  }
  void flags_field(unsigned flags) {
    if (text_.is_json()) {
      text_.field("flags", flags);
    } else {
      (text_ << ", flags=").hex4(flags);
    }
  }

  void begin_freeform() {
    text_ << "struct statsblobv1@" << options_.address;
    if (dumps()) {
      text_.field("abi", unsigned{header_.abi});
      header_fields();
    }
    text_.field("tplhash", std::uint32_t{header_.tplhash});
  }

  void freeform_voi(int slot, const Voi& voi) {
    text_ << "\n\tvois[" << slot << "]: id=" << int{voi.id};
    if (voi.id < 0) return;
    (text_ << ", name=").name(voi_name(slot));
    if (dumps()) {
      flags_field(voi.flags);
      text_ << ", dtype=" << name_of_dtype(voi.dtype);
      text_.field("voistatmaxid", int{voi.stat_max});
      text_.field("stats_off", unsigned{voi.stats_off});
    }
    for (int i = 0; i <= voi.stat_max; ++i) {
      const Stat& stat = stats_of(sb_, voi)[i];
      if (shown(stat)) freeform_stat(slot, i, voi, stat);
    }
  }

  void freeform_stat(int slot, int i, const Voi& voi, const Stat& stat) {
    text_ << "\n\t\tvois[" << slot << "]stat[" << i << "]: stype=";
    if (stat.stype < 0) {
      text_ << "-1";
      return;
    }
    text_ << name_of_stype(stat.stype);
    text_.field("errs", unsigned{stat.errs});
    if (dumps()) {
      flags_field(stat.flags);
      text_ << ", dtype=" << name_of_dtype(stat.dtype);
      text_.field("dsz", unsigned{stat.dsz});
      text_.field("data_off", unsigned{stat.data_off});
    }
    text_ << "\n\t\t\tvoistatdata: ";
    stat_data(voi, stat);
  }

  JsonWriter& json() { return text_.json(); }

  void begin_json() {
    json().begin_object();
    if (dumps()) {
      text_.field("abi", unsigned{header_.abi});
      header_fields();
    }
    json().key("tplname");
    json_name(options_.names ? std::optional<std::string_view>(options_.names->name)
                             : std::nullopt);
    text_.field("tplhash", std::uint32_t{header_.tplhash}).json().key("vois").begin_object();
  }
  void json_name(std::optional<std::string_view> name) {
    name ? json().string(*name) : json().null();
  }
  // A name where there are names, else the slot.
  void json_key(std::string_view name, int slot) {
    const bool is_named = options_.names && !dumps();
    is_named ? json().key(name) : json().key("[" + std::to_string(slot) + "]");
  }

  void json_voi(int slot, const Voi& voi) {
    json_key(voi_key(slot), slot);
    json().begin_object();
    if (voi.id < 0) {
      text_.field("id", int{voi.id}).json().end_object();
      return;
    }
    if (dumps()) {
      text_.field("id", int{voi.id}).json().key("name");
      json_name(options_.names ? std::optional(voi_name(slot)) : std::nullopt);
      flags_field(voi.flags);
      json().key("dtype").string(name_of_dtype(voi.dtype));
      text_.field("voistatmaxid", int{voi.stat_max}).field("stats_off", unsigned{voi.stats_off});
    }
    json().key("stats").begin_object();
    for (int i = 0; i <= voi.stat_max; ++i) {
      const Stat& stat = stats_of(sb_, voi)[i];
      if (shown(stat)) json_stat(i, voi, stat);
    }
    json().end_object().end_object();
  }

  void json_stat(int i, const Voi& voi, const Stat& stat) {
    json_key(name_of_stype(stat.stype), i);
    if (stat.stype >= 0 && !dumps() && !(stat.flags & kStatValid)) {
      json().null();
      return;
    }
    json().begin_object();
    if (stat.stype < 0) {
      text_.field("stype", -1);
    } else if (dumps()) {
      json().key("stype").string(name_of_stype(stat.stype));
      text_.field("errs", unsigned{stat.errs}).field("flags", unsigned{stat.flags});
      json().key("dtype").string(name_of_dtype(stat.dtype));
      text_.field("data_off", unsigned{stat.data_off}).json().key("voistatdata").begin_object();
      stat_data(voi, stat);
      json().end_object();
    } else {
      text_.field("errs", unsigned{stat.errs});
      stat_data(voi, stat);
    }
    json().end_object();
  }

  const statsblob* sb_;
  const Header& header_;
  const TextOptions& options_;
  std::vector<std::string> keys_;  // by slot; empty: the names
  Text text_;
};

}  // namespace

const char* name_of_stype(int stype) {
  return stype >= 0 && stype < VS_NUM_STYPES ? kStypes[stype] : "";
}
const char* name_of_dtype(unsigned dtype) { return dtype < VSD_NUM_DTYPES ? kDtypes[dtype] : ""; }

std::string render(const statsblob* sb, const TextOptions& options) {
  return Renderer(sb, options).run();
}

namespace {

// SIZE_MAX: the caller does not know the size, which is fixed for a number.
bool is_size_of(std::size_t bytes, unsigned voi_dtype, unsigned dtype) {
  const unsigned number = dtype == VSD_DTYPE_VOISTATE ? voi_dtype : dtype;
  if (!is_voi_dtype(number)) return bytes != SIZE_MAX;
  bool enough = false;
  with_type(number, [&](auto zero) { enough = bytes >= sizeof zero; });
  return enough;
}

}  // namespace

std::optional<std::string> render_data(const std::uint8_t* data, unsigned voi_dtype, unsigned dtype,
                                       std::size_t bytes, sb_str_fmt format, Detail detail) {
  if (!is_size_of(bytes, voi_dtype, dtype)) return std::nullopt;
  Text text(format);
  if (!write_data(text, data, voi_dtype, dtype, bytes, detail)) return std::nullopt;
  return text.take();
}

}  // namespace tallyfs::stats3::blob

using namespace tallyfs::stats3::blob;

int stats_blob_tostr(struct statsblob* sb, struct sbuf* buf, enum sb_str_fmt fmt,
                     uint32_t flags) try {
  if (!sb || sb->abi != STATS_ABI_V1 || !buf || std::bit_cast<unsigned>(fmt) >= SB_STRFMT_NUM_FMTS)
    return EINVAL;
  std::optional<TemplateNames> names;
  if (flags & SB_TOSTR_META) {
    names = Templates::of_process().names_by_hash(header_of(sb).tplhash);
    if (!names) return EINVAL;
  }
  char address[24];
  std::snprintf(address, sizeof address, "%p", static_cast<void*>(sb));
  const std::string text =
      render(sb, {.format = fmt,
                  .detail = flags & SB_TOSTR_OBJDUMP ? Detail::kObjdump : Detail::kPlain,
                  .names = names ? &*names : nullptr,
                  .address = address});
  sbuf_bcat(buf, text.data(), text.size());
  return sbuf_error(buf);
} catch (const std::bad_alloc&) {
  return ENOMEM;
}

int stats_voistatdata_tostr(const struct voistatdata* vsd, enum vsd_dtype voi_dtype,
                            enum vsd_dtype vsd_dtype, size_t vsd_sz, enum sb_str_fmt fmt,
                            struct sbuf* buf, int objdump) try {
  if (!vsd || !buf || std::bit_cast<unsigned>(fmt) >= SB_STRFMT_NUM_FMTS) return EINVAL;
  // In C an enum may be any number.
  const auto text =
      render_data(reinterpret_cast<const std::uint8_t*>(vsd), std::bit_cast<unsigned>(voi_dtype),
                  std::bit_cast<unsigned>(vsd_dtype), vsd_sz, fmt,
                  objdump != 0 ? Detail::kObjdump : Detail::kPlain);
  if (!text) return EINVAL;
  sbuf_bcat(buf, text->data(), text->size());
  return sbuf_error(buf);
} catch (const std::bad_alloc&) {
  return ENOMEM;
}
