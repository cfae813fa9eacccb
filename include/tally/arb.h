/* Reading FreeBSD's array-based trees, arb(3): the names that a caller of stats(3) needs to walk
 * through the centroids of a t-digest. There is no inserting and removing here; the library keeps
 * the trees. Nodes stand in an array and name each other by index, -1 for none; free ones are of no
 * colour and linked by their right members. The layout is FreeBSD's, but what is padding there: in
 * the first node it says whether this library built the tree. Those stand in the array in their
 * order, are shallow (at most 15 levels) and all black: ordered, but not balanced by the rules of
 * red and black.
 */
#ifndef TALLY_ARB_H
#define TALLY_ARB_H

#include <stddef.h>
#include <stdint.h>

#define ARB_NULLIDX (-1)
#define ARB_BLACK 0
#define ARB_RED 1

#define ARB_NOCOLOR (-1) /* of a free node */

#define TALLY_ARB_ENTRY_(bits, padding) \
  struct {                              \
    int##bits##_t arbe_parent;          \
    int##bits##_t arbe_left;            \
    int##bits##_t arbe_right;           \
    int8_t arbe_color;                  \
    padding                             \
  }
#define ARB8_ENTRY() TALLY_ARB_ENTRY_(8, )
#define ARB16_ENTRY() TALLY_ARB_ENTRY_(16, uint8_t arbe_is_ours;)
#define ARB32_ENTRY() TALLY_ARB_ENTRY_(32, uint8_t arbe_is_ours[3];)

/* padding: a member before the nodes, for those that stand at multiples of 8 bytes. */
#define TALLY_ARB_HEAD_(name, type, bits, padding)  \
  struct name {                                     \
    int##bits##_t arb_curnodes;                     \
    int##bits##_t arb_maxnodes;                     \
    int##bits##_t arb_root_idx;                     \
    int##bits##_t arb_free_idx;                     \
    int##bits##_t arb_min_idx;                      \
    int##bits##_t arb_max_idx;                      \
    padding __extension__ struct type arb_nodes[0]; \
  }
#define ARB8_HEAD(name, type) TALLY_ARB_HEAD_(name, type, 8, )
#define ARB16_HEAD(name, type) TALLY_ARB_HEAD_(name, type, 16, )
#define ARB32_HEAD(name, type) TALLY_ARB_HEAD_(name, type, 32, )

#define ARB_ALLOCSIZE(head, maxn, elm) (sizeof(*(head)) + (size_t)(maxn) * sizeof(*(elm)))
#define ARB_MAXNODES(head) ((head)->arb_maxnodes)
#define ARB_CURNODES(head) ((head)->arb_curnodes)
#define ARB_ROOTIDX(head) ((head)->arb_root_idx)
#define ARB_FREEIDX(head) ((head)->arb_free_idx)
#define ARB_MINIDX(head) ((head)->arb_min_idx)
#define ARB_MAXIDX(head) ((head)->arb_max_idx)
#define ARB_EMPTY(head) (ARB_CURNODES(head) == 0)
#define ARB_FULL(head) (ARB_CURNODES(head) >= ARB_MAXNODES(head))
#define ARB_PARENTIDX(elm, field) ((elm)->field.arbe_parent)
#define ARB_LEFTIDX(elm, field) ((elm)->field.arbe_left)
#define ARB_RIGHTIDX(elm, field) ((elm)->field.arbe_right)
#define ARB_COLOR(elm, field) ((elm)->field.arbe_color)

/* A node by its index; NULL for none and for what lies outside of the array. */
#define ARB_NODE(head, idx) \
  ((idx) < 0 || (idx) >= ARB_MAXNODES(head) ? NULL : &(head)->arb_nodes[(idx)])
#define ARB_SELFIDX(head, elm) ((elm) - (head)->arb_nodes)
#define ARB_ROOT(head) ARB_NODE(head, ARB_ROOTIDX(head))
#define ARB_GETFREE(head, field) ARB_NODE(head, ARB_FREEIDX(head))
#define ARB_ISFREE(elm, field) (ARB_COLOR(elm, field) == ARB_NOCOLOR)
/* By the links: FreeBSD's trees do not always know their MINIDX and MAXIDX. */
#define ARB_MIN(name, head) name##_ARB_FIRST_NEXT(head)
#define ARB_MAX(name, head) name##_ARB_FIRST_PREV(head)
#define ARB_NEXT(name, head, elm) name##_ARB_NEXT(head, elm)
#define ARB_PREV(name, head, elm) name##_ARB_PREV(head, elm)
#define ARB_FOREACH(x, name, head) \
  for ((x) = ARB_MIN(name, head); (x) != NULL; (x) = ARB_NEXT(name, head, x))
#define ARB_FOREACH_REVERSE(x, name, head) \
  for ((x) = ARB_MAX(name, head); (x) != NULL; (x) = ARB_PREV(name, head, x))

/* Defines ARB_NEXT with ARB_MIN, and ARB_PREV with ARB_MAX, of `struct name`, with nodes `struct
 * type` whose entry is `field`. At most as many steps as a sound tree needs, so that a forged one
 * ends too. */
#define TALLY_ARB_STEP_(name, type, field, towards, near, far)                               \
  static inline struct type *name##_ARB_FIRST_##towards(struct name *head) {                 \
    int steps = ARB_MAXNODES(head);                                                          \
    struct type *first = ARB_ROOT(head);                                                     \
    while (first != NULL && ARB_NODE(head, first->field.arbe_##near) != NULL && --steps > 0) \
      first = ARB_NODE(head, first->field.arbe_##near);                                      \
    return first;                                                                            \
  }                                                                                          \
  static inline struct type *name##_ARB_##towards(struct name *head, struct type *elm) {     \
    int steps = ARB_MAXNODES(head);                                                          \
    struct type *next = ARB_NODE(head, elm->field.arbe_##far);                               \
    if (next != NULL) {                                                                      \
      while (ARB_NODE(head, next->field.arbe_##near) != NULL && --steps > 0)                 \
        next = ARB_NODE(head, next->field.arbe_##near);                                      \
      return next;                                                                           \
    }                                                                                        \
    next = ARB_NODE(head, elm->field.arbe_parent);                                           \
    while (next != NULL && ARB_NODE(head, next->field.arbe_##far) == elm && --steps > 0) {   \
      elm = next;                                                                            \
      next = ARB_NODE(head, elm->field.arbe_parent);                                         \
    }                                                                                        \
    return next;                                                                             \
  }
#define ARB_GENERATE_NEXT(name, type, field, attr) \
  TALLY_ARB_STEP_(name, type, field, NEXT, left, right)
#define ARB_GENERATE_PREV(name, type, field, attr) \
  TALLY_ARB_STEP_(name, type, field, PREV, right, left)

#endif
