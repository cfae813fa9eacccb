// Longer than most: both formats of every type stand side by side, so that a change of one is made
// in sight of the other.
#include "core/blob/text.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <new>

#include "core/base/text.h"
#include "core/blob/digest.h"
#include "core/blob/histogram.h"
#include "core/blob/number.h"

namespace tallyfs::blob {
namespace {

constexpr const char* kStypes[] = {"VOISTATE", "SUM", "MAX", "MIN", "HIST", "TDGST"};
constexpr const char* kDtypes[] = {
    "VOISTATE", "INT_S32",  "INT_U32",  "INT_S64",      "INT_U64",     "INT_SLONG", "INT_ULONG",
    "Q_S32",    "Q_U32",    "Q_S64",    "Q_U64",        "CRHIST32",    "DRHIST32",  "DVHIST32",
    "CRHIST64", "DRHIST64", "DVHIST64", "TDGSTCLUST32", "TDGSTCLUST64"};

// Collects what is written. A histogram is hundreds of numbers: they are printed in place, not
// through a string each.
class Text {
 public:
  explicit Text(sb_str_fmt format) : json_(format == SB_STRFMT_JSON) { out_.resize(1024); }

  bool json() const { return json_; }
  std::string take() {
    out_.resize(at_);
    return std::move(out_);
  }

