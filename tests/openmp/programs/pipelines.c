// A pipeline: each thread passes blocks on to the next one, by flags for whose place it looks at other variables, too.
#include <omp.h>
#include <stdio.h>

enum { apart = 1024, most = 16, blocks = 300, length = 600 };
static int flags[(most + 1) * apart];
static volatile int stride = apart; /* the loops that wait load it in each pass */
static long data[most][length];

int main(void) {
    long wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    {
        const int me = omp_get_thread_num(), last = omp_get_num_threads() - 1;
        for (int block = 1; block <= blocks; block++) {
            int seen = 1;
            while (me > 0 && seen != 0) { /* until the one before has filled its block */
#pragma omp atomic read seq_cst
                seen = flags[me * stride];
                seen = seen != 1;
            }
            for (int i = 0; i < length; i++) {
                const long before = me > 0 ? data[me - 1][i] : (long)block * i;
                wrong += before != (long)block * i + (me > 0 ? me - 1 : 0);
                data[me][i] = (long)block * i + me;
            }
            if (me > 0) {
#pragma omp atomic write seq_cst
                flags[me * stride] = 0;
            }
            if (me < last) {
#pragma omp atomic write seq_cst
                flags[(me + 1) * stride] = 1;
                seen = 1;
                while (seen != 0) { /* until the next one has read it */
#pragma omp atomic read seq_cst
                    seen = flags[(me + 1) * stride];
                }
            }
        }
    }
    printf("wrong %ld\n", wrong);
    return 0;
}
