// A descriptor that the first process has opened, which threads of others use, in one way or another.
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

static long use(const char* how, int file, char* bytes) {
    struct stat status;
    const struct iovec pieces[2] = {{bytes, 1}, {bytes + 1, 2}};
    if (strcmp(how, "write") == 0) return write(file, bytes, 3);
    if (strcmp(how, "writev") == 0) return writev(file, pieces, 2);
    if (strcmp(how, "pwrite") == 0) return pwrite(file, bytes, 3, 6);
    if (strcmp(how, "pwritev") == 0) return pwritev(file, pieces, 2, 6);
    if (strcmp(how, "read") == 0) return read(file, bytes, 3);
    if (strcmp(how, "pread") == 0) return pread(file, bytes, 3, 1);
    if (strcmp(how, "readv") == 0) return readv(file, pieces, 2);
    if (strcmp(how, "preadv") == 0) return preadv(file, pieces, 2, 2);
    if (strcmp(how, "lseek") == 0) return lseek(file, -1, SEEK_END);
    if (strcmp(how, "fstat") == 0) return fstat(file, &status) == 0 ? status.st_size : -1;
    if (strcmp(how, "close") == 0 && omp_in_parallel()) return close(file);
    struct statfs about;
    return fstatfs(file, &about);
}

int main(int count, char** arguments) {
    if (count < 2) {
        // A descriptor of nobody fails as it does without Kumiki.
        printf("%ld", lseek(100, 0, SEEK_SET));
        printf(" %s\n", strerror(errno));
        return 0;
    }
    char name[] = "/tmp/kumiki-descriptors-XXXXXX";
    const int file = mkstemp(name);
    unlink(name);
    const int reads = strstr(arguments[1], "write") == NULL;
    if (reads && pwrite(file, "012345678", 9, 0) != 9) abort();
    char first[] = "abc";
    printf("opened %d\n", use(arguments[1], file, first) >= 0);
    fflush(stdout);
#pragma omp parallel
    if (omp_get_thread_num() == omp_get_num_threads() - 1) {
        // Its own file, so that another descriptor of this process might have the number of main's.
        char own[] = "/tmp/kumiki-descriptors-XXXXXX";
        if (mkstemp(own) < 0) abort();
        unlink(own);
        char second[] = "xyz";
        printf("got %ld", use(arguments[1], file, second));
        printf(" %s\n", second);
        fflush(stdout);
    }
    char whole[16] = "";
    const long length = pread(file, whole, sizeof whole - 1, 0);
    for (long at = 0; at < length; at++)
        if (whole[at] == '\0') whole[at] = '.';
    printf("in the file %s\n", whole);
    return 0;
}
