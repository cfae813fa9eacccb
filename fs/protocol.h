// The settings that are agreed with the kernel when the mount begins, in one place: a successor
// that takes over a mount must ask for the same. Constants.
#pragma once

// The API of libfuse 3.12 and later; the library checks that it offers it.
#ifndef FUSE_USE_VERSION
#define FUSE_USE_VERSION 312
#endif
#include <fuse_lowlevel.h>

#include <cstddef>

namespace tallyfs::protocol {

// Larger writes are split by the kernel; a line may be cut anywhere.
inline constexpr unsigned kMaxWriteBytes = 64 * 1024;

// One open with O_TRUNC instead of two requests; listings with the attributes of directories if the
// caller reads them. Nothing that caches contents, and no splicing: it is slower here
// (docs/performance.md).
inline constexpr unsigned kCapabilities = FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_ASYNC_READ |
                                          FUSE_CAP_PARALLEL_DIROPS | FUSE_CAP_READDIRPLUS |
                                          FUSE_CAP_READDIRPLUS_AUTO;

// A name leads to the same node until the Notifier says otherwise, and a directory's attributes are
// valid until then. A file's size is that of its text now, so the kernel requests it each time.
inline constexpr double kEntrySeconds = 86'400;
inline constexpr double kDirectoryAttributeSeconds = 86'400;
inline constexpr double kFileAttributeSeconds = 0;

}  // namespace tallyfs::protocol
