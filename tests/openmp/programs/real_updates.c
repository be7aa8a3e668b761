// Updates of floating-point numbers: each operation, by atomic constructs and reductions, of variables of each kind.
// All numbers are exact, so the order of the threads does not matter.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <xmmintrin.h>

enum { many = 40, rounds = 25 };
static double sum, product = 1, least = 1e9, most = -1e9, halves = 1, total;
static float short_sum, short_difference = 1000, short_most;
static double numbers[3 * 1024];

/* What a thread gets with its update are different numbers, one for each update. */
static void capture(void) {
    static char seen[4096];
    int twice = 0;
    double ticket = 0;
#pragma omp parallel reduction(+ : twice)
    for (int i = 0; i < rounds; i++) {
        double before, after;
#pragma omp atomic capture
        {
            before = ticket;
            ticket += 2;
        }
#pragma omp atomic capture
        after = ticket += 2;
        for (int side = 0; side < 2; side++) {
            const int at = (int)((side == 0 ? before : after - 2) / 2);
            char marked;
#pragma omp critical
            {
                marked = seen[at];
                seen[at] = 1;
            }
            twice += marked;
        }
    }
    printf("captured twice %d, of %d\n", twice, (int)(ticket / 2) == 2 * rounds * omp_get_max_threads());
}

/* The register in which a function returns a number is the one in which it has been made. */
static __attribute__((noinline)) double draw(double* next) {
    double drawn;
#pragma omp atomic capture
    drawn = *next += 1;
    return drawn;
}

static void capture_in_a_function(void) {
    enum { each = 100, most_threads = 64 };
    static char seen[each * most_threads + 1];
    double next = 0;
    int twice = 0;
#pragma omp parallel
    {
        int drawn[each];      /* marked later, because a thread that synchronises in between is another case */
        drawn[0] = (int)next; /* so all have a copy, and begin together */
#pragma omp barrier
        for (int i = 0; i < each; i++) drawn[i] = (int)draw(&next);
#pragma omp critical
        for (int i = 0; i < each; i++) {
            twice += seen[drawn[i]];
            seen[drawn[i]] = 1;
        }
    }
    printf("drawn twice %d, of %d\n", twice, next == each * omp_get_max_threads());
}

/* Numbers that are too small for a usual exponent are zeros to these threads. */
static void flush_to_zero(void) {
    double tiny = 0;
#pragma omp parallel
    {
        const unsigned before = _mm_getcsr();
        _mm_setcsr(before | 0x8040);
        volatile double operand = 1e-310;
#pragma omp atomic
        tiny += operand;
        _mm_setcsr(before);
    }
    printf("tiny %g\n", tiny);
}

/* x += y + z as compilers make it that load x before they add y and z. */
static void add_late(double* x, double y, double z) {
    __asm__ volatile("mov (%[x]), %%rcx\n"
                     "mov %%rcx, %%rax\n"
                     "addsd %[z], %[y]\n"
                     "1: movq %%rcx, %%xmm7\n"
                     "addsd %[y], %%xmm7\n"
                     "movq %%xmm7, %%rdx\n"
                     "lock cmpxchg %%rdx, (%[x])\n"
                     "je 2f\n"
                     "mov %%rax, %%rcx\n"
                     "jmp 1b\n"
                     "2:"
                     : [y] "+x"(y)
                     : [x] "r"(x), [z] "x"(z)
                     : "rax", "rcx", "rdx", "xmm7", "memory", "cc");
}

/* x += y as compilers make it that have too few registers, and store some between the load and the exchange. */
static void add_and_store(double* x, double y) {
    long stored = 0;
    __asm__ volatile("mov (%[x]), %%rcx\n"
                     "mov %[x], %[stored]\n"
                     "1: movq %%rcx, %%xmm7\n"
                     "mov %%rcx, %%rax\n"
                     "addsd %[y], %%xmm7\n"
                     "movq %%xmm7, %%rdx\n"
                     "lock cmpxchg %%rdx, (%[x])\n"
                     "je 2f\n"
                     "mov %%rax, %%rcx\n"
                     "jmp 1b\n"
                     "2: xor %%eax, %%eax\n"
                     "xor %%ecx, %%ecx\n"
                     "xor %%edx, %%edx\n"
                     "xorps %%xmm7, %%xmm7\n"
                     : [stored] "+m"(stored)
                     : [x] "r"(x), [y] "x"(y)
                     : "rax", "rcx", "rdx", "xmm7", "memory", "cc");
}

