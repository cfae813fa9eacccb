// What the tests of blobs share: an own list of templates and a clock that stands still, and
// specifications of statistics without the C macros.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/stats3/blob/blob.h"
#include "core/stats3/blob/templates.h"
#include "tests/unit/fake_clock.h"

namespace tallyfs::stats3::blob {

// While it lives, the C calls work on it.
struct Fixture {
  Fixture() {
    Templates::use(&templates);
    use_clock(&clock);
  }
  ~Fixture() {
    Templates::use(nullptr);
    use_clock(nullptr);
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  Templates templates;
  FakeClock clock{std::chrono::seconds(1000)};
};

struct Destroy {
  void operator()(statsblob* sb) const { stats_blob_destroy(sb); }
};
using OwnedBlob = std::unique_ptr<statsblob, Destroy>;

// Keeps what the specifications point to.
class Specs {
 public:
  using Bounds = std::vector<std::array<voistatdata_numeric, 2>>;

  Specs& number(voi_stype stype) {
    voistatspec spec{};
    spec.stype = stype;
    spec.hlpr = &stats_vss_numeric_hlpr;
    specs_.push_back(spec);
    return *this;
  }
  Specs& sum() { return number(VS_STYPE_SUM); }
  Specs& max() { return number(VS_STYPE_MAX); }
  Specs& min() { return number(VS_STYPE_MIN); }
  Specs& hist(const vss_hist_hlpr_info& info) {
    hists_.push_back(info);
    return add(VS_STYPE_HIST, &stats_vss_hist_hlpr, &hists_.back());
  }
  Specs& usr(vsd_dtype dtype, std::uint32_t flags,
             std::vector<std::array<std::int64_t, 2>> bounds) {
    auto& kept = bounds_.emplace_back();
    for (const auto& [lb, ub] : bounds) {
      kept.push_back({stats_ctor_vsd_numeric(static_cast<std::uint64_t>(lb)),
                      stats_ctor_vsd_numeric(static_cast<std::uint64_t>(ub))});
    }
    vss_hist_hlpr_info info{};
    info.scheme = BKT_USR;
    info.hist_dtype = dtype;
    info.flags = flags;
    info.usr.bkts = reinterpret_cast<const voistatdata_numeric(*)[2]>(kept.data());
    info.usr.nbkts = kept.size();
    return hist(info);
  }
  Specs& lin(vsd_dtype dtype, std::int64_t lb, std::int64_t ub, std::int64_t step,
             std::uint32_t flags = 0) {
    vss_hist_hlpr_info info = computed(BKT_LIN, dtype, lb, ub, flags);
    info.lin.stepinc = static_cast<std::uint64_t>(step);
    return hist(info);
  }
  Specs& exp(vsd_dtype dtype, std::int64_t lb, std::int64_t ub, std::uint64_t base,
             std::uint64_t exponent, std::uint32_t flags = 0) {
    vss_hist_hlpr_info info = computed(BKT_EXP, dtype, lb, ub, flags);
    info.exp.stepbase = base;
    info.exp.stepexp = exponent;
    return hist(info);
  }
  Specs& linexp(vsd_dtype dtype, std::int64_t lb, std::int64_t ub, std::uint64_t steps,
                std::uint64_t base, std::uint32_t flags = 0) {
    vss_hist_hlpr_info info = computed(BKT_LINEXP, dtype, lb, ub, flags);
    info.linexp.stepbase = base;
    info.linexp.linstepdiv = steps;
    return hist(info);
  }
  Specs& digest(vsd_dtype dtype, std::uint32_t centroids, std::uint32_t precision) {
    digests_.push_back({VSD_DTYPE_VOISTATE, dtype, centroids, precision});
    return add(VS_STYPE_TDGST, &stats_vss_tdgst_hlpr, &digests_.back());
  }
  Specs& plain(const voistatspec& spec) {
    specs_.push_back(spec);
    return *this;
  }

  voistatspec* data() { return specs_.data(); }
  std::uint32_t size() const { return static_cast<std::uint32_t>(specs_.size()); }

 private:
  static vss_hist_hlpr_info computed(hist_bkt_alloc scheme, vsd_dtype dtype, std::int64_t lb,
                                     std::int64_t ub, std::uint32_t flags) {
    vss_hist_hlpr_info info{};
    info.scheme = scheme;
    info.hist_dtype = dtype;
    info.flags = flags;
    info.lb = stats_ctor_vsd_numeric(static_cast<std::uint64_t>(lb));
    info.ub = stats_ctor_vsd_numeric(static_cast<std::uint64_t>(ub));
    return info;
  }
  template <typename Info>
  Specs& add(voi_stype stype, vss_hlpr_fn helper, Info* info) {
    voistatspec spec{};
    spec.stype = stype;
    spec.hlpr = helper;
    spec.hlprinfo = reinterpret_cast<vss_hlpr_info*>(info);
    specs_.push_back(spec);
    return *this;
  }

  std::vector<voistatspec> specs_;
  std::deque<vss_hist_hlpr_info> hists_;
  std::deque<vss_tdgst_hlpr_info> digests_;
  std::deque<Bounds> bounds_;
};

// A template "T" with VOI 0, and a blob of it.
inline OwnedBlob make_blob(vsd_dtype dtype, Specs& specs, std::uint32_t flags = 0) {
  int id = stats_tpl_fetch_allocid("T", 0);
  if (id < 0) id = stats_tpl_alloc("T", 0);
  const auto slot = static_cast<std::uint32_t>(id);
  if (stats_tpl_add_voistats(slot, 0, "V", dtype, specs.size(), specs.data(), flags) != 0)
    return nullptr;
  return OwnedBlob(stats_blob_alloc(slot, 0));
}

// The error of adding a VOI to a template of its own.
inline int error_of(vsd_dtype dtype, Specs& specs) {
  Templates templates;
  return templates.add_voi(templates.add("E"), 0, "V", dtype, specs.size(), specs.data(), 0);
}

inline std::string text_of(statsblob* sb, sb_str_fmt format, std::uint32_t flags = 0) {
  sbuf* const text = sbuf_new_auto();
  const int error = stats_blob_tostr(sb, text, format, flags);
  sbuf_finish(text);
  const std::string out = error == 0 ? sbuf_data(text) : "error " + std::to_string(error);
  sbuf_delete(text);
  return out;
}

}  // namespace tallyfs::stats3::blob
