// The settings that are agreed with the kernel when the mount begins, in one place: a successor
// that takes over a mount must ask for the same. Constants.
#pragma once

// The API of libfuse 3.12 and later; the library checks that it offers it.
#ifndef FUSE_USE_VERSION
#define FUSE_USE_VERSION 312
#endif
#include <fuse_lowlevel.h>

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

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

// No readahead: it would take pages out of a stream before a reader asks for them.
inline constexpr unsigned kReadaheadBytes = 0;
// The size of a stream of pages. splice(2) reads a file through the page cache, up to its size.
inline constexpr off_t kPagesSizeBytes = off_t{1} << 62;

// Constants that older headers lack: FUSE_INIT_EXT, and, from FUSE 7.40 (Linux 6.9),
// FUSE_HAS_RESEND in fuse_init_in::flags2 and FUSE_NOTIFY_RESEND.
inline constexpr std::uint32_t kInitExt = 1u << 30;
inline constexpr std::uint32_t kHasResend = 1u << (39 - 32);
inline constexpr std::int32_t kNotifyResend = 7;

}  // namespace tallyfs::protocol
