/* Strings that grow or say that they were too short: the part of FreeBSD's sbuf(9) that callers of
 * stats(3) need, under its names. An sbuf is confined to one thread at a time.
 *
 *   struct sbuf *text = sbuf_new_auto();
 *   stats_blob_tostr(blob, text, SB_STRFMT_JSON, 0);
 *   sbuf_finish(text);
 *   puts(sbuf_data(text));
 *   sbuf_delete(text);
 *
 * The first error stays: what is appended after it is dropped, and sbuf_error() and sbuf_finish()
 * tell it. A text has at most 2 GiB.
 */
#ifndef TALLY_SBUF_H
#define TALLY_SBUF_H

#include <stdarg.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef TALLY_EXPORT
#define TALLY_EXPORT __attribute__((visibility("default")))
#endif

#define SBUF_FIXEDLEN 0x00000000
#define SBUF_AUTOEXTEND 0x00000001

/* Members are the library's; programs allocate an sbuf on their stack for sbuf_new(). */
struct sbuf {
  char *s_buf;
  int s_error; /* 0, or the errno of the first failure */
  ptrdiff_t s_size;
  ptrdiff_t s_len;
  int s_flags;
};

/* s: an sbuf of the caller's, or NULL for one that sbuf_delete() frees. buf: `length` bytes of the
 * caller's for text and end, or NULL to have them allocated. flags: SBUF_FIXEDLEN, or
 * SBUF_AUTOEXTEND to grow as needed (a buf of the caller's is left for a larger one then). NULL: no
 * memory, or length is not positive with SBUF_FIXEDLEN. */
TALLY_EXPORT struct sbuf *sbuf_new(struct sbuf *s, char *buf, int length, int flags);

static inline struct sbuf *sbuf_new_auto(void) { return sbuf_new(NULL, NULL, 0, SBUF_AUTOEXTEND); }

TALLY_EXPORT void sbuf_delete(struct sbuf *s);
/* Empties it, error included. */
TALLY_EXPORT void sbuf_clear(struct sbuf *s);

/* 0, or -1 once the text did not fit (the error is ENOMEM) or sbuf_finish() was called (EINVAL). */
TALLY_EXPORT int sbuf_bcat(struct sbuf *s, const void *bytes, size_t length);
TALLY_EXPORT int sbuf_cat(struct sbuf *s, const char *text);
TALLY_EXPORT int sbuf_putc(struct sbuf *s, int c);
TALLY_EXPORT int sbuf_printf(struct sbuf *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
TALLY_EXPORT int sbuf_vprintf(struct sbuf *s, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

/* Ends the text with a NUL. 0, or -1 with errno set to sbuf_error(). */
TALLY_EXPORT int sbuf_finish(struct sbuf *s);
/* 0, or the errno of the first failure: ENOMEM when a fixed buffer is full. */
TALLY_EXPORT int sbuf_error(const struct sbuf *s);
/* Of a finished sbuf; valid until it is changed or deleted. */
TALLY_EXPORT char *sbuf_data(struct sbuf *s);
/* Bytes without the end; -1 after an error. */
TALLY_EXPORT ptrdiff_t sbuf_len(struct sbuf *s);
TALLY_EXPORT int sbuf_done(const struct sbuf *s);

#ifdef __cplusplus
}
#endif

#endif
