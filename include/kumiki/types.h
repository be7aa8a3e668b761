/* kumiki/types.h - the values and limits that functions take; a part of kumiki.h. */
#ifndef KUMIKI_TYPES_H
#define KUMIKI_TYPES_H

#ifdef __cplusplus
extern "C" {
#endif

/* Types of elements, and how collectives combine them. */
typedef enum kumiki_type {
    KUMIKI_INT32 = 0,
    KUMIKI_INT64 = 1,
    KUMIKI_UINT32 = 2,
    KUMIKI_UINT64 = 3,
    KUMIKI_FLOAT = 4,
    KUMIKI_DOUBLE = 5
} kumiki_type;
typedef enum kumiki_operation { KUMIKI_SUM = 0, KUMIKI_PRODUCT = 1, KUMIKI_MIN = 2, KUMIKI_MAX = 3 } kumiki_operation;

/* What a signal does to its word, and what a thread may wait for. */
typedef enum kumiki_signal_operation { KUMIKI_SIGNAL_SET = 0, KUMIKI_SIGNAL_ADD = 1 } kumiki_signal_operation;
typedef enum kumiki_comparison {
    KUMIKI_EQUAL = 0,
    KUMIKI_NOT_EQUAL = 1,
    KUMIKI_AT_LEAST = 2, /* signal >= value */
    KUMIKI_LESS = 3      /* signal < value */
} kumiki_comparison;

#define KUMIKI_ACTIVE_MESSAGE_MAX 448 /* bytes of payload of an active message */

#ifdef __cplusplus
}
#endif
#endif
