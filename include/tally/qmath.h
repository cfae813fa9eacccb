/* Fixed-point numbers in the representation of FreeBSD's qmath(3), with its calls under its names.
 * Pure functions and macros: any thread. Header only. Longer than most: FreeBSD has one header, so
 * this is one.
 *
 * A Q number is an integer of 8 to 64 bits. From its least significant bit on it has 3 control
 * bits, the fraction, the integer part and, if the type is signed, a sign bit; what is negative is
 * stored as its absolute value with that bit set. The control bits give the bits of the fraction:
 * ((C & 3) + 1) times 2, or times 16 if C & 4, which is 2, 4, 6, 8, 16, 32, 48 or 64, of which
 * those count that fit into the type.
 *
 * A result keeps the fraction bits of the number that it is stored into, and drops digits beyond
 * them. Macros that take a Q number take a variable or expression of one of the types below; `q`
 * may be evaluated more than once.
 */
#ifndef TALLY_QMATH_H
#define TALLY_QMATH_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

typedef int8_t s8q_t;
typedef uint8_t u8q_t;
typedef int16_t s16q_t;
typedef uint16_t u16q_t;
typedef int32_t s32q_t;
typedef uint32_t u32q_t;
typedef int64_t s64q_t;
typedef uint64_t u64q_t;
typedef s64q_t smaxq_t;
typedef u64q_t umaxq_t;

__extension__ typedef __int128 tally_q_wide;
__extension__ typedef unsigned __int128 tally_q_uwide;

/* What the functions below work on: bits, whether signed, and the number itself in the low bits. */
struct tally_q {
  uint64_t raw;
  uint32_t bits;
  int is_signed;
};

#define Q_NCBITS ((uint32_t)3)
#define Q_BT(q) __typeof__(q)
#define Q_TC(q, v) ((__typeof__(q))(v))
#define Q_SIGNED(q) ((__typeof__(q))-1 < (__typeof__(q))1)
#define Q_NTBITS(q) ((uint32_t)(sizeof(q) * 8))
#define Q_GCRAW(q) ((uint32_t)((uint64_t)(q)&7u))
#define Q_GCVAL(q) Q_GCRAW(q)
#define Q_MINNFBITS(q) ((uint32_t)2)
#define Q_SIGNSHFT(q) ((uint32_t)(Q_NTBITS(q) - 1))
#define Q_NFCBITS(q) tally_q_fraction_coded((uint64_t)(q))
#define Q_MAXNFBITS(q) ((uint32_t)(Q_NTBITS(q) - Q_NCBITS - (uint32_t)Q_SIGNED(q)))
#define Q_NFBITS(q) tally_q_fraction(TALLY_Q_(q))
#define Q_NIBITS(q) ((uint32_t)(Q_MAXNFBITS(q) - Q_NFBITS(q)))
#define Q_RPSHFT(q) ((uint32_t)(Q_NCBITS + Q_NFBITS(q)))
/* Of an integer, too: is its highest bit a sign, and set? */
#define Q_LTZ(n) (Q_SIGNED(n) && ((uint64_t)(n) >> Q_SIGNSHFT(n) & 1) != 0)
/* Without its sign: of an integer, of a Q number. */
#define Q_ABS(n) ((__typeof__(n))tally_q_absolute((uint64_t)(n), Q_LTZ(n)))
#define Q_QABS(q) Q_TC(q, tally_q_with_sign(TALLY_Q_(q), 0))
/* The integer part, with its sign; the bits of the fraction. */
#define Q_GIVAL(q) ((__typeof__(q))tally_q_integer(TALLY_Q_(q)))
#define Q_GFABSVAL(q) tally_q_fraction_value(TALLY_Q_(q))
#define Q_GFVAL(q) ((__typeof__(q))(Q_LTZ(q) ? -(int64_t)Q_GFABSVAL(q) : (int64_t)Q_GFABSVAL(q)))

/* Masks of the control, sign, integer and fraction bits; IF: of the latter two together. RAW: where
 * they stand in the number. VAL: as a value of its own. */
