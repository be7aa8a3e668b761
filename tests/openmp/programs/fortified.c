// Functions of the C library that check the length of a buffer (_FORTIFY_SOURCE) and give its address to the kernel,
// while its pages may be anywhere.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <omp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { bytes = 100000 };
static char from[bytes], to[bytes], path[8192] = "fortified-XXXXXX", folder[8192], linked[8192];
static struct pollfd ends[2000];

/// Each thread writes its part, so its pages are elsewhere now.
static void spread(void) {
#pragma omp parallel for
    for (int i = 0; i < bytes; ++i) {
        from[i] = (char)(i * 7 % 251);
        to[i] = 1;
    }
#pragma omp parallel for // the last thread has the beginning
    for (int i = 0; i < 8192 - 1000; ++i) path[8191 - i] = folder[8191 - i] = linked[8191 - i] = 1;
#pragma omp parallel for
    for (int i = 0; i < 2000; ++i) ends[i].fd = -1;
}

static void same(const char* what, long count) { printf("%s %ld, %d\n", what, count, memcmp(from, to, bytes) == 0); }

int main(int count, char** arguments) {
    (void)arguments;
    const size_t length = bytes + count - 1; // what the compiler does not know
    const int flags = O_RDONLY + count - 1;
    spread();
    int file = mkstemp(path);
    printf("wrote %zd\n", write(file, from, length));
    close(file);
    spread();
    file = open(path, flags);
    same("read", read(file, to, length));
    spread();
    same("pread", pread(file, to, length, 0));
    close(file);
    spread();
    FILE* const stream = fopen(path, "r");
    same("fread", (long)fread(to, 1, length, stream));
    fclose(stream);
    spread();
    printf("getcwd %d\n", getcwd(folder, length - bytes + sizeof folder) == folder);
    spread();
    printf("poll %d\n", poll(ends, length - bytes + 2000, 0));
    spread();
    snprintf(folder, sizeof folder, "%s.link", path);
    printf("symlink %d, ", symlink(path, folder));
    printf("readlink %d\n", readlink(folder, linked, length - bytes + sizeof linked) == (ssize_t)strlen(path));
    unlink(folder);
    strcpy(folder, "..");
    spread();
    struct dirent** entries = NULL;
    printf("scandir %d\n", scandir(folder, &entries, NULL, alphasort) > 0);
    printf("unlink %d\n", unlink(path));
    char* text = NULL; // which the last thread, too, can read
    if (asprintf(&text, "%zu characters of %s", length, "text") < 0) return 1;
    char last = 0;
#pragma omp parallel for lastprivate(last)
    for (int i = 0; i < 100; ++i) last = text[i % 20];
    printf("asprintf %c in %s\n", last, text);
    free(text);
    return 0;
}
