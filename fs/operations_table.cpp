// The C table that libfuse calls: requests go to Operations. Requests that are never allowed here
// are refused with a specific errno rather than "Function not implemented".
//
// Left out on purpose: xattr (answered ENOSYS once, after which the kernel asks no more; else each
// truncating open would cost a getxattr), lseek (SEEK_DATA answered wrongly made cp write zeros;
// without it the kernel does it right), locks (the kernel keeps them locally), access
// (default_permissions).
#include <cerrno>
#include <new>
#include <optional>

#include "core/base/text.h"
#include "fs/operations.h"
#include "fs/request_cancellation.h"
#include "fs/request_in_work.h"

namespace tallyfs {
namespace {

// No exception leaves a callback of a C library.
template <typename Respond>
void respond(fuse_req_t request, Respond how) {
  try {
    how(*static_cast<Operations*>(fuse_req_userdata(request)));
  } catch (const std::bad_alloc&) {
    fuse_reply_err(request, ENOMEM);
  } catch (...) {
    fuse_reply_err(request, EIO);
  }
}

// respond() for a node. The kernel looks up a node again that a predecessor has numbered.
template <typename Respond>
void respond_at(fuse_req_t request, fuse_ino_t number, Respond how) {
  respond(request, [&](Operations& on) {
    if (on.is_older(number)) {
      fuse_reply_err(request, ESTALE);
    } else {
      how(on);
    }
  });
}

// respond_at() when the uid has a turn: for requests that may render a long text. Not for requests
// that the kernel makes under the lock of a directory, such as a lookup: others would wait for that
// lock.
template <typename Respond>
void respond_in_turn(fuse_req_t request, fuse_ino_t number, Respond how) {
  respond(request, [&](Operations& on) {
    on.in_turn(request, [request, number, how](UidTurns::Start start) {
      respond_at(request, number, [&](Operations& now) {
        const bool is_late = start == UidTurns::Start::kLater;
        if (is_late && cancellation_of(request).is_cancelled()) {
          fuse_reply_err(request, EINTR);
        } else {
          how(now);
        }
      });
    });
  });
}

void refuse(fuse_req_t request) { fuse_reply_err(request, EPERM); }

void add_names(fuse_lowlevel_ops& ops) {
  ops.init = [](void* userdata, fuse_conn_info* connection) {
    static_cast<Operations*>(userdata)->init(*connection);
  };
  ops.lookup = [](fuse_req_t request, fuse_ino_t parent, const char* name) {
    respond_at(request, parent, [&](Operations& on) { on.lookup(request, on.at(parent), name); });
  };
  // Nodes live as long as the objects that they name, whatever the kernel remembers.
  ops.forget = [](fuse_req_t request, fuse_ino_t, std::uint64_t) { fuse_reply_none(request); };
  ops.forget_multi = [](fuse_req_t request, std::size_t, fuse_forget_data*) {
    fuse_reply_none(request);
  };
  ops.getattr = [](fuse_req_t request, fuse_ino_t node, fuse_file_info* info) {
    const auto of = info ? std::optional(*info) : std::nullopt;
    respond_in_turn(request, node, [request, node, of](Operations& on) {
      on.getattr(request, on.at(node), of ? &*of : nullptr);
    });
  };
  ops.setattr = [](fuse_req_t request, fuse_ino_t node, struct stat* wanted, int which,
                   fuse_file_info* info) {
    respond_at(request, node,
               [&](Operations& on) { on.setattr(request, on.at(node), *wanted, which, info); });
  };
  ops.unlink = [](fuse_req_t request, fuse_ino_t parent, const char* name) {
    respond_at(request, parent, [&](Operations& on) { on.unlink(request, on.at(parent), name); });
  };
  ops.statfs = [](fuse_req_t request, fuse_ino_t) {
    struct statvfs numbers {};
    numbers.f_bsize = numbers.f_frsize = 4096;
    numbers.f_namemax = kNameBytesMax;
    fuse_reply_statfs(request, &numbers);
  };
}

void add_directories(fuse_lowlevel_ops& ops) {
  ops.opendir = [](fuse_req_t request, fuse_ino_t node, fuse_file_info* info) {
    respond_at(request, node, [&](Operations& on) { on.opendir(request, on.at(node), *info); });
  };
  ops.readdir = [](fuse_req_t request, fuse_ino_t node, std::size_t size, off_t offset,
                   fuse_file_info*) {
    respond_at(request, node,
               [&](Operations& on) { on.readdir(request, on.at(node), size, offset); });
  };
  ops.readdirplus = [](fuse_req_t request, fuse_ino_t node, std::size_t size, off_t offset,
                       fuse_file_info*) {
    respond_at(request, node,
               [&](Operations& on) { on.readdirplus(request, on.at(node), size, offset); });
  };
  ops.fsyncdir = [](fuse_req_t request, fuse_ino_t, int, fuse_file_info*) {
    fuse_reply_err(request, 0);
  };
  ops.releasedir = [](fuse_req_t request, fuse_ino_t, fuse_file_info*) {
    fuse_reply_err(request, 0);
  };
  ops.mkdir = [](fuse_req_t request, fuse_ino_t parent, const char* name, mode_t) {
    respond_at(request, parent, [&](Operations& on) { on.mkdir(request, on.at(parent), name); });
  };
  ops.rmdir = [](fuse_req_t request, fuse_ino_t parent, const char* name) {
    respond_at(request, parent, [&](Operations& on) { on.rmdir(request, on.at(parent), name); });
  };
}

void add_files(fuse_lowlevel_ops& ops) {
  ops.open = [](fuse_req_t request, fuse_ino_t node, fuse_file_info* info) {
    respond(request, [&](Operations& on) {
      const std::uint64_t number = request_in_work.number;
      if (on.open_again(request, *info, number)) return;
      respond_in_turn(request, node, [request, node, of = *info, number](Operations& now) {
        now.open(request, node, of, number);
      });
    });
  };
  ops.read = [](fuse_req_t request, fuse_ino_t node, std::size_t size, off_t offset,
                fuse_file_info* info) {
    respond_in_turn(request, node, [request, size, offset, of = *info](Operations& on) {
      on.read(request, size, offset, of);
    });
  };
  ops.write = [](fuse_req_t request, fuse_ino_t node, const char* text, std::size_t size,
                 off_t offset, fuse_file_info* info) {
    respond_at(request, node, [&](Operations& on) {
      on.write(request, {text, size}, offset, *info);
    });
  };
  ops.flush = [](fuse_req_t request, fuse_ino_t node, fuse_file_info* info) {
    respond_at(request, node, [&](Operations& on) { on.flush(request, *info); });
  };
  ops.poll = [](fuse_req_t request, fuse_ino_t node, fuse_file_info* info,
                fuse_pollhandle* handle) {
    respond(request, [&](Operations& on) {
      if (!on.is_older(node)) return on.poll(request, *info, handle);
      if (handle) fuse_pollhandle_destroy(handle);
      fuse_reply_err(request, ESTALE);
    });
  };
  // Handles are numbered once for all servers.
  ops.release = [](fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
    respond(request, [&](Operations& on) { on.release(request, *info); });
  };
  ops.fsync = [](fuse_req_t request, fuse_ino_t, int, fuse_file_info*) {
    fuse_reply_err(request, 0);
  };
}

void add_refusals(fuse_lowlevel_ops& ops) {
  ops.readlink = [](fuse_req_t request, fuse_ino_t) { fuse_reply_err(request, EINVAL); };
  ops.mknod = [](fuse_req_t request, fuse_ino_t, const char*, mode_t, dev_t) { refuse(request); };
  ops.symlink = [](fuse_req_t request, const char*, fuse_ino_t, const char*) { refuse(request); };
  ops.rename = [](fuse_req_t request, fuse_ino_t, const char*, fuse_ino_t, const char*, unsigned) {
    refuse(request);
  };
  ops.link = [](fuse_req_t request, fuse_ino_t, fuse_ino_t, const char*) { refuse(request); };
  ops.create = [](fuse_req_t request, fuse_ino_t, const char*, mode_t, fuse_file_info*) {
    refuse(request);
  };
  ops.fallocate = [](fuse_req_t request, fuse_ino_t, int, off_t, off_t, fuse_file_info*) {
    fuse_reply_err(request, EOPNOTSUPP);
  };
  ops.ioctl = [](fuse_req_t request, fuse_ino_t, unsigned, void*, fuse_file_info*, unsigned,
                 const void*, std::size_t, std::size_t) { fuse_reply_err(request, ENOTTY); };
  ops.bmap = [](fuse_req_t request, fuse_ino_t, std::size_t, std::uint64_t) {
    fuse_reply_err(request, EINVAL);
  };
}

fuse_lowlevel_ops make_table() {
  fuse_lowlevel_ops ops{};
  add_names(ops);
  add_directories(ops);
  add_files(ops);
  add_refusals(ops);
  return ops;
}

}  // namespace

const fuse_lowlevel_ops& Operations::table() {
  static const fuse_lowlevel_ops ops = make_table();
  return ops;
}

}  // namespace tallyfs
