// The one place where an ErrorCode becomes the errno that a write(2) or a response carries.
#pragma once

#include <cerrno>

#include "core/base/result.h"

namespace tallyfs::wire {

constexpr int to_errno(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid:
      return EINVAL;
    case ErrorCode::kNotFound:
      return ENOENT;
    case ErrorCode::kNoTemplate:
      return ESRCH;
    case ErrorCode::kExists:
      return EEXIST;
    case ErrorCode::kNoSpace:
      return ENOSPC;
    case ErrorCode::kNotPermitted:
      return EPERM;
    case ErrorCode::kNoAccess:
      return EACCES;
    case ErrorCode::kBusy:
      return EBUSY;
    case ErrorCode::kTooBig:
      return EFBIG;
    case ErrorCode::kTooManyFiles:
      return ENFILE;
    case ErrorCode::kNoDevice:
      return ENODEV;
    case ErrorCode::kStale:
      return ESTALE;
    case ErrorCode::kTimedOut:
      return ETIMEDOUT;
    case ErrorCode::kInterrupted:
      return EINTR;
  }
  return EIO;
}

}  // namespace tallyfs::wire
