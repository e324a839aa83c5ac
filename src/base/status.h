/* Errors as values: every fallible function returns a cuzk_status and, when the caller passes a
 * cuzk_error, a one-line text with the numbers a person needs. Nothing here allocates. */
#ifndef CUZK_BASE_STATUS_H
#define CUZK_BASE_STATUS_H

#include <stdarg.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Causes are kept apart so that a caller can tell a bad file from a lost device. */
typedef enum cuzk_status {
    CUZK_OK = 0,
    CUZK_ERR_ARGUMENT,      /* the caller broke a function's contract */
    CUZK_ERR_FORMAT,        /* bad encoding, truncated, wrong magic or version */
    CUZK_ERR_NOT_CANONICAL, /* a value >= its modulus */
    CUZK_ERR_NOT_ON_CURVE,
    CUZK_ERR_NOT_IN_GROUP, /* on the curve, but not in the subgroup of order r */
    CUZK_ERR_INFINITY,     /* the point at infinity where it is not allowed */
    CUZK_ERR_MISMATCH,     /* two valid inputs that do not belong together */
    CUZK_ERR_UNSATISFIED,  /* a witness that does not satisfy its circuit */
    CUZK_ERR_INVALID_PROOF,
    CUZK_ERR_NOT_FOUND,
    CUZK_ERR_EXISTS,
    CUZK_ERR_IO,
    CUZK_ERR_NO_SPACE, /* disk full */
    CUZK_ERR_NO_MEMORY,
    CUZK_ERR_EXHAUSTED, /* a configured limit (queue, budget) is reached */
    CUZK_ERR_DEVICE_MEMORY,
    CUZK_ERR_DEVICE,
    CUZK_ERR_DEVICE_LOST,
    CUZK_ERR_CANCELLED,
    CUZK_ERR_TIMEOUT,
    CUZK_ERR_UNSUPPORTED,
    CUZK_ERR_INTERNAL,
    CUZK_STATUS_COUNT
} cuzk_status;

typedef struct cuzk_error {
    cuzk_status status;
    char text[512];
} cuzk_error;

/* Short stable name of a status, e.g. "not_on_curve". Never NULL. */
const char *cuzk_status_name(cuzk_status status);

/* Fill *err (may be NULL) with status and text, and return status. */
cuzk_status cuzk_fail(cuzk_error *err, cuzk_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Put "format: " in front of err's text (err may be NULL); returns status unchanged. Used where a
 * caller knows the file or the place that the failing layer below did not. */
cuzk_status cuzk_error_context(cuzk_error *err, cuzk_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Return from the enclosing function when an expression is not CUZK_OK. */
#define CUZK_TRY(expression)                                                                       \
    do {                                                                                           \
        const cuzk_status cuzk_try_status_ = (expression);                                         \
        if (cuzk_try_status_ != CUZK_OK) return cuzk_try_status_;                                  \
    } while (0)

#ifdef __cplusplus
}
#endif
#endif