  Text& operator<<(std::string_view piece) {
    need(piece.size());
    piece.copy(out_.data() + at_, piece.size());
    at_ += piece.size();
    return *this;
  }
  Text& operator<<(tally_q number) {
    std::string piece;
    append(piece, number);
    return *this << std::string_view(piece);
  }
  template <typename T>
  requires std::is_arithmetic_v<T> Text& operator<<(T number) {
    need(24);
    char* const begin = out_.data() + at_;
    at_ += static_cast<std::size_t>(std::to_chars(begin, begin + 24, number).ptr - begin);
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
  // In JSON with its quotes, and so that it stays JSON; else so that it forges no line.
  Text& name(std::string_view name) {
    *this << "\"";
    while (!name.empty()) {
      char32_t point = 0;
      const std::size_t length = utf8_length(name, point);
      *this << piece_of(name.substr(0, std::max<std::size_t>(length, 1)), length);
      name.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return *this << "\"";
  }
  // `, key=value` and `"key":value,`.
  template <typename T>
  Text& field(const char* key, T value) {
    if (json_) return *this << "\"" << key << "\":" << value << ",";
    return *this << ", " << key << "=" << value;
  }

 private:
  // A character of a name, or a byte that is none (length 0).
  std::string piece_of(std::string_view character, std::size_t length) const {
    const auto byte = static_cast<unsigned char>(character.front());
    if (json_ && length == 0) return "\\ufffd";
    if (json_ && (byte == '"' || byte == '\\')) return std::string("\\").append(character);
    if (length != 0 && byte >= 0x20 && byte != 0x7F) return std::string(character);
    char code[8];
    std::snprintf(code, sizeof code, json_ ? "\\u%04x" : "\\x%02x", unsigned{byte});
    return code;
  }

  void need(std::size_t bytes) {
    if (out_.size() - at_ < bytes) out_.resize((at_ + bytes) * 2);
  }

  bool json_;
  std::string out_;
  std::size_t at_ = 0;
};

constexpr std::string_view kInner = "\n\t\t\t\t";

template <typename T>
void write_buckets(Text& text, const std::uint8_t* data, unsigned dtype, std::size_t count,
                   Detail detail) {
  const std::size_t size = bucket_bytes(dtype);
  const bool continuous = dtype == VSD_DTYPE_CRHIST32 || dtype == VSD_DTYPE_CRHIST64;
  const bool wide = has_wide_counters(dtype), json = text.json();
  const auto counter = [wide](const std::uint8_t* at) {
    return wide ? load<std::uint64_t>(at) : std::uint64_t{load<std::uint32_t>(at)};
  };
  if (json) {
    text << "\"nbkts\":" << count << ",\"oob\":" << counter(data) << ",\"bkts\":[";
  } else {
    text << "nbkts=" << count << ", oob=" << counter(data);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t* const bucket = data + kHistHeadBytes + size * i;
    const T lb = load<T>(bucket);
    const T ub = has_two_bounds(dtype) ? load<T>(bucket + 8)
                 : !continuous         ? lb
                 : i + 1 < count       ? load<T>(bucket + size)
                                       : highest<T>();
    if (json) {
      text << (i > 0 ? ",{" : "{");
      if (detail == Detail::kObjdump) text << "\"bkt\":" << i << ",";
      text << "\"lb\":" << lb << ",\"ub\":" << ub << ",\"cnt\":" << counter(bucket + size - 8)
           << "}";
    } else {
      text << kInner;
      if (detail == Detail::kObjdump) text << "bkt[" << i << "].";
      text << "{lb=" << lb << ",ub=" << ub << ",cnt=" << counter(bucket + size - 8) << "}";
    }
  }
  if (json) text << "]";
}

void write_digest(Text& text, const DigestContent& digest, Detail detail) {
  const bool objdump = detail == Detail::kObjdump;
  const bool json = text.json();
  if (json) {
    text << "\"smplcnt\":" << digest.samples << ",\"compcnt\":" << digest.compressions
         << ",\"maxctds\":" << digest.room << ",\"nctds\":" << digest.centroids.size()
         << ",\"ctds\":[";
  } else {
    text << "smplcnt=" << digest.samples << ", compcnt=" << digest.compressions
         << ", maxctds=" << digest.room << ", nctds=" << digest.centroids.size();
  }
  bool first = true;
  const auto write = [&](const Centroid& each) {
    if (json) {
      text << (first ? "{" : ",{");
      if (objdump) text << "\"ctd\":" << each.index << ",";
      text << "\"mu\":" << each.mean << ",\"cnt\":" << each.count << "}";
    } else {
      text << kInner;
      if (objdump) text << "ctd[" << each.index << "].";
      text << "{mu=" << each.mean << ",cnt=" << each.count << "}";
    }
    first = false;
  };
  for (const Centroid& each : objdump ? digest.places : digest.centroids) write(each);
  if (json) text << "]";
}

// False, and nothing written, for a type or size that there is not.
bool write_data(Text& text, const std::uint8_t* data, unsigned voi_dtype, unsigned dtype,
                std::size_t bytes, Detail detail) {
  if (!is_voi_dtype(voi_dtype)) return false;
  if (is_voi_dtype(dtype)) {
    with_type(dtype, [&](auto zero) { text << load<decltype(zero)>(data); });
    return true;
  }
  if (dtype == VSD_DTYPE_VOISTATE) {
    with_type(voi_dtype, [&](auto zero) {
      text << (text.json() ? "\"prev\":" : "prev=") << load<decltype(zero)>(data);
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
      : sb_(sb), header_(header_of(sb)), options_(options), text_(options.format) {}

  std::string run() {
    text_.json() ? begin_json() : begin_freeform();
    bool first = true;
    for (int i = 0; i < voi_slots(header_); ++i) {
      const Voi& voi = vois_of(sb_)[i];
      if (voi.id < 0 && !dumps()) continue;
      if (text_.json() && !first) text_ << ",";
      first = false;
      text_.json() ? json_voi(i, voi) : freeform_voi(i, voi);
    }
    if (text_.json()) text_ << "}}";
    return text_.take();
  }

 private:
  std::string_view voi_name(int slot) const {
    if (!options_.names || static_cast<std::size_t>(slot) >= options_.names->vois.size()) return {};
    return options_.names->vois[static_cast<std::size_t>(slot)];
  }
  bool dumps() const { return options_.detail == Detail::kObjdump; }
  // A number has a key here, among others.
  void stat_data(const Voi& voi, const Stat& stat) {
    if (text_.json() && is_voi_dtype(stat.dtype)) text_ << "\"val\":";
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
    if (text_.json()) {
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
      text_.field("dtype", name_of_dtype(voi.dtype)).field("voistatmaxid", int{voi.stat_max});
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
      text_.field("dtype", name_of_dtype(stat.dtype)).field("dsz", unsigned{stat.dsz});
      text_.field("data_off", unsigned{stat.data_off});
    }
    text_ << "\n\t\t\tvoistatdata: ";
    stat_data(voi, stat);
  }

  void begin_json() {
    text_ << "{";
    if (dumps()) {
      text_.field("abi", unsigned{header_.abi});
      header_fields();
    }
    text_ << "\"tplname\":";
    json_name(options_.names ? std::optional<std::string_view>(options_.names->name)
                             : std::nullopt);
    text_ << ",\"tplhash\":" << std::uint32_t{header_.tplhash} << ",\"vois\":{";
  }
  void json_name(std::optional<std::string_view> name) {
    if (name) {
      text_.name(*name);
    } else {
      text_ << "null";
    }
  }

  void json_voi(int slot, const Voi& voi) {
    if (options_.names && !dumps()) {
      text_.name(voi_name(slot)) << ":{";
    } else {
      text_ << "\"[" << slot << "]\":{";
    }
    if (voi.id < 0) {
      text_ << "\"id\":" << int{voi.id} << "}";
      return;
    }
    if (dumps()) {
      text_.field("id", int{voi.id}) << "\"name\":";
      json_name(options_.names ? std::optional(voi_name(slot)) : std::nullopt);
      text_ << ",";
      flags_field(voi.flags);
      (text_ << "\"dtype\":").name(name_of_dtype(voi.dtype)) << ",";
      text_.field("voistatmaxid", int{voi.stat_max}).field("stats_off", unsigned{voi.stats_off});
    }
    text_ << "\"stats\":{";
    bool first = true;
    for (int i = 0; i <= voi.stat_max; ++i) {
      const Stat& stat = stats_of(sb_, voi)[i];
      if (!shown(stat)) continue;
      if (!first) text_ << ",";
      first = false;
      json_stat(i, voi, stat);
    }
    text_ << "}}";
  }

  void json_stat(int i, const Voi& voi, const Stat& stat) {
    if (options_.names && !dumps()) {
      text_.name(name_of_stype(stat.stype)) << ":";
    } else {
      text_ << "\"[" << i << "]\":";
    }
    if (stat.stype < 0) {
      text_ << "{\"stype\":-1}";
    } else if (dumps()) {
      (text_ << "{\"stype\":").name(name_of_stype(stat.stype)) << ",";
      text_.field("errs", unsigned{stat.errs}).field("flags", unsigned{stat.flags});
      (text_ << "\"dtype\":").name(name_of_dtype(stat.dtype)) << ",";
      text_.field("data_off", unsigned{stat.data_off}) << "\"voistatdata\":{";
      stat_data(voi, stat);
      text_ << "}}";
    } else if (!(stat.flags & kStatValid)) {
      text_ << "null";
    } else {
      text_ << "{";
      text_.field("errs", unsigned{stat.errs});
      stat_data(voi, stat);
      text_ << "}";
    }
  }

  const statsblob* sb_;
  const Header& header_;
  const TextOptions& options_;
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

}  // namespace tallyfs::blob

using namespace tallyfs::blob;

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
