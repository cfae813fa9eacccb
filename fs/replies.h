// The reply to an expected failure: the one place that turns its code into an errno. Any thread.
#pragma once

#include "core/base/result.h"
#include "core/wire/errno.h"
#include "fs/protocol.h"

namespace tallyfs {

inline Error gone() { return {ErrorCode::kStale, "it was removed meanwhile"}; }

inline void reply_error(fuse_req_t request, const Error& error) {
  fuse_reply_err(request, wire::to_errno(error.code));
}

inline void reply_done(fuse_req_t request, const Result<void>& done) {
  fuse_reply_err(request, done ? 0 : wire::to_errno(done.error().code));
}

}  // namespace tallyfs
