// Texts that functions of the C library allocate, and that all threads read.
#define _GNU_SOURCE
#include <dirent.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { count = 200 };

static char* text[count];

/// The sum of all characters, as all threads together see them.
static void print_sum(const char* name) {
    long sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < count; ++i)
        for (const char* at = text[i]; *at != '\0'; ++at) sum += *at * (i + 1);
    printf("%s: %ld\n", name, sum);
    for (int i = 0; i < count; ++i) free(text[i]);
}

static char* formatted(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char* made = NULL;
    const int length = vasprintf(&made, format, arguments);
    va_end(arguments);
    return length < 0 ? NULL : made;
}

int main(void) {
    FILE* const file = tmpfile();
    for (int i = 0; i < 2 * count; ++i) fprintf(file, "line %d of some words%c", i, i < count ? '\n' : ';');
    rewind(file);
    for (int i = 0; i < count; ++i) {
        size_t bytes = 0;
        text[i] = NULL;
        if (getline(&text[i], &bytes, file) < 0) puts("no line");
    }
    print_sum("lines");
    size_t bytes = 0;
    char* longer = NULL; // one that getdelim() makes longer
    for (int i = 0; i < count; ++i) {
        if (getdelim(&longer, &bytes, ';', file) < 0) puts("no part");
        text[i] = strdup(longer);
    }
    const long end = getdelim(&longer, &bytes, ';', file);
    printf("at the end: %ld\n", end);
    free(longer);
    print_sum("parts");
    fclose(file);

    for (int i = 0; i < count; ++i)
        if (asprintf(&text[i], "number %d", i) < 0) puts("no text");
    print_sum("asprintf");
    for (int i = 0; i < count; ++i) text[i] = formatted("%s %.3f", "value", i / 8.0);
    print_sum("vasprintf");
    if (chdir("/usr") != 0) perror("chdir");
    for (int i = 0; i < count; ++i)
        text[i] = i % 3 == 0   ? realpath("lib/..", NULL)
                  : i % 3 == 1 ? canonicalize_file_name("../usr")
                               : get_current_dir_name();
    print_sum("paths");
    for (int i = 0; i < count; ++i) text[i] = getcwd(NULL, i % 2 == 0 ? 0 : 100);
    print_sum("folders");
    glob_t paths = {.gl_offs = 2};
    if (glob("/usr/lib*", GLOB_DOOFFS, NULL, &paths) != 0 ||
        glob("/usr/s*", GLOB_DOOFFS | GLOB_APPEND, NULL, &paths) != 0)
        puts("no paths");
    long letters = 0;
#pragma omp parallel for reduction(+ : letters)
    for (size_t i = 0; i < paths.gl_pathc; ++i)
        letters += (long)strlen(paths.gl_pathv[paths.gl_offs + i]) * (long)(i + 1);
    printf("glob: %zu, %ld, %d %d\n", paths.gl_pathc, letters, paths.gl_pathv[0] == NULL,
           paths.gl_pathv[paths.gl_offs + paths.gl_pathc] == NULL);
    globfree(&paths);
    printf("missing: %d\n", glob("/usr/missing*", 0, NULL, &paths) == GLOB_NOMATCH);
    struct dirent** entries = NULL;
    const int found = scandir("/usr", &entries, NULL, alphasort);
    long sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < found; ++i) sum += (long)strlen(entries[i]->d_name) * (i + 1);
    printf("folder: %d entries, %ld; missing: %d\n", found, sum, scandir("missing", &entries, NULL, alphasort));
    for (int i = 0; i < found; ++i) free(entries[i]);
    free(entries);
    char place[4096];
    printf("%s %d\n", realpath(".", place), realpath("missing", NULL) == NULL);
    return 0;
}