/* x += y with y in a register that only processors with AVX-512 have. */
static void add_from_upper(double* x, double y) {
    __asm__ volatile("vmovapd %[y], %%xmm22\n"
                     "mov (%[x]), %%rcx\n"
                     "1: vmovq %%rcx, %%xmm7\n"
                     "mov %%rcx, %%rax\n"
                     "vaddsd %%xmm7, %%xmm22, %%xmm7\n"
                     "vmovq %%xmm7, %%rdx\n"
                     "lock cmpxchg %%rdx, (%[x])\n"
                     "je 2f\n"
                     "mov %%rax, %%rcx\n"
                     "jmp 1b\n"
                     "2:"
                     :
                     : [x] "r"(x), [y] "x"(y)
                     : "rax", "rcx", "rdx", "xmm7", "memory", "cc"); /* gcc would need -mavx512f to know xmm22 */
}

/* What another thread adds meanwhile is not lost, whether the home makes the update or the thread does. */
static void late_operands(void) {
    double late_sum = 0, others[2] = {0, 0}, upper = 0, stored = 0;
    const int has_upper = __builtin_cpu_supports("avx512f");
#pragma omp parallel
    for (int i = 0; i < rounds; i++) {
        add_late(&late_sum, i, 0.5);
        add_late(&others[i % 2], 0.25, omp_get_thread_num());
#pragma omp atomic
        late_sum += 1;
        for (int again = 0; again < 4; again++) {
            add_and_store(&stored, i + 0.5);
            if (has_upper) add_from_upper(&upper, i);
            else {
#pragma omp atomic
                upper += i;
            }
        }
    }
    printf("late %g %g %g, %g, %g\n", late_sum, others[0], others[1], upper, stored);
}

int main(void) {
    double on_stack = 0, *const on_heap = calloc(3 * 1024, sizeof *on_heap);
    float short_on_stack = 0, widened = 0;
    const double part = omp_get_max_threads() > 0 ? 0.375 : 0; /* a double that the compiler does not know */
#pragma omp parallel
    {
        const int me = omp_get_thread_num();
        for (int i = 0; i < rounds; i++) {
#pragma omp atomic
            sum += me + i;
#pragma omp atomic
            on_stack += 0.5;
#pragma omp atomic
            short_on_stack -= 1;
#pragma omp atomic
            short_sum += 2;
#pragma omp atomic
            widened += part * i;
#pragma omp atomic
            short_difference -= me;
#pragma omp atomic
            on_heap[(i * 97) % (3 * 1024)] += i;
#pragma omp atomic
            numbers[(me + i) * 100 % (3 * 1024)] += 1;
        }
#pragma omp atomic
        product *= 2;
#pragma omp atomic
        halves /= 4;
    }
    printf("%g %g %g %g %g %g %g %g\n", sum, on_stack, short_on_stack, short_sum, short_difference, widened, product,
           halves);
    double all = 0;
    for (int i = 0; i < 3 * 1024; i++) all += (i + 1) * (on_heap[i] + numbers[i]);
    printf("elements %.0f\n", all);
    for (int round = 1; round <= 20; round++) { /* short regions, after which the next one begins anew */
        total = 0;
#pragma omp parallel for reduction(+ : total)
        for (int i = 0; i < many; i++) total += i * round;
        if (total != round * many * (many - 1) / 2) printf("round %d: %g\n", round, total);
#pragma omp parallel for reduction(min : least) reduction(max : most)
        for (int i = 0; i < many; i++) {
            if (i - round < least) least = i - round;
            if (i + round > most) most = i + round;
        }
#pragma omp parallel for reduction(max : short_most)
        for (int i = 0; i < many; i++)
            if ((float)(i * round) > short_most) short_most = (float)(i * round);
    }
    printf("%g %g %g\n", least, most, short_most);
    capture();
    flush_to_zero();
    late_operands();
    capture_in_a_function();
    free(on_heap);
    return 0;
}
