// Requests whose responses need only be well-formed: those that are never permitted, and those that
// mean nothing here.
#include <fcntl.h>

#include "tests/fuzz/fuse_drive.h"

namespace tallyfs::fuzz {

void Drive::handle_operation(unsigned which, std::uint64_t node, Input& input) {
  const std::uint64_t handle = draw_handle(input);
  const std::uint64_t a = input.number(input.byte() % 9), b = input.number(input.byte() % 9);
  const auto small = static_cast<std::uint32_t>(a);
  const auto send = [&](std::uint32_t opcode, const std::string& body) {
    (void)ask(opcode, node, body);
  };
  switch (which) {
    case 0:
      return release(handle);
    case 1:
      return send(FUSE_FLUSH, bytes_of(fuse_flush_in{handle, 0, 0, a}));
    case 2:
      return send(FUSE_FSYNC, bytes_of(fuse_fsync_in{handle, small, 0}));
    case 3:
      return send(FUSE_IOCTL, bytes_of(fuse_ioctl_in{handle, 0, small, b, 0, 0}));
    case 4:
      return send(FUSE_POLL, bytes_of(fuse_poll_in{handle, a, static_cast<unsigned>(b), 0}));
    case 5:
      return send(FUSE_FALLOCATE, bytes_of(fuse_fallocate_in{handle, a, b, 0, 0}));
    case 6:
      return send(FUSE_LSEEK, bytes_of(fuse_lseek_in{handle, a, 3, 0}));
    case 7:
      return send(FUSE_OPENDIR, bytes_of(fuse_open_in{small, 0}));
    case 8:
      return send(FUSE_RELEASEDIR, bytes_of(fuse_release_in{handle, 0, 0, 0}));
    case 9:
      return send(FUSE_FSYNCDIR, bytes_of(fuse_fsync_in{handle, small, 0}));
    case 10:
      return send(FUSE_GETLK, bytes_of(fuse_lk_in{handle, a, {0, b, 0, 1}, 0, 0}));
    case 11:
      return send(FUSE_COPY_FILE_RANGE,
                  bytes_of(fuse_copy_file_range_in{handle, a, b, handle, 0, 100, 0}));
    case 12:
      return send(FUSE_BMAP, bytes_of(fuse_bmap_in{a, 512, 0}));
    case 13:
      return send(FUSE_FORGET, bytes_of(fuse_forget_in{a}));
    case 14:
      (void)ask(FUSE_BATCH_FORGET, 0,
                bytes_of(fuse_batch_forget_in{2, 0}) + bytes_of(fuse_forget_one{node, a}) +
                    bytes_of(fuse_forget_one{a, b}));
      return;
    default:
      (void)ask(FUSE_STATFS, node);
  }
}

void Drive::name_operation(unsigned which, std::uint64_t node, Input& input) {
  const std::string name = draw_name(input) + '\0';
  const std::uint64_t other = draw_node(input);
  switch (which) {
    case 0:
      (void)ask(FUSE_RMDIR, node, name);
      return;
    case 1:
      (void)ask(FUSE_UNLINK, node, name);
      return;
    case 2:
      (void)ask(FUSE_MKDIR, node, bytes_of(fuse_mkdir_in{0755, 0}) + name);
      return;
    case 3:
      (void)ask(FUSE_MKNOD, node, bytes_of(fuse_mknod_in{0100644, 0, 0, 0}) + name);
      return;
    case 4:
      (void)ask(FUSE_CREATE, node, bytes_of(fuse_create_in{O_RDWR, 0644, 0, 0}) + name);
      return;
    case 5:
      (void)ask(FUSE_SYMLINK, node, name + "target" + '\0');
      return;
    case 6:
      (void)ask(FUSE_LINK, node, bytes_of(fuse_link_in{other}) + name);
      return;
    case 7:
      (void)ask(FUSE_RENAME, node, bytes_of(fuse_rename_in{other}) + name + "new" + '\0');
      return;
    case 8:
      (void)ask(FUSE_RENAME2, node,
                bytes_of(fuse_rename2_in{other, input.byte(), 0}) + name + "new" + '\0');
      return;
    case 9:
      (void)ask(FUSE_GETXATTR, node, bytes_of(fuse_getxattr_in{64, 0}) + name);
      return;
    case 10:
      (void)ask(FUSE_REMOVEXATTR, node, name);
      return;
    case 11:
      (void)ask(FUSE_LISTXATTR, node, bytes_of(fuse_getxattr_in{64, 0}));
      return;
    case 12:
      (void)ask(FUSE_ACCESS, node, bytes_of(fuse_access_in{input.byte(), 0}));
      return;
    default:
      (void)ask(FUSE_READLINK, node);
  }
}

// An operation that libfuse 3.14 does not have.
void Drive::raw_operation(Input& input) {
  const auto opcode = FUSE_SYNCFS + static_cast<std::uint32_t>(input.number(2) % 4000);
  (void)ask(opcode, draw_node(input), std::string(input.text(64)));
}

}  // namespace tallyfs::fuzz
