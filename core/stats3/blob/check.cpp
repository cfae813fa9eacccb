#include "core/stats3/blob/check.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/stats3/blob/digest.h"
#include "core/stats3/blob/histogram.h"
#include "core/stats3/blob/number.h"

namespace tallyfs::stats3::blob {
namespace {

Error wrong(std::string what) { return {.code = ErrorCode::kInvalid, .reason = std::move(what)}; }

std::string of(const char* field, std::uint64_t value) {
  return std::string(field) + " is " + std::to_string(value);
}

// One pass over a blob; the first fault ends it.
class Check {
 public:
  explicit Check(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  Result<std::size_t> run() {
    if (const auto error = check_header()) return *error;
    used_.assign(std::size_t{header_.cursz}, false);
    const int slots = voi_slots(header_);
    for (int i = 0; i < slots; ++i) {
      if (auto error = check_voi(i)) {
        error->reason = "VOI " + std::to_string(i) + ": " + error->reason;
        return *error;
      }
    }
    if (slots > 0 && voi(slots - 1).id < 0) return wrong("the last VOI's slot is vacant");
    if (std::find(used_.begin() + header_.stats_off, used_.end(), false) != used_.end()) {
      return wrong("there are bytes that belong to no statistic");
    }
    return std::size_t{header_.cursz};
  }

 private:
  using Flaw = std::optional<Error>;

  Flaw check_header() {
    if (bytes_.size() < sizeof(Header))
      return wrong(of("a blob has 32 bytes at least, this", bytes_.size()));
    header_ = load<Header>(bytes_.data());
    if (header_.abi != STATS_ABI_V1) return wrong(of("abi", header_.abi) + ", not 1");
    if (header_.endian == SB_BE) return wrong("it is big-endian, which is not converted");
    if (header_.endian != SB_LE) return wrong(of("endian", header_.endian) + ", not 1");
    if (header_.flags != 0) return wrong(of("flags", header_.flags) + ", not 0");
    if (header_.cursz < sizeof(Header)) return wrong(of("cursz", header_.cursz) + ", below 32");
    if (header_.cursz > bytes_.size()) {
      return wrong(of("cursz", header_.cursz) + ", of which " + std::to_string(bytes_.size()) +
                   " bytes are there");
    }
    if (header_.stats_off < sizeof(Header) || header_.stats_off % 8 != 0 ||
        header_.stats_off > header_.statsdata_off) {
      return wrong(of("stats_off", header_.stats_off));
    }
    if (header_.statsdata_off % 8 != 0 || header_.statsdata_off > header_.cursz) {
      return wrong(of("statsdata_off", header_.statsdata_off));
    }
    return std::nullopt;
  }

  Voi voi(int slot) const {
    return load<Voi>(bytes_.data() + sizeof(Header) + sizeof(Voi) * static_cast<std::size_t>(slot));
  }

  Flaw check_voi(int slot) {
    const Voi voi = this->voi(slot);
    if (voi.id < 0) {
      if (voi.id == -1 && voi.stat_max == -1 && voi.dtype == 0 && voi.stats_off == 0 &&
          voi.flags == 0)
        return {};
      return wrong("a vacant slot that is not empty");
    }
    if (voi.id != slot) return wrong(of("id", static_cast<std::uint64_t>(voi.id)));
    if (!is_voi_dtype(voi.dtype)) return wrong(of("dtype", voi.dtype) + ", which no VOI has");
    if (voi.stat_max < VS_STYPE_SUM || voi.stat_max >= VS_NUM_STYPES) {
      return wrong("voistatmaxid is " + std::to_string(voi.stat_max));
    }
    if ((voi.flags & ~kVoiRelative) != 0) return wrong(of("flags", voi.flags));
    const std::size_t size = sizeof(Stat) * (static_cast<std::size_t>(voi.stat_max) + 1);
    if (voi.stats_off < header_.stats_off || voi.stats_off % 8 != 0 ||
        voi.stats_off + size > header_.statsdata_off) {
      return wrong(of("stats_off", voi.stats_off));
    }
    if (!take(voi.stats_off, size))
      return wrong(of("stats_off", voi.stats_off) + ", where others' slots are");
    for (int i = 0; i <= voi.stat_max; ++i) {
      if (auto error = check_stat(voi, i)) {
        error->reason = "statistic " + std::to_string(i) + ": " + error->reason;
        return error;
      }
    }
    return {};
  }

  Flaw check_stat(const Voi& voi, int slot) {
    const auto stat =
        load<Stat>(bytes_.data() + voi.stats_off + sizeof(Stat) * static_cast<std::size_t>(slot));
    const bool relative = voi.flags & kVoiRelative;
    if (stat.stype == -1) {
      if (slot == voi.stat_max || (slot == VS_STYPE_VOISTATE && relative))
        return wrong("its slot is vacant");
      if (stat.dtype || stat.data_off || stat.dsz || stat.errs || stat.flags) {
        return wrong("a vacant slot that is not empty");
      }
      return {};
    }
    if (stat.stype != slot) return wrong("stype is " + std::to_string(stat.stype));
    if (slot == VS_STYPE_VOISTATE && !relative) return wrong("a previous value without its flag");
    if ((stat.flags & ~kStatValid) != 0) return wrong(of("flags", stat.flags));
    if (stat.data_off < header_.statsdata_off || stat.data_off + stat.dsz > header_.cursz) {
      return wrong(of("data_off", stat.data_off) + ", " + of("dsz", stat.dsz));
    }
    if (!take(stat.data_off, stat.dsz))
      return wrong(of("data_off", stat.data_off) + ", where others' data is");
    return check_data(voi, stat);
  }

  Flaw check_data(const Voi& voi, const Stat& stat) {
    const std::uint8_t* const data = bytes_.data() + stat.data_off;
    const Error type = wrong(of("dtype", stat.dtype) + ", " + of("dsz", stat.dsz));
    switch (stat.stype) {
      case VS_STYPE_VOISTATE:
        return stat.dtype == VSD_DTYPE_VOISTATE && stat.dsz == sizeof(voistatdata_numeric) ? Flaw{}
                                                                                           : type;
      case VS_STYPE_HIST:
        if (!is_hist_dtype(stat.dtype) || bucket_count(stat.dtype, stat.dsz) == 0) return type;
        return check_bounds(voi, stat, data);
      case VS_STYPE_TDGST: {
        const std::size_t room =
            is_tdgst_dtype(stat.dtype) ? centroid_room(stat.dtype, stat.dsz) : 0;
        if (room < 2) return type;
        if (!read_digest(data, stat.dtype, room, sign_of(voi.dtype)).sound)
          return wrong("its t-digest is damaged");
        return {};
      }
      default:
        return stat.dtype == voi.dtype && stat.dsz == number_bytes(voi.dtype) ? Flaw{} : type;
    }
  }

  // The search relies on bounds that ascend.
  Flaw check_bounds(const Voi& voi, const Stat& stat, const std::uint8_t* data) {
    if (stat.dtype != VSD_DTYPE_CRHIST32 && stat.dtype != VSD_DTYPE_CRHIST64) return {};
    return with_type(voi.dtype, [&](auto zero) -> Flaw {
      const Bounds<decltype(zero)> bounds(data + kHistHeadBytes,
                                          bucket_count(stat.dtype, stat.dsz));
      for (std::size_t i = 1; i < bounds.size(); ++i) {
        if (bounds[i] < bounds[i - 1]) return wrong(of("bounds that descend: bucket", i));
      }
      return {};
    });
  }

  // Marks bytes as used; false if some were used already.
  bool take(std::size_t at, std::size_t size) {
    const auto begin = used_.begin() + static_cast<std::ptrdiff_t>(at),
               end = begin + static_cast<std::ptrdiff_t>(size);
    if (std::find(begin, end, true) != end) return false;
    std::fill(begin, end, true);
    return true;
  }

  std::span<const std::uint8_t> bytes_;
  Header header_{};
  std::vector<bool> used_;
};

}  // namespace

Result<std::size_t> check_blob(std::span<const std::uint8_t> bytes) { return Check(bytes).run(); }

}  // namespace tallyfs::stats3::blob
