#include "fs/listing.h"

#include <sys/stat.h>

namespace tallyfs {
namespace {

// Nodes of the tree start above (Tree::kFirst).
constexpr off_t kDotCookie = 1;
constexpr off_t kDotDotCookie = 2;
constexpr std::size_t kTakenAtOnce = 256;

bool is_dot(off_t cookie) { return cookie <= kDotDotCookie; }

}  // namespace

std::size_t Listing::pack(const std::string& name, const NodeInfo& info, off_t cookie) {
  char* const place = buffer_.data() + used_;
  const std::size_t room = buffer_.size() - used_;
  fuse_entry_param param{};
  param.attr.st_ino = info.id;
  param.attr.st_mode = info.kind == NodeKind::kDirectory ? S_IFDIR : S_IFREG;
  if (!describe_)
    return fuse_add_direntry(request_, place, room, name.c_str(), &param.attr, cookie);
  // Node 0, as in an empty param, makes the kernel look a file up when its size is asked for:
  // to render every text for a mere listing would cost too much.
  if (info.kind == NodeKind::kDirectory && !is_dot(cookie)) param = describe_(info);
  return fuse_add_direntry_plus(request_, place, room, name.c_str(), &param, cookie);
}

bool Listing::add(const std::string& name, const NodeInfo& info, off_t cookie) {
  const std::size_t needed = pack(name, info, cookie);
  if (needed > buffer_.size() - used_) return false;
  used_ += needed;
  return true;
}

void Listing::fill(const Tree& tree, const NodeInfo& directory, off_t after) {
  NodeInfo parent = directory;
  parent.id = directory.parent;
  if (after < kDotCookie && !add(".", directory, kDotCookie)) return;
  if (after < kDotDotCookie && !add("..", parent, kDotDotCookie)) return;
  for (auto last = static_cast<NodeId>(after);;) {
    const auto entries = tree.list(directory.id, last, kTakenAtOnce);
    if (!entries || entries.value().empty()) return;
    for (const NodeEntry& entry : entries.value()) {
      last = entry.info.id;
      if (!add(entry.name, entry.info, static_cast<off_t>(last))) return;
    }
  }
}

}  // namespace tallyfs
