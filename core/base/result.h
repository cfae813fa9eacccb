// How core says that something did not work: an expected failure is an Error in a Result, never
// an exception and never a log line. The room that stops an error reports it; core/wire/errno.h
// maps its code to an errno. Values, without threads.
#pragma once

#include <boost/system/result.hpp>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

namespace tallyfs {

// What kind of failure; named after the errno that a writer gets to see.
enum class ErrorCode {
  kInvalid,       // EINVAL: the text or the bytes are wrong
  kNotFound,      // ENOENT: no such interface, statistic or file
  kNoTemplate,    // ESRCH: no such template of stats(3)
  kExists,        // EEXIST: the name is taken
  kNoSpace,       // ENOSPC: a quota or the memory ceiling
  kNotPermitted,  // EPERM: nobody may, or this uid may not
  kNoAccess,      // EACCES: the file's mode forbids it, root included
  kBusy,          // EBUSY: in use
  kTooBig,        // EFBIG: more text than a line may have
  kTooManyFiles,  // ENFILE: a bound of open files or of the bytes in them
  kNoDevice,      // ENODEV: what would have to be measured cannot be, here or by this kernel
  kStale,         // ESTALE: the id or node names something that is gone
  kTimedOut,      // ETIMEDOUT: who would have to do it does not answer
  kInterrupted,   // EINTR: whoever asked waits no longer, see Patience
};

// A failure, fit for the error log: REASON, and where in the offending text the caret goes.
struct Error {
  static constexpr std::size_t kNoToken = static_cast<std::size_t>(-1);

  ErrorCode code = ErrorCode::kInvalid;
  std::string reason;               // one line, no full stop: "period must be 1 or more"
  std::size_t token_at = kNoToken;  // byte offset of the offending token in the text, or kNoToken
  // What the error log shows instead of the file's directory, and of the text that was written
  // (token_at then counts in it); empty: nothing else.
  std::string location = {};
  std::string text = {};
};

inline Error invalid(std::string reason, std::size_t token_at = Error::kNoToken) {
  return {ErrorCode::kInvalid, std::move(reason), token_at};
}

// The error of a part, in the text that has the part at an offset: an error without a token has one
// then.
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
