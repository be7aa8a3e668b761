// Files that one thread has opened and others write to, also threads of other processes; and files of each thread.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int by_text(const void* left, const void* right) { return strcmp(left, right); }

// Prints what a file contains, from its beginning on, in order or as it is.
static void show(const char* what, FILE* file, int ordered) {
    static char lines[1000][40];
    int count = 0;
    rewind(file);
    while (count < 1000 && fgets(lines[count], sizeof lines[count], file) != NULL) count++;
    if (!ordered) qsort(lines, (size_t)count, sizeof lines[0], by_text);
    unsigned sum = 0;
    for (int i = 0; i < count; i++)
        for (const char* at = lines[i]; *at != '\0'; at++) sum = sum * 31 + (unsigned char)*at;
    printf("%s: %d lines, %u, first %s", what, count, sum, count > 0 ? lines[0] : "none\n");
}

int main(void) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/kumiki-streams-%ld", (long)getpid());
    FILE* file = fopen(path, "w+");
    if (file == NULL) return 1;
    fprintf(file, "begin\n");
#pragma omp parallel for
    for (int i = 0; i < 100; i++) fprintf(file, "line %d\n", i);
    show("any order", file, 0);

    rewind(file);
    if (ftruncate(fileno(file), 0) != 0) return 1;
#pragma omp parallel for ordered schedule(static, 1)
    for (int i = 0; i < 60; i++) {
#pragma omp ordered
        {
            fputs("ordered ", file);
            fputc('0' + i % 10, file);
            putc('\n', file);
            fflush(file);
        }
    }
    show("in order", file, 1);
    fclose(file);

    // A file that the last thread opens, and others use afterwards.
    static char text[100];
    FILE* others = NULL;
#pragma omp parallel shared(others)
    {
        if (omp_get_thread_num() == omp_get_num_threads() - 1) others = fopen(path, "w");
#pragma omp barrier
        for (int thread = 0; thread < omp_get_num_threads(); thread++) {
            if (omp_get_thread_num() == thread) fwrite("x", 1, 1, others);
#pragma omp barrier
        }
        if (omp_get_thread_num() == omp_get_num_threads() - 1) fclose(others);
    }
    file = fopen(path, "r");
    if (file == NULL) return 1;
    printf("of the last thread: %d\n", (int)fread(text, 1, sizeof text, file) - omp_get_max_threads());
    fclose(file);

    // While one thread of a process passes its output on, another one prints.
    int crossings = 0;
    file = fopen(path, "w+");
    if (file == NULL) return 1;
#pragma omp parallel
    for (int i = 0; i < 200; i++) {
        fprintf(file, "%d\n", i);
#pragma omp critical
        crossings++;
    }
    fflush(file);
    rewind(file);
    int lines = 0;
    for (int letter; (letter = fgetc(file)) != EOF;) lines += letter == '\n';
    fclose(file);
    printf("together: %d lines, %d crossings\n", lines / omp_get_max_threads(), crossings / omp_get_max_threads());

    // Streams that are no files.
    FILE* sorted = popen("sort | uniq -c | tr -d ' '", "w");
    char* made = NULL;
    size_t length = 0;
    FILE* memory = open_memstream(&made, &length);
    static char array[2000];
    FILE* in_array = fmemopen(array, sizeof array, "w");
    if (sorted == NULL || memory == NULL || in_array == NULL) return 1;
#pragma omp parallel for
    for (int i = 0; i < 40; i++) {
#pragma omp critical
        {
            fprintf(sorted, "to a command %d\n", i % 2);
            fprintf(memory, "%02d\n", i);
            fprintf(in_array, "%02d\n", i);
        }
    }
    fflush(stdout);
    pclose(sorted);
    fclose(memory);
    fclose(in_array);
    printf("in memory: %zu, in an array: %zu\n", length, strlen(array));
    free(made);

    // One for each thread.
    int sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
        char own[80];
        snprintf(own, sizeof own, "%s.%d", path, omp_get_thread_num());
        FILE* mine = fopen(own, "w+");
        for (int i = 1; i <= 10; i++) fprintf(mine, "%d\n", i);
        rewind(mine);
        for (int i = 0, read = 0; i < 10; i++)
            if (fscanf(mine, "%d", &read) == 1) sum += read;
        fclose(mine);
        unlink(own);
    }
    printf("each its own: %d\n", sum / omp_get_max_threads());
    unlink(path);
    return 0;
}
