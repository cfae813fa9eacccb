#include "tally/sbuf.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

// Bits of s_flags beyond what the caller said.
constexpr int kOwnsBuffer = 0x00010000, kOwnsItself = 0x00020000, kFinished = 0x00040000;
constexpr ptrdiff_t kBytesMin = 256;

// Room for `more` bytes and the end; false, and the error, if there is none.
bool make_room(sbuf* s, std::size_t more) {
  if (s->s_flags & kFinished && s->s_error == 0) s->s_error = EINVAL;
  if (s->s_error != 0) return false;
  if (more < static_cast<std::size_t>(s->s_size - s->s_len)) return true;
  const std::size_t wanted = static_cast<std::size_t>(s->s_len) + more + 1;
  if (!(s->s_flags & SBUF_AUTOEXTEND) || more > INT_MAX || wanted > INT_MAX) {
    s->s_error = ENOMEM;
    return false;
  }
  const std::size_t size =
      std::max(wanted, std::min(static_cast<std::size_t>(s->s_size) * 2, std::size_t{INT_MAX}));
  auto* const grown = static_cast<char*>(s->s_flags & kOwnsBuffer ? std::realloc(s->s_buf, size)
                                                                  : std::malloc(size));
  if (!grown) {
    s->s_error = ENOMEM;
    return false;
  }
  if (!(s->s_flags & kOwnsBuffer)) std::memcpy(grown, s->s_buf, static_cast<std::size_t>(s->s_len));
  s->s_buf = grown;
  s->s_size = static_cast<ptrdiff_t>(size);
  s->s_flags |= kOwnsBuffer;
  return true;
}

}  // namespace

struct sbuf* sbuf_new(struct sbuf* s, char* buf, int length, int flags) {
  if (!buf && flags & SBUF_AUTOEXTEND)
    length = static_cast<int>(std::max<ptrdiff_t>(length, kBytesMin));
  if (length <= 0) return nullptr;
  const bool owns_itself = !s;
  if (owns_itself) s = static_cast<struct sbuf*>(std::malloc(sizeof *s));
  if (!s) return nullptr;
  *s = {buf, 0, length, 0, flags & SBUF_AUTOEXTEND};
  if (owns_itself) s->s_flags |= kOwnsItself;
  if (!buf) {
    s->s_buf = static_cast<char*>(std::malloc(static_cast<std::size_t>(length)));
    s->s_flags |= kOwnsBuffer;
    if (!s->s_buf) {
      if (owns_itself) std::free(s);
      return nullptr;
    }
  }
  return s;
}

void sbuf_delete(struct sbuf* s) {
  if (!s) return;
  if (s->s_flags & kOwnsBuffer) std::free(s->s_buf);
  const bool owns_itself = s->s_flags & kOwnsItself;
  *s = {};
  if (owns_itself) std::free(s);
}

void sbuf_clear(struct sbuf* s) {
  s->s_len = 0;
  s->s_error = 0;
  s->s_flags &= ~kFinished;
}

int sbuf_bcat(struct sbuf* s, const void* bytes, size_t length) {
  if (!make_room(s, length)) {
    // The part that fits is appended, as FreeBSD's sbuf does.
    if (s->s_error != ENOMEM || s->s_flags & (SBUF_AUTOEXTEND | kFinished)) return -1;
    length = std::min(length, static_cast<std::size_t>(s->s_size - s->s_len - 1));
  }
  std::memcpy(s->s_buf + s->s_len, bytes, length);
  s->s_len += static_cast<ptrdiff_t>(length);
  return s->s_error == 0 ? 0 : -1;
}

int sbuf_cat(struct sbuf* s, const char* text) { return sbuf_bcat(s, text, std::strlen(text)); }

int sbuf_putc(struct sbuf* s, int c) {
  const char byte = static_cast<char>(c);
  return sbuf_bcat(s, &byte, 1);
}

int sbuf_vprintf(struct sbuf* s, const char* format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (length < 0 && s->s_error == 0) s->s_error = EINVAL;
  if (length < 0 || !make_room(s, static_cast<std::size_t>(length))) return -1;
  std::vsnprintf(s->s_buf + s->s_len, static_cast<std::size_t>(s->s_size - s->s_len), format,
                 arguments);
  s->s_len += length;
  return 0;
}

int sbuf_printf(struct sbuf* s, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int result = sbuf_vprintf(s, format, arguments);
  va_end(arguments);
  return result;
}

int sbuf_finish(struct sbuf* s) {
  s->s_buf[s->s_len] = '\0';
  s->s_flags |= kFinished;
  if (s->s_error == 0) return 0;
  errno = s->s_error;
  return -1;
}

int sbuf_error(const struct sbuf* s) { return s->s_error; }
char* sbuf_data(struct sbuf* s) { return s->s_buf; }
ptrdiff_t sbuf_len(struct sbuf* s) { return s->s_error != 0 ? -1 : s->s_len; }
int sbuf_done(const struct sbuf* s) { return (s->s_flags & kFinished) != 0; }
