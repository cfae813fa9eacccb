// The calls of tally/stats.h that work on the process's templates, the helpers of the STATS_VSS_
// macros, and what makes a template's name and hash.
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include "core/base/text.h"
#include "core/stats3/blob/digest.h"
#include "core/stats3/blob/histogram.h"
#include "core/stats3/blob/number.h"
#include "core/stats3/blob/templates.h"

namespace tallyfs::stats3::blob {

bool is_template_name(std::string_view name) {
  if (name.size() > TPL_MAX_NAME_LEN || name.find('"') != name.npos) return false;
  std::string escaped;
  append_escaped(escaped, name, 4 * TPL_MAX_NAME_LEN, 0);
  return escaped == name;
}

std::uint32_t hash_template(std::string_view name, const std::vector<std::string_view>& voi_names,
                            std::string_view blob) {
  std::uint32_t hash = 0;
  const auto add = [&hash](std::string_view bytes) {
    for (const char byte : bytes) hash = hash * 33 + static_cast<unsigned char>(byte);
  };
  add(name);
  for (const std::string_view each : voi_names) add(each);
  add(blob);
  return hash;
}

}  // namespace tallyfs::stats3::blob

using namespace tallyfs::stats3::blob;

namespace {

// For programs that call a helper themselves; stats_tpl_add_voistats() does without.
int hand_out(const std::vector<std::uint8_t>& data, unsigned dtype, voistatspec* vss) {
  void* const memory = std::malloc(data.size());
  if (!memory) return ENOMEM;
  std::memcpy(memory, data.data(), data.size());
  vss->iv = static_cast<voistatdata*>(memory);
  vss->vsdsz = data.size();
  vss->vs_dtype = static_cast<vsd_dtype>(dtype);
  return 0;
}

}  // namespace

int stats_tpl_alloc(const char* name, uint32_t) try {
  return Templates::of_process().add(name);
} catch (const std::bad_alloc&) {
  return -ENOMEM;
}

int stats_tpl_fetch_allocid(const char* name, uint32_t hash) {
  return Templates::of_process().find(name, hash);
}

int stats_tpl_fetch(int tpl_id, struct statsblob_tpl** tpl) {
  statsblob_tpl* const found = Templates::of_process().get(tpl_id);
  if (!found) return ENOENT;
  if (tpl) *tpl = found;
  return 0;
}

int stats_tpl_id2name(uint32_t tpl_id, char* buf, size_t len) try {
  const auto name = Templates::of_process().name(tpl_id);
  if (!name) return ENOENT;
  if (!buf || name->size() >= len) return EOVERFLOW;
  std::memcpy(buf, name->c_str(), name->size() + 1);
  return 0;
} catch (const std::bad_alloc&) {
  return ENOMEM;
}

int stats_tpl_add_voistats(uint32_t tpl_id, int32_t voi_id, const char* voi_name,
                           enum vsd_dtype voi_dtype, uint32_t nvss, struct voistatspec* vss,
                           uint32_t flags) try {
  return Templates::of_process().add_voi(tpl_id, voi_id, voi_name,
                                         std::bit_cast<unsigned>(voi_dtype), nvss, vss, flags);
} catch (const std::bad_alloc&) {
  return ENOMEM;
}

int stats_tpl_list(struct sbuf* buf) try {
  if (!buf) return EINVAL;
  const std::string list = Templates::of_process().list();
  sbuf_bcat(buf, list.data(), list.size());
  return sbuf_error(buf);
} catch (const std::bad_alloc&) {
  return ENOMEM;
}

int stats_vss_numeric_hlpr(enum vsd_dtype voi_dtype, struct voistatspec* vss,
                           struct vss_hlpr_info* info) try {
  if (!vss || !is_voi_dtype(voi_dtype) || vss->stype < VS_STYPE_SUM || vss->stype > VS_STYPE_MIN)
    return EINVAL;
  const auto* const numeric = reinterpret_cast<const vss_numeric_hlpr_info*>(info);
  return hand_out(initial_number(voi_dtype, vss->stype, numeric), voi_dtype, vss);
} catch (const std::bad_alloc&) {
  return ENOMEM;
}

int stats_vss_hist_hlpr(enum vsd_dtype voi_dtype, struct voistatspec* vss,
                        struct vss_hlpr_info* info) try {
  if (!vss || !info || vss->stype != VS_STYPE_HIST) return EINVAL;
  const auto& wanted = *reinterpret_cast<const vss_hist_hlpr_info*>(info);
  std::vector<std::uint8_t> data;
  if (const int error = build_histogram(voi_dtype, wanted, data)) return error;
  return hand_out(data, wanted.hist_dtype, vss);
} catch (const std::bad_alloc&) {
  return ENOMEM;
}

int stats_vss_tdgst_hlpr(enum vsd_dtype voi_dtype, struct voistatspec* vss,
                         struct vss_hlpr_info* info) try {
  if (!vss || !info || vss->stype != VS_STYPE_TDGST) return EINVAL;
  const auto& wanted = *reinterpret_cast<const vss_tdgst_hlpr_info*>(info);
  std::vector<std::uint8_t> data;
  if (const int error = build_digest(voi_dtype, wanted, data)) return error;
  return hand_out(data, wanted.tdgst_dtype, vss);
} catch (const std::bad_alloc&) {
  return ENOMEM;
}

int stats_vss_hlpr_init(enum vsd_dtype voi_dtype, uint32_t nvss, struct voistatspec* vss) {
  if (!vss) return EINVAL;
  for (uint32_t i = 0; i < nvss; ++i) {
    if (!vss[i].hlpr || vss[i].iv) continue;
    const int error = vss[i].hlpr(voi_dtype, &vss[i], vss[i].hlprinfo);
    if (error == 0) continue;
    stats_vss_hlpr_cleanup(i, vss);
    return error;
  }
  return 0;
}

void stats_vss_hlpr_cleanup(uint32_t nvss, struct voistatspec* vss) {
  for (uint32_t i = 0; vss && i < nvss; ++i) {
    if (!vss[i].hlpr) continue;
    std::free(vss[i].iv);
    vss[i].iv = nullptr;
  }
}