#define Q_CRAWMASK(q) ((uint64_t)7)
#define Q_SRAWMASK(q) ((uint64_t)1 << Q_SIGNSHFT(q))
#define Q_IFRAWMASK(q) Q_TC(q, tally_q_magnitude_max(TALLY_Q_(q)) << 3)
#define Q_IRAWMASK(q) Q_TC(q, tally_q_integer_mask(TALLY_Q_(q)) << 3)
#define Q_FRAWMASK(q) Q_TC(q, tally_q_fraction_mask(TALLY_Q_(q)) << 3)
#define Q_IFVALIMASK(q) Q_TC(q, ~tally_q_fraction_mask(TALLY_Q_(q)))
#define Q_IFVALFMASK(q) Q_TC(q, tally_q_fraction_mask(TALLY_Q_(q)))
#define Q_IFMAXVAL(q) Q_TC(q, tally_q_magnitude_max(TALLY_Q_(q)))
#define Q_IFMINVAL(q) Q_TC(q, Q_SIGNED(q) ? 0 - tally_q_magnitude_max(TALLY_Q_(q)) : 0)
#define Q_IMAXVAL(q) Q_TC(q, tally_q_magnitude_max(TALLY_Q_(q)) >> Q_NFBITS(q))
#define Q_IMINVAL(q) Q_TC(q, Q_SIGNED(q) ? 0 - (uint64_t)Q_IMAXVAL(q) : 0)
#define Q_FMAXVAL(q) Q_IFVALFMASK(q)
/* The parts of q under these masks, and their values, without and with the sign. */
#define Q_GIFRAW(q) Q_TC(q, tally_q_magnitude(TALLY_Q_(q)) << 3)
#define Q_GIFABSVAL(q) Q_TC(q, tally_q_magnitude(TALLY_Q_(q)))
#define Q_GIFVAL(q) Q_TC(q, tally_q_value(TALLY_Q_(q)))
#define Q_GIRAW(q) \
  Q_TC(q, (tally_q_magnitude(TALLY_Q_(q)) & tally_q_integer_mask(TALLY_Q_(q))) << 3)
#define Q_GIABSVAL(q) Q_TC(q, tally_q_magnitude(TALLY_Q_(q)) >> Q_NFBITS(q))
#define Q_GFRAW(q) Q_TC(q, tally_q_fraction_value(TALLY_Q_(q)) << 3)
/* Sets control bits; the sign; the integer and fraction bits together, each, and one of them; those
 * that take a value take its sign, too. */
#define Q_SCVAL(q, control) \
  ((q) = Q_TC(q, ((uint64_t)(q) & ~(uint64_t)7) | ((uint64_t)(control)&7)))
#define Q_SSIGN(q, is_negative) ((q) = Q_TC(q, tally_q_with_sign(TALLY_Q_(q), (is_negative) != 0)))
#define Q_SIFVAL(q, ifv) TALLY_Q_PUT_(q, TALLY_Q_ABS_(ifv), Q_LTZ(ifv))
#define Q_SIFVALS(q, iv, fv) \
  TALLY_Q_PUT_(q, TALLY_Q_ABS_(iv) << Q_NFBITS(q) | TALLY_Q_ABS_(fv), Q_LTZ(iv) || Q_LTZ(fv))
#define Q_SIVAL(q, iv) \
  TALLY_Q_PUT_(q, TALLY_Q_ABS_(iv) << Q_NFBITS(q) | tally_q_fraction_value(TALLY_Q_(q)), Q_LTZ(iv))
#define Q_SFVAL(q, fv)                                                                            \
  TALLY_Q_PUT_(                                                                                   \
      q, (tally_q_magnitude(TALLY_Q_(q)) & tally_q_integer_mask(TALLY_Q_(q))) | TALLY_Q_ABS_(fv), \
      Q_LTZ(fv))
