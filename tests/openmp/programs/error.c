// The error directive: warnings go on, and the first error ends the program. What libgomp prints for them differs, so
// it is not compared.
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
    const char* const text = "a message that the program has made";
    dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
#pragma omp error at(execution) severity(warning)
#pragma omp error at(execution) severity(warning) message("a message")
#pragma omp error at(execution) severity(warning) message(text)
    printf("after three warnings\n");
    fflush(stdout);
#pragma omp error at(execution) severity(fatal) message("the end")
    printf("never\n");
    return 0;
}
