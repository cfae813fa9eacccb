// Files of the mount, read and written with a time limit: a daemon that hangs blocks a system call
// for ever, so each is made by a helper of the calling thread, which is abandoned after the limit.
// It ends when the daemon goes on. Any thread may call these.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace tallyfs {

inline constexpr std::chrono::milliseconds kAnswerMax{2000};
// While so many abandoned threads are in the kernel, no further one is made: all fail at once.
inline constexpr int kAbandonedMax = 8;
// The most bytes that all current readings may have read together; a reading beyond it fails.
inline constexpr std::size_t kReadingBytesMax = 128 * 1024 * 1024;

// kTimedOut: no answer. kNoAccess, kNotFound, kNoDevice (the daemon is gone): the reason says what
// to do. kTooManyFiles: beyond kReadingBytesMax. All else kInvalid.
Result<std::string> read_in_time(const std::string& path,
                                 std::chrono::milliseconds limit = kAnswerMax);
// In one write(2), without the creation of a file. kInvalid: the errno's text, for a refused line.
Result<void> write_in_time(const std::string& path, std::string_view text,
                           std::chrono::milliseconds limit = kAnswerMax);
// The names in a directory, sorted, without "." and "..".
Result<std::vector<std::string>> list_in_time(const std::string& path,
                                              std::chrono::milliseconds limit = kAnswerMax);

// Whether there is a step that has not ended in its time: its thread may be in the kernel for as
// long as a daemon is stopped. Then the program ends by _Exit(), since nothing may wait for all
// threads (as LeakSanitizer does at exit()).
bool left_a_thread_behind();

}  // namespace tallyfs