/* The integer iv, moved to where q's integer bits are among its integer and fraction bits. */
#define Q_SHL(q, iv) Q_TC(q, tally_q_absolute(TALLY_Q_ABS_(iv) << Q_NFBITS(q), Q_LTZ(iv)))
/* How many bits of fraction a has more than b. */
#define Q_RELPREC(a, b) ((int)Q_NFBITS(a) - (int)Q_NFBITS(b))
/* 0, or ERANGE: *a and b differ in their bits of fraction. The calls below do not mind. */
#define Q_NORMPREC(a, b) (Q_PRECEQ(*(a), b) ? 0 : ERANGE)
/* 0, or EOVERFLOW: b's type and bits of fraction have no place for the value of a, of the integer
 * i. */
#define Q_QCANREPQ(a, b) tally_q_can_hold(TALLY_Q_(b), TALLY_Q_(a))
#define Q_QCANREPI(q, i) \
  ((Q_LTZ(i) && !Q_SIGNED(q)) || TALLY_Q_ABS_(i) > (uint64_t)Q_IMAXVAL(q) ? EOVERFLOW : 0)

/* Control bits for at least `rpshft` (1 to 64) bits of fraction. */
#define Q_CTRLINI(rpshft) tally_q_control((uint32_t)(rpshft))

/* *q = iv.dfv, with at least rpshft bits of fraction. dfv is a literal, whose leading zeros count:
 * Q_INI(&pi, 3, 14159, 16). What does not fit becomes the largest number of that sign. Returns
 * *q. */
#define Q_INI(q, iv, dfv, rpshft)                                                     \
  (*(q) = (__typeof__(*(q)))Q_CTRLINI(rpshft),                                        \
   *(q) = (__typeof__(*(q)))tally_q_from_decimal(TALLY_Q_(*(q)), (int64_t)(iv), #dfv, \
                                                 Q_CTRLINI(rpshft)))
/* The bits of a fraction that is given by its decimals: Q_DFV2BFV(5, 8) is 128. */
#define Q_DFV2BFV(dfv, nfbits) tally_q_decimals(#dfv, (uint32_t)(nfbits))

/* a OP= b, with the fraction bits of a. 0; EOVERFLOW: the result has no room in *a, which stays;
 * EINVAL: b is 0. */
#define Q_QADDQ(a, b) TALLY_Q_CHANGE_(a, tally_q_add, TALLY_Q_(b), 1)
#define Q_QSUBQ(a, b) TALLY_Q_CHANGE_(a, tally_q_add, TALLY_Q_(b), -1)
#define Q_QMULQ(a, b) TALLY_Q_CHANGE_(a, tally_q_multiply, TALLY_Q_(b), 0)
#define Q_QDIVQ(a, b) TALLY_Q_CHANGE_(a, tally_q_divide, TALLY_Q_(b), 0)
/* The same with an integer. */
#define Q_QADDI(a, i) TALLY_Q_CHANGE_(a, tally_q_add, TALLY_Q_OF_INTEGER_(i), 1)
#define Q_QSUBI(a, i) TALLY_Q_CHANGE_(a, tally_q_add, TALLY_Q_OF_INTEGER_(i), -1)
#define Q_QMULI(a, i) TALLY_Q_CHANGE_(a, tally_q_multiply, TALLY_Q_OF_INTEGER_(i), 0)
#define Q_QDIVI(a, i) TALLY_Q_CHANGE_(a, tally_q_divide, TALLY_Q_OF_INTEGER_(i), 0)
/* *a = n / d, where *a has room for n. */
#define Q_QFRACI(a, n, d) TALLY_Q_CHANGE_(a, tally_q_fraction_of, TALLY_Q_OF_INTEGER_(n), d)
/* *a = b's value, or the integer i, with the fraction bits of a. */
#define Q_QCPYVALQ(a, b) TALLY_Q_CHANGE_(a, tally_q_set, TALLY_Q_(b), 0)
#define Q_QCPYVALI(a, i) TALLY_Q_CHANGE_(a, tally_q_set, TALLY_Q_OF_INTEGER_(i), 0)
/* *a = b, with the control bits of b. */
#define Q_QCLONEQ(a, b) TALLY_Q_CHANGE_(a, tally_q_set, TALLY_Q_(b), 1)

