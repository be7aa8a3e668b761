/* Functions of the C library that the program has itself, with variables, and which libraries call, too; and variables
   of the C library and of the dynamic linker that the linker takes into the program. The environment lies behind the
   arguments, where a program finds it that reads too many of them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

extern char** environ;
extern void* __libc_stack_end;

static FILE* (*of_library)(const char*, const char*);
static int opened;

FILE* fopen(const char* path, const char* mode) {
    if (of_library == NULL) of_library = (FILE * (*)(const char*, const char*)) dlsym(RTLD_NEXT, "fopen");
    if (strcmp(path, "/dev/null") == 0)
#pragma omp atomic
        ++opened;
    return of_library(path, mode);
}

int main(int count, char** arguments) {
#pragma omp parallel
    for (int round = 0; round < 3; ++round) fclose(fopen("/dev/null", "r"));
    const int is_behind = arguments[count + 1] != NULL && strcmp(arguments[count + 1], environ[0]) == 0;
    printf("opened %d, with %s environment %s\n", opened, environ[0] != NULL ? "an" : "no",
           is_behind ? "behind the arguments" : "elsewhere");
    const long used = (char*)__libc_stack_end - (char*)__builtin_frame_address(0);
    printf("used %s of the stack\n", used > 0 && used < 100000 ? "a little" : "much");
    return 0;
}
