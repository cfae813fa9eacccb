// How a call reports failure: an expected failure is an Error in a Result, never an exception and
// never a log line. The room that handles an Error reports it; core/wire/errno.h maps its code to
// an errno. Values, without threads.
#pragma once

#include <boost/system/result.hpp>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

namespace tallyfs {

// The kind of failure, named after the errno that a writer gets.
enum class ErrorCode {
  kInvalid,       // EINVAL: the text or the bytes are wrong
  kNotFound,      // ENOENT: no such interface, statistic or file
  kNoTemplate,    // ESRCH: no such template of stats(3)
  kExists,        // EEXIST: the name is taken
  kNoSpace,       // ENOSPC: a quota or the memory ceiling
  kNotPermitted,  // EPERM: not allowed to any uid, or not to this one
  kNoAccess,      // EACCES: the file's mode forbids it, root included
  kBusy,          // EBUSY: in use
  kTooBig,        // EFBIG: more text than a line may have
  kTooManyFiles,  // ENFILE: a bound of open files or of the bytes in them
  kNoDevice,      // ENODEV: this kernel or this machine cannot measure it
  kStale,         // ESTALE: the id or node was removed
  kTimedOut,      // ETIMEDOUT: another process does not answer
  kInterrupted,   // EINTR: the call was cancelled, see CancellationToken
};

// A failure, fit for the error log: its reason, and the place of the caret in the offending text.
struct Error {
  static constexpr std::size_t kNoToken = static_cast<std::size_t>(-1);

  ErrorCode code = ErrorCode::kInvalid;
  std::string reason;               // one line, no full stop: "period must be 1 or more"
  std::size_t token_at = kNoToken;  // byte offset of the offending token in the text, or kNoToken
  // The error log shows these instead of the file's directory and instead of the text that was
  // written (token_at then counts in it). Empty: the directory, and the text that was written.
  std::string location = {};
  std::string text = {};
};

inline Error invalid(std::string reason, std::size_t token_at = Error::kNoToken) {
  return {ErrorCode::kInvalid, std::move(reason), token_at};
}

// Converts an error of a part of a text to an error of the whole text, in which the part begins at
// the offset. An error without a token gets one: the start of the part.
inline Error error_at(Error error, std::size_t offset) {
  error.token_at = error.token_at == Error::kNoToken ? offset : error.token_at + offset;
  return error;
}

// Called by value() on a Result that holds an Error: a broken invariant, not an expected failure.
[[noreturn]] inline void throw_exception_from_error(const Error& error,
                                                    const boost::source_location&) {
  std::fprintf(stderr, "tallyfs: value() of a failed Result: %s\n", error.reason.c_str());
  std::abort();
}

// A T or an Error; the type itself is [[nodiscard]]. boost::system::result serves.
template <typename T>
using Result = boost::system::result<T, Error>;

}  // namespace tallyfs