/* By value, whatever their fraction bits. */
#define Q_QLTQ(a, b) (tally_q_compare(TALLY_Q_(a), TALLY_Q_(b)) < 0)
#define Q_QLEQ(a, b) (tally_q_compare(TALLY_Q_(a), TALLY_Q_(b)) <= 0)
#define Q_QGTQ(a, b) (tally_q_compare(TALLY_Q_(a), TALLY_Q_(b)) > 0)
#define Q_QGEQ(a, b) (tally_q_compare(TALLY_Q_(a), TALLY_Q_(b)) >= 0)
#define Q_QEQ(a, b) (tally_q_compare(TALLY_Q_(a), TALLY_Q_(b)) == 0)
#define Q_QNEQ(a, b) (!Q_QEQ(a, b))
/* a OP b by one operator, given twice: Q_QCMPQ(a, b, <, <=) is a <= b. */
#define Q_QCMPQ(a, b, whole, last) (tally_q_compare(TALLY_Q_(a), TALLY_Q_(b)) last 0)
#define Q_QMAXQ(a, b) (Q_QGTQ(a, b) ? (a) : (b))
#define Q_QMINQ(a, b) (Q_QLTQ(a, b) ? (a) : (b))
#define Q_PRECEQ(a, b) (Q_NFBITS(a) == Q_NFBITS(b))

#define Q_Q2D(q) tally_q_double(TALLY_Q_(q))
#define Q_Q2F(q) ((float)Q_Q2D(q))

/* Bits that a digit of base stands for, rounded DOWN or UP; characters for so many bits of an
 * integer, of a fraction. */
#define Q_BITSPERBASEDOWN(base) tally_q_bits_per_digit((uint32_t)(base), 0)
#define Q_BITSPERBASEUP(base) tally_q_bits_per_digit((uint32_t)(base), 1)
#define Q_BITSPERBASE(base, rounded) Q_BITSPERBASE##rounded(base)
#define Q_NIBITS2NCHARS(nbits, base) \
  (((int)(nbits) + Q_BITSPERBASEDOWN(base) - 1) / Q_BITSPERBASEDOWN(base))
#define Q_NFBITS2NCHARS(nbits, base) (nbits)
/* The last digit of the integer `bits`, which loses it; the first of the fraction `bits` of q. */
#define Q_IBITS2CH(q, bits, base)                                  \
  __extension__({                                                  \
    const uint64_t tally_q_bits_ = (uint64_t)(bits);               \
    (bits) = (__typeof__(bits))(tally_q_bits_ / (uint64_t)(base)); \
    "0123456789abcdef"[tally_q_bits_ % (uint64_t)(base)];          \
  })
#define Q_FBITS2CH(q, bits, base)                                                              \
  __extension__({                                                                              \
    const tally_q_uwide tally_q_next_ = (tally_q_uwide)(uint64_t)(bits) * (uint64_t)(base);    \
    (bits) = (__typeof__(bits))((uint64_t)tally_q_next_ & tally_q_fraction_mask(TALLY_Q_(q))); \
    "0123456789abcdef"[(size_t)(tally_q_next_ >> Q_NFBITS(q))];                                \
  })
/* The arguments of a printf() that shows all of q: printf(Q_DEBUG(q, "", "\n", 0)). */
#define Q_DEBUG(q, prefmt, postfmt, incfmt)                                                        \
  Q_DEBUGFMT(q, prefmt, postfmt), #q, (const void*)&(q), Q_SIGNED(q) ? 's' : 'u',                  \
      (int)Q_NTBITS(q), (int)Q_NIBITS(q), (int)Q_NFBITS(q), (int)Q_RPSHFT(q),                      \
      (unsigned long long)TALLY_Q_(q).raw, Q_LTZ(q) ? "-" : "", (unsigned long long)Q_GIABSVAL(q), \
      (unsigned long long)Q_GFABSVAL(q), (incfmt) ? " (a Q number)" : ""
#define Q_DEBUGFMT(q, prefmt, postfmt)                                              \
  prefmt                                                                            \
      "\"%s\"@%p: type=%c%dq_t, Qm.n=Q%d.%d, rpshft=%d, qraw=0x%llx, ival=%s%llu, " \
      "fabsval=%llu%s" postfmt

