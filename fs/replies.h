// The reply to an expected failure: the one place that turns its code into an errno. Any thread.
#pragma once

#include "core/base/result.h"
#include "core/wire/errno.h"
#include "fs/protocol.h"
#include "fs/request_in_work.h"

namespace tallyfs {

inline Error gone() { return {ErrorCode::kStale, "it was removed meanwhile"}; }

// Whether a text is longer than it may be.
template <typename T>
bool is_too_long(const Result<T>& text) {
  return !text && text.error().code == ErrorCode::kNoSpace;
}

// The error of an open whose text failed. A text that is too long is an error of too many open
// files, which share its bound; any other error is the text's.
inline Error refusal_of_text(const Error& error) {
  if (error.code != ErrorCode::kNoSpace) return error;
  return {ErrorCode::kTooManyFiles, error.reason};
}

inline void reply_error(fuse_req_t request, const Error& error) {
  fuse_reply_err(request, wire::to_errno(error.code));
}

// 0: it is done.
inline int errno_of(const Result<void>& done) {
  return done ? 0 : wire::to_errno(done.error().code);
}

inline void reply_done(fuse_req_t request, const Result<void>& done) {
  fuse_reply_err(request, errno_of(done));
}

// All that the request at hand does is saved: it is not executed again, should a kill prevent its
// answer.
inline void keep_outcome(const Result<void>& done) { request_in_work.keep(errno_of(done)); }

}  // namespace tallyfs
