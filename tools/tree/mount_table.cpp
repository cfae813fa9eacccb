#include "tools/tree/mount_table.h"

#include <libmount/libmount.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "core/base/text.h"
#include "tools/tree/timed_file.h"

namespace tallyfs {
namespace {

struct FreeMounted {
  void operator()(libmnt_table* table) const { ::mnt_unref_table(table); }
  void operator()(libmnt_iter* each) const { ::mnt_free_iter(each); }
};

TallyMount to_mount(libmnt_fs* from) {
  const char* const path = ::mnt_fs_get_target(from);
  const char* const given = ::mnt_fs_get_options(from);
  const std::string_view options = given ? given : "";
  TallyMount made{.path = path ? path : ""};
  made.is_closed = options.find("allow_other") == std::string_view::npos;
  constexpr std::string_view kOwner = "user_id=";
  if (const auto at = options.find(kOwner); at != std::string_view::npos) {
    const auto value = options.substr(at + kOwner.size());
    made.owner =
        static_cast<unsigned>(parse_unsigned(value.substr(0, value.find(','))).value_or(0));
  }
  return made;
}

bool can_be_read(const TallyMount& mount) {
  constexpr std::chrono::milliseconds kLook{500};
  return list_in_time(mount.path, kLook).has_value();
}

std::string listed(const std::vector<TallyMount>& mounts) {
  std::string text;
  for (const TallyMount& mount : mounts) text.append("\n  ").append(mount.path);
  return text;
}

// A mount point that is not in front has another mount on it.
std::vector<TallyMount> readable(const std::vector<TallyMount>& mounts) {
  std::vector<TallyMount> made;
  std::ranges::copy_if(mounts, std::back_inserter(made), can_be_read);
  return made;
}

}  // namespace

std::vector<TallyMount> tally_mounts() {
  std::vector<TallyMount> found;
  const std::unique_ptr<libmnt_table, FreeMounted> table(
      ::mnt_new_table_from_file("/proc/self/mountinfo"));
  if (!table) return found;
  const std::unique_ptr<libmnt_iter, FreeMounted> each(::mnt_new_iter(MNT_ITER_FORWARD));
  libmnt_fs* mount = nullptr;
  while (::mnt_table_next_fs(table.get(), each.get(), &mount) == 0) {
    const char* const type = ::mnt_fs_get_fstype(mount);
    if (type && std::string_view(type) == "fuse.tallyfs") found.push_back(to_mount(mount));
  }
  return found;
}

std::string named_mount(const std::string& given) {
  const char* const named = std::getenv("TALLY_MOUNT");
  return given.empty() && named ? named : given;
}

Result<std::string> find_mount(const std::string& given) {
  if (std::string named = named_mount(given); !named.empty()) return named;
  const auto all = tally_mounts();
  const auto open = readable(all);
  if (open.size() == 1) return open.front().path;
  const auto is_mine = [](const TallyMount& mount) { return mount.owner == ::geteuid(); };
  if (std::ranges::count_if(open, is_mine) == 1) {
    return std::ranges::find_if(open, is_mine)->path;
  }
  if (std::ranges::count(open, kServiceMount, &TallyMount::path) > 0) {
    return std::string(kServiceMount);
  }
  if (all.empty()) {
    return Error{ErrorCode::kNotFound, "no tallyfs is mounted; tallyfs MOUNTPOINT mounts one"};
  }
  if (open.empty()) {
    return Error{
        ErrorCode::kNotFound,
        "no mount of tallyfs can be read by this user; tallyctl doctor says why:" + listed(all)};
  }
  return Error{ErrorCode::kNotFound,
               "several mounts of tallyfs; --mount or TALLY_MOUNT says which:" + listed(open)};
}

}  // namespace tallyfs
