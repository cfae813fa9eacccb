// The process's templates: names, hashes and initial blobs. One list, behind one lock; templates
// are never taken away, so that a pointer to one is good for ever, and only its members change,
// when a VOI is added.
//
// Thread-safe. Errors are errno values, as they leave the C calls.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/mutex.h"
#include "core/stats3/blob/layout.h"

namespace tallyfs::stats3::blob {

inline constexpr std::size_t kTemplatesMax = 65'536;
inline constexpr std::size_t kVoiNameBytesMax = 255;

// FreeBSD's hash of a template: h * 33 + byte, over the template's name, the names of its VOIs by
// their ids, and the bytes of the blob, whose tplhash, created and lastrst are 0 then.
std::uint32_t hash_template(std::string_view name, const std::vector<std::string_view>& voi_names,
                            std::string_view blob);

// Whether a name can stand in the tree's files, where specs follow one another: at most
// TPL_MAX_NAME_LEN printable bytes of UTF-8 without '"' and '\\'.
bool is_template_name(std::string_view name);

// The initial bytes of a SUM, MAX or MIN. info: of a Q number its fraction; nullptr: the first
// sample decides.
std::vector<std::uint8_t> initial_number(unsigned voi_dtype, int stype,
                                         const vss_numeric_hlpr_info* info);

// The names for rendering with names.
struct TemplateNames {
  std::string name;
  std::vector<std::string> vois;  // by id; empty: none
};

// A template as it is sent to a daemon.
struct TemplateMessage {
  std::uint32_t hash = 0;
  std::string name;
  std::vector<std::string> voi_names;  // by their slots
  std::vector<std::uint8_t> blob;      // the initial one
};

class Templates {
 public:
  Templates();
  ~Templates();
  // The list that the C calls work on.
  static Templates& of_process();
  // For tests: another list, until nullptr is given.
  static void use(Templates* instead);

  // Slot ID, or -errno.
  int add(const char* name);
  int find(const char* name, std::uint32_t hash) const;
  statsblob_tpl* get(std::int64_t id) const;
  int add_voi(std::int64_t id, std::int32_t voi_id, const char* voi_name, unsigned voi_dtype,
              std::uint32_t count, const voistatspec* specs, std::uint32_t flags);

  // "NAME":HASH of the template; nullopt if there is no such slot.
  std::optional<std::string> spec(std::int64_t id) const;
  // The specs of all templates, with commas between.
  std::string list() const;
  std::optional<std::string> name(std::int64_t id) const;
  std::optional<TemplateNames> names_by_hash(std::uint32_t hash) const;
  std::optional<TemplateMessage> tell(std::int64_t id) const;
  std::uint32_t hash(std::int64_t id) const;  // 0: there is no such slot
  std::size_t size() const;
  // Counts up with each template, and each VOI of one.
  std::uint64_t changes() const;
  // The initial blob of a template, with its hash in place; empty if there is no such slot.
  std::vector<std::uint8_t> blob(std::int64_t id) const;
  // Copies it, if it has room in `bytes`; 0, EINVAL or EOVERFLOW.
  int copy_blob(std::int64_t id, statsblob* to, std::size_t bytes) const;

 private:
  struct Template;
  const Template* slot(std::int64_t id) const REQUIRES(mutex_);

  mutable Mutex mutex_{LockRank::kTemplates};
  std::vector<std::unique_ptr<Template>> templates_ GUARDED_BY(mutex_);
  std::uint64_t changes_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tallyfs::stats3::blob
