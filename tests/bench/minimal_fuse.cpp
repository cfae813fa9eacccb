// The least that libfuse's low-level interface takes to serve a file: the measure for what the
// daemon's own files cost. One directory with one file, `data`, of 200 constant bytes; one thread,
// direct_io, no flush, long timeouts.
//   minimal_fuse MOUNT
#define FUSE_USE_VERSION 314
#include <fuse_lowlevel.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

namespace {

constexpr fuse_ino_t kFile = 2;
constexpr double kForLong = 3600;
const std::string kText = std::string(199, 'x') + "\n";

struct stat attributes(fuse_ino_t node) {
  struct stat status {};
  status.st_ino = node;
  status.st_mode = node == kFile ? S_IFREG | 0444 : S_IFDIR | 0755;
  status.st_nlink = node == kFile ? 1 : 2;
  status.st_size = node == kFile ? static_cast<off_t>(kText.size()) : 0;
  return status;
}

void lookup(fuse_req_t request, fuse_ino_t, const char* name) {
  if (std::strcmp(name, "data") != 0) {
    fuse_reply_err(request, ENOENT);
    return;
  }
  const fuse_entry_param found{
      .ino = kFile, .attr = attributes(kFile), .attr_timeout = kForLong, .entry_timeout = kForLong};
  fuse_reply_entry(request, &found);
}

void getattr(fuse_req_t request, fuse_ino_t node, fuse_file_info*) {
  const struct stat status = attributes(node);
  fuse_reply_attr(request, &status, kForLong);
}

void open(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
  info->direct_io = 1;
  info->noflush = 1;
  fuse_reply_open(request, info);
}

void read(fuse_req_t request, fuse_ino_t, size_t size, off_t offset, fuse_file_info*) {
  const std::size_t start = std::min(static_cast<std::size_t>(offset), kText.size());
  fuse_reply_buf(request, kText.data() + start, std::min(size, kText.size() - start));
}

}  // namespace

int main(int arguments, char** argument) {
  if (arguments != 2) return 2;
  fuse_lowlevel_ops ops{};
  ops.lookup = lookup;
  ops.getattr = getattr;
  ops.open = open;
  ops.read = read;
  fuse_args args = FUSE_ARGS_INIT(1, argument);
  fuse_session* const session = fuse_session_new(&args, &ops, sizeof ops, nullptr);
  if (!session || fuse_set_signal_handlers(session) != 0 ||
      fuse_session_mount(session, argument[1]) != 0)
    return 1;
  const int result = fuse_session_loop(session);
  fuse_session_unmount(session);
  fuse_session_destroy(session);
  return result < 0 ? 1 : 0;
}
