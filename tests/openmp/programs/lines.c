// Prints lines of different lengths, each by one call, or by several in a critical construct (`pieces`). Or it reads
// them (`read`), and says how many of them are not as they should be.
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { parts = 64, each = 200, longest = 60 };

static void print_lines(int in_pieces) {
    const char stars[longest + 1] = "************************************************************";
#pragma omp parallel for schedule(dynamic, 1)
    for (int part = 0; part < parts; ++part)
        for (int i = 0; i < each; ++i) {
            const int number = part * each + i;
            if (in_pieces) {
#pragma omp critical
                {
                    printf("%d ", number);
                    fputs(stars + longest - number % longest, stdout);
                    putchar('\n');
                }
            } else printf("%d %.*s\n", number, number % longest, stars);
        }
}

static int is_whole(const char* line, int number) {
    const char* stars = strchr(line, ' ');
    const size_t length = (size_t)(number % longest);
    return stars != NULL && strspn(stars + 1, "*") == length && strcmp(stars + 1 + length, "\n") == 0;
}

static void read_lines(void) {
    static char seen[parts * each];
    char line[200];
    int number = 0, wrong = 0, missing = 0;
    while (fgets(line, sizeof line, stdin) != NULL) {
        const int is_known = sscanf(line, "%d", &number) == 1 && number >= 0 && number < parts * each;
        if (is_known && is_whole(line, number)) ++seen[number];
        else ++wrong;
    }
    for (int i = 0; i < parts * each; ++i) missing += seen[i] != 1;
    printf("lines: %d wrong, %d missing\n", wrong, missing);
}

int main(int count, char** arguments) {
    const char* what = count > 1 ? arguments[1] : "";
    if (strcmp(what, "read") == 0) read_lines();
    else if (strcmp(what, "whole") == 0) print_lines(0);
    else if (strcmp(what, "pieces") == 0) print_lines(1);
    else puts("whole, pieces or read?");
    return 0;
}
