// Whether a sanitizer slows this build down. Tests that draw then draw fewer samples; the release
// build, which runs the same tests, draws all.
#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TALLY_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TALLY_SANITIZED 1
#endif
#ifndef TALLY_SANITIZED
#define TALLY_SANITIZED 0
#endif

namespace tallyfs {

inline constexpr bool kSanitized = TALLY_SANITIZED;

}  // namespace tallyfs