/* Characters that Q_TOSTR may need, with the end, in base 2 to 16. */
#define Q_MAXSTRLEN(q, base) ((uint32_t)(sizeof(q) * 16 + 3))
/* The number in base 2 to 16 with `prec` digits after the point, -1 for as many as it has bits of
 * fraction, with which a decimal is exact. Returns where the end was written, or NULL if slen is
 * too small or base out of range; *s is empty then. */
#define Q_TOSTR(q, prec, base, s, slen) tally_q_print(TALLY_Q_(q), prec, base, s, slen)

/* ---- What the macros are made of; not to be called by others. ---- */

#define TALLY_Q_(q) tally_q_of((uint64_t)(q), Q_NTBITS(q), Q_SIGNED(q))
#define TALLY_Q_OF_INTEGER_(i) tally_q_of_integer((int64_t)(i))
#define TALLY_Q_ABS_(n) tally_q_absolute((uint64_t)(n), Q_LTZ(n))
#define TALLY_Q_PUT_(q, magnitude, is_negative) \
  ((q) = Q_TC(q, tally_q_put(TALLY_Q_(q), magnitude, is_negative)))
#define TALLY_Q_CHANGE_(a, operation, b, sign)                  \
  __extension__({                                               \
    struct tally_q tally_q_a_ = TALLY_Q_(*(a));                 \
    const int tally_q_error_ = operation(&tally_q_a_, b, sign); \
    *(a) = (__typeof__(*(a)))tally_q_a_.raw;                    \
    tally_q_error_;                                             \
  })

static inline struct tally_q tally_q_of(uint64_t raw, uint32_t bits, int is_signed) {
  struct tally_q q;
  q.raw = bits == 64 ? raw : raw & (((uint64_t)1 << bits) - 1);
  q.bits = bits;
  q.is_signed = is_signed;
  return q;
}

static inline uint32_t tally_q_fraction_coded(uint64_t raw) {
  return ((uint32_t)(raw & 3) + 1) * ((raw & 4) != 0 ? 16u : 2u);
}

static inline uint32_t tally_q_control(uint32_t rpshft) {
  if (rpshft <= 1) return 0;
  return rpshft <= 8 ? (rpshft - 1) >> 1 : 4 | ((rpshft - 1) >> 4 & 3);
}

static inline uint32_t tally_q_fraction(struct tally_q q) {
  const uint32_t coded = tally_q_fraction_coded(q.raw), room = q.bits - 3 - (uint32_t)q.is_signed;
  return coded < room ? coded : room;
}

static inline uint64_t tally_q_magnitude_max(struct tally_q q) {
  return ~(uint64_t)0 >> (64 - (q.bits - 3 - (uint32_t)q.is_signed));
}

/* The bits of the integer and the fraction; masks of both. */
static inline uint64_t tally_q_magnitude(struct tally_q q) {
  return q.raw >> 3 & tally_q_magnitude_max(q);
}
static inline uint64_t tally_q_fraction_mask(struct tally_q q) {
  return ((uint64_t)1 << tally_q_fraction(q)) - 1;
}
static inline uint64_t tally_q_integer_mask(struct tally_q q) {
  return tally_q_magnitude_max(q) & ~tally_q_fraction_mask(q);
}

static inline uint64_t tally_q_absolute(uint64_t bits, int is_negative) {
  return is_negative ? 0 - bits : bits;
}

static inline uint64_t tally_q_with_sign(struct tally_q q, int is_negative) {
  const uint64_t sign = (uint64_t)1 << (q.bits - 1);
  if (!q.is_signed) return q.raw;
  return is_negative ? q.raw | sign : q.raw & ~sign;
}

/* q with this magnitude and sign; bits that it has no room for are dropped. */
static inline uint64_t tally_q_put(struct tally_q q, uint64_t magnitude, int is_negative) {
  q.raw = (magnitude & tally_q_magnitude_max(q)) << 3 | (q.raw & 7);
  return tally_q_with_sign(q, is_negative);
}

