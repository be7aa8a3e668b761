/* kumiki/status.h - how functions of Kumiki report errors; a part of kumiki.h. */
#ifndef KUMIKI_STATUS_H
#define KUMIKI_STATUS_H

#if defined(__GNUC__)
#define KUMIKI_API __attribute__((visibility("default")))
#else
#define KUMIKI_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kumiki_status {
    KUMIKI_OK = 0,
    KUMIKI_ERROR_ARGUMENT = 1,    /* a rank that does not exist, sizes that do not fit, a null pointer */
    KUMIKI_ERROR_REGION = 2,      /* memory outside every region of this rank */
    KUMIKI_ERROR_MEMORY = 3,      /* not enough memory */
    KUMIKI_ERROR_ENVIRONMENT = 4, /* a bad setting or a system problem: the message names the variable or command */
    KUMIKI_ERROR_STATE = 5        /* a valid call at the wrong time: a second join, two threads in one collective */
} kumiki_status;

/* Returns the sentence that describes the calling thread's last error. It is never null, and stays valid until the
 * thread's next call that fails. */
KUMIKI_API const char* kumiki_error_message(void);

#ifdef __cplusplus
}
#endif
#endif
