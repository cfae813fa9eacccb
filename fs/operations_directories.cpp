// The requests on directories: listings, and what is made or removed in them.
#include <sys/stat.h>

#include <vector>

#include "fs/operations.h"
#include "fs/replies.h"

namespace tallyfs {
namespace {

// Node 0: the kernel looks the name up when it is used.
fuse_entry_param name_alone(const NodeInfo& info) {
  fuse_entry_param entry{};
  entry.attr.st_ino = info.id;
  entry.attr.st_mode = S_IFDIR;
  return entry;
}

}  // namespace

void Operations::opendir(fuse_req_t request, NodeId node, fuse_file_info info) {
  barrier_.drain_feeders();
  const auto found = paths_.at_its_path(node, [&](NodeId current) {
    paths_.look_into(current);
    return dependencies_.tree.info(current);
  });
  if (!found) return reply_error(request, found.error());
  fuse_reply_open(request, &info);
}

void Operations::readdir(fuse_req_t request, NodeId node, std::size_t size, off_t offset) {
  list(request, node, offset, Listing(request, size));
}

void Operations::readdirplus(fuse_req_t request, NodeId node, std::size_t size, off_t offset) {
  std::vector<NodeId> introduced;
  // Below a directory that was made again, the kernel gets names alone, as in lookup().
  const auto current = paths_.successor(node);
  const bool is_remade = current && current.value() != node;
  list(request, node, offset, Listing(request, size, [&](const NodeInfo& info) {
         if (is_remade) return name_alone(info);
         const auto status = attributes_.of_directory(info.id);
         introduced.push_back(info.id);
         return status ? Attributes::entry(info, status.value()) : fuse_entry_param{};
       }));
  if (!notifier_) return;
  for (const NodeId directory : introduced) notifier_->has_introduced(directory);
}

void Operations::list(fuse_req_t request, NodeId node, off_t offset, Listing listing) {
  const auto directory = paths_.info(node);
  if (!directory) return reply_error(request, directory.error());
  if (is_older(static_cast<NodeId>(offset))) return reply_error(request, gone());
  listing.fill(dependencies_.tree, directory.value(), offset);
  listing.reply();
}

bool Operations::tell_of_change(NodeId parent, const char* name) const {
  const std::string path = dependencies_.tree.path(parent);
  return changes_(path.empty() ? path : path + "/" + name);
}

void Operations::mkdir(fuse_req_t request, NodeId parent, const char* name) {
  const auto rules =
      paths_.at_its_path(parent, [&](NodeId current) { return dependencies_.tree.rules(current); });
  if (!rules) return reply_error(request, rules.error());
  barrier_.promote_follower();
  const auto made = rules.value()->make_directory(name, dependencies_.clock.now());
  if (!made) return reply_error(request, made.error());
  tell_of_change(parent, name);
  lookup(request, parent, name);
}

template <typename Remove>
void Operations::remove(fuse_req_t request, NodeId parent, const char* name, bool is_directory,
                        Remove remove) {
  // Messages that were sent before must not make the removed thing again: samples an interface,
  // publishing an object.
  barrier_.drain_feeders();
  const auto rules =
      paths_.at_its_path(parent, [&](NodeId current) { return dependencies_.tree.rules(current); });
  if (!rules) return reply_error(request, rules.error());
  const auto found = paths_.at_its_path(
      parent, [&](NodeId current) { return dependencies_.tree.lookup(current, name); });
  if (!found) return reply_error(request, found.error());
  if ((found.value().kind == NodeKind::kDirectory) != is_directory) {
    fuse_reply_err(request, is_directory ? ENOTDIR : EISDIR);
    return;
  }
  const auto info = paths_.info(parent);
  if (!info) return reply_error(request, info.error());
  if (auto may = rights_.check_writer(request, info.value()); !may) {
    return reply_error(request, may.error());
  }
  if (is_directory) barrier_.promote_follower();  // much may be in it
  const auto done = remove(*rules.value());
  if (tell_of_change(parent, name)) keep_outcome(done);
  reply_done(request, done);
}

void Operations::rmdir(fuse_req_t request, NodeId parent, const char* name) {
  remove(request, parent, name, true,
         [&](auto& rules) { return rules.remove_directory(name, dependencies_.clock.now()); });
}

void Operations::unlink(fuse_req_t request, NodeId parent, const char* name) {
  remove(request, parent, name, false,
         [&](auto& rules) { return rules.remove_file(name, dependencies_.clock.now()); });
}

}  // namespace tallyfs