/* The number times 2 to the power of its fraction bits. */
static inline tally_q_wide tally_q_value(struct tally_q q) {
  const tally_q_wide magnitude = (tally_q_wide)(q.raw >> 3 & tally_q_magnitude_max(q));
  return q.is_signed && (q.raw >> (q.bits - 1) & 1) != 0 ? -magnitude : magnitude;
}

/* Stores such a value; 0, or EOVERFLOW and nothing. */
static inline int tally_q_store(struct tally_q* q, tally_q_wide value) {
  const tally_q_wide magnitude = value < 0 ? -value : value;
  if (magnitude > (tally_q_wide)tally_q_magnitude_max(*q) || (value < 0 && !q->is_signed))
    return EOVERFLOW;
  q->raw = (uint64_t)magnitude << 3 | (q->raw & 7);
  if (value < 0) q->raw |= (uint64_t)1 << (q->bits - 1);
  return 0;
}

static inline int64_t tally_q_integer(struct tally_q q) {
  const tally_q_wide value = tally_q_value(q);
  const uint32_t fraction = tally_q_fraction(q);
  return value < 0 ? -(int64_t)(-value >> fraction) : (int64_t)(value >> fraction);
}

static inline uint64_t tally_q_fraction_value(struct tally_q q) {
  return (q.raw >> 3 & tally_q_magnitude_max(q)) & (((uint64_t)1 << tally_q_fraction(q)) - 1);
}

/* b's value with `fraction` bits of fraction, digits beyond them dropped; at most 2^124. */
static inline tally_q_wide tally_q_scaled(struct tally_q b, uint32_t fraction) {
  const uint32_t has = tally_q_fraction(b);
  const tally_q_wide value = tally_q_value(b), magnitude = value < 0 ? -value : value;
  const tally_q_wide scaled = has > fraction
                                  ? magnitude >> (has - fraction)
                                  : (tally_q_wide)((tally_q_uwide)magnitude << (fraction - has));
  return value < 0 ? -scaled : scaled;
}

/* An integer, as a number of 2 bits of fraction that has room for the larger ones too. */
static inline struct tally_q tally_q_of_integer(int64_t i) {
  struct tally_q q = tally_q_of(0, 64, 1);
  const tally_q_wide most = (tally_q_wide)(tally_q_magnitude_max(q) >> 2) << 2;
  tally_q_wide value = (tally_q_wide)i * 4;
  if (value > most) value = most;
  if (value < -most) value = -most;
  tally_q_store(&q, value);
  return q;
}

static inline int tally_q_add(struct tally_q* a, struct tally_q b, int sign) {
  return tally_q_store(a, tally_q_value(*a) + sign * tally_q_scaled(b, tally_q_fraction(*a)));
}

static inline int tally_q_set(struct tally_q* a, struct tally_q b, int is_clone) {
  struct tally_q made = *a;
  int error;
  if (is_clone) made.raw = (made.raw & ~(uint64_t)7) | (b.raw & 7);
  error = tally_q_store(&made, tally_q_scaled(b, tally_q_fraction(made)));
  if (error == 0) *a = made;
  return error;
}

static inline int tally_q_multiply(struct tally_q* a, struct tally_q b, int unused) {
  const tally_q_wide product = tally_q_value(*a) * tally_q_value(b); /* of 61 bits each */
  const uint32_t fraction = tally_q_fraction(b);
  (void)unused;
  return tally_q_store(a, product < 0 ? -(-product >> fraction) : product >> fraction);
}

static inline int tally_q_divide(struct tally_q* a, struct tally_q b, int unused) {
  const tally_q_wide divisor = tally_q_value(b);
  (void)unused;
  if (divisor == 0) return EINVAL;
  /* 61 bits and at most 61 of fraction: it fits. */
  return tally_q_store(a, tally_q_value(*a) * ((tally_q_wide)1 << tally_q_fraction(b)) / divisor);
}

static inline int tally_q_fraction_of(struct tally_q* a, struct tally_q n, int64_t d) {
  struct tally_q made = *a;
  int error = tally_q_set(&made, n, 0);
  if (error == 0) error = tally_q_divide(&made, TALLY_Q_OF_INTEGER_(d), 0);
  if (error == 0) *a = made;
  return error;
}

