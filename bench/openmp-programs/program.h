#pragma once

/* What timed.cpp needs of a program. Programs are in C and Fortran (bind(C)), and are ordinary OpenMP: nothing in them
 * knows of Kumiki. */
#ifdef __cplusplus
extern "C" {
#endif

/* Called once, before the first solution, by the initial thread. `variant` is the word of the option --variant, or
 * empty. Returns 0 if the program has no such variant. */
int program_prepare(const char* variant);

/* Solves the problem once: what is timed. */
void program_solve(void);

/* Whether the last solution is right: compared with what is known of it, not with another run. */
int program_is_right(void);

#ifdef __cplusplus
}
#endif