static inline int tally_q_compare(struct tally_q a, struct tally_q b) {
  const uint32_t fa = tally_q_fraction(a), fb = tally_q_fraction(b), fraction = fa > fb ? fa : fb;
  const tally_q_wide x = tally_q_scaled(a, fraction), y = tally_q_scaled(b, fraction);
  return x < y ? -1 : x > y;
}

static inline int tally_q_can_hold(struct tally_q q, struct tally_q value) {
  const tally_q_wide scaled = tally_q_scaled(value, tally_q_fraction(q));
  const int is_whole =
      tally_q_fraction(value) <= tally_q_fraction(q) ||
      tally_q_scaled(value, tally_q_fraction(value)) ==
          scaled * ((tally_q_wide)1 << (tally_q_fraction(value) - tally_q_fraction(q)));
  return is_whole && tally_q_store(&q, scaled) == 0 ? 0 : EOVERFLOW;
}

static inline double tally_q_double(struct tally_q q) {
  double scale = 1;
  for (uint32_t i = tally_q_fraction(q); i > 0; --i) scale *= 0.5;
  return (double)tally_q_value(q) * scale;
}

/* Of 0.DIGITS so many bits behind the point; at most 18 digits count. */
static inline uint64_t tally_q_decimals(const char* digits, uint32_t bits) {
  tally_q_wide fraction = 0, tenth = 1;
  int places = 0;
  for (; *digits >= '0' && *digits <= '9' && places < 18; ++digits, ++places) {
    fraction = fraction * 10 + (*digits - '0');
    tenth *= 10;
  }
  return (uint64_t)((tally_q_wide)((tally_q_uwide)fraction << bits) / tenth);
}

static inline uint64_t tally_q_from_decimal(struct tally_q q, int64_t iv, const char* digits,
                                            uint32_t control) {
  tally_q_wide value;
  q.raw = control;
  value =
      (iv < 0 ? -(tally_q_wide)iv : (tally_q_wide)iv) * ((tally_q_wide)1 << tally_q_fraction(q)) +
      tally_q_decimals(digits, tally_q_fraction(q));
  if (value > (tally_q_wide)tally_q_magnitude_max(q))
    value = (tally_q_wide)tally_q_magnitude_max(q);
  tally_q_store(&q, iv < 0 ? -value : value);
  return q.raw;
}

static inline int tally_q_bits_per_digit(uint32_t base, int rounded_up) {
  int bits = 0;
  while (base >> (bits + 1) != 0) ++bits;
  return bits + (rounded_up && base != (uint32_t)1 << bits ? 1 : 0);
}

static inline char* tally_q_print(struct tally_q q, int prec, int base, char* s, int slen) {
  static const char kDigits[] = "0123456789abcdef";
  const uint32_t fraction = tally_q_fraction(q);
  const tally_q_wide value = tally_q_value(q);
  uint64_t rest = tally_q_fraction_value(q),
           whole = (uint64_t)((value < 0 ? -value : value) >> fraction);
  const uint64_t unit_mask = ((uint64_t)1 << fraction) - 1;
  char reversed[64];
  int digits = 0, at = 0;
  if (s == NULL || slen <= 0) return NULL;
  *s = '\0';
  if (base < 2 || base > 16 || prec < -1) return NULL;
  if (prec == -1) prec = (int)fraction;
  do {
    reversed[digits++] = kDigits[whole % (uint64_t)base];
    whole /= (uint64_t)base;
  } while (whole != 0);
  if (slen - 1 < (value < 0) + digits + (prec > 0) ||
      prec > slen - 1 - (value < 0) - digits - (prec > 0))
    return NULL;
  if (value < 0) s[at++] = '-';
  while (digits > 0) s[at++] = reversed[--digits];
  if (prec > 0) s[at++] = '.';
  for (; prec > 0; --prec) {
    const tally_q_uwide next = (tally_q_uwide)rest * (tally_q_uwide)base;
    s[at++] = kDigits[(size_t)(next >> fraction)];
    rest = (uint64_t)next & unit_mask;
  }
  s[at] = '\0';
  return s + at;
}

#endif
