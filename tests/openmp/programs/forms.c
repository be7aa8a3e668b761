// Constructs that clang turns into other calls than gcc: loops of all types, teams, tasks of all kinds, reductions.
#include <omp.h>
#include <stdio.h>
#include <string.h>

static long threadly = 5;
#pragma omp threadprivate(threadly)

static void loops(void) {
    long sums[4] = {0}, lanes = 0;
    unsigned long long large = 0;
#pragma omp parallel
    {
#pragma omp for schedule(dynamic, 3) reduction(+ : sums[0])
        for (unsigned i = 4000000000u; i < 4000000100u; i++) sums[0] += i & 7;
#pragma omp for schedule(guided, 2) reduction(+ : sums[1])
        for (long i = 50; i > -50; i -= 3) sums[1] += i;
#pragma omp for schedule(static, 4) reduction(+ : sums[2]) nowait
        for (unsigned char i = 3; i < 203; i += 2) sums[2] += i;
#pragma omp for schedule(static) reduction(+ : sums[3])
        for (int i = 7; i >= -7; i -= 2) sums[3] += i * i;
#pragma omp for schedule(runtime) collapse(2) reduction(+ : large)
        for (unsigned long long i = 18446744073709551000ull; i < 18446744073709551600ull; i += 100)
            for (int j = 0; j < 5; j++) large += i % 1000 + j;
#pragma omp for simd schedule(simd : static, 5) reduction(+ : lanes)
        for (int i = 0; i < 101; i++) lanes += i;
    }
    int last = -1;
#pragma omp parallel for lastprivate(last) schedule(dynamic)
    for (int i = 0; i < 37; i++) last = i;
    int last_static = -1;
#pragma omp parallel for lastprivate(last_static) schedule(static, 3) num_threads(2)
    for (int i = 0; i < 38; i++) last_static = i;
    printf("loops %ld %ld %ld %ld %ld %llu last %d %d\n", sums[0], sums[1], sums[2], sums[3], lanes, large, last,
           last_static);
    int empty = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : empty)
    for (int i = 5; i < empty; i++) empty++;
    printf("empty %d\n", empty);
}

static void many_shared(void) {
    int a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10, k = 11, l = 12, m = 13, n = 14, o = 15,
        p = 16, q = 17, r = 18, sum = 0;
    double x = 0.5, y = 0.25;
#pragma omp parallel firstprivate(x, y) reduction(+ : sum) num_threads(2)
#pragma omp single
    {
        sum += a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q + r + (int)(4 * (x + y));
        a = b = c = d = e = f = g = h = i = j = k = l = m = n = o = p = q = r = 0;
    }
    printf("shared %d left %d\n", sum, a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q + r);
}

static void reductions(void) {
    int sum = 0, product = 1, least = 100, bits = 0, truth = 1;
    double values[4] = {0, 0, 0, 0};
#pragma omp parallel num_threads(3) reduction(+ : sum, values[ : 4]) reduction(* : product) reduction(min : least)     \
    reduction(| : bits) reduction(&& : truth)
    {
        const int me = omp_get_thread_num();
        sum += me + 1;
        product *= me + 2;
        if (me < least) least = me;
        bits |= 1 << me;
        truth = truth && me < 3;
        for (int i = 0; i < 4; i++) values[i] += i * (me + 1);
    }
    printf("reductions %d %d %d %d %d %g %g\n", sum, product, least, bits, truth, values[1], values[3]);
    long tasks = 0;
#pragma omp parallel reduction(task, + : tasks)
    {
        tasks += 1;
#pragma omp single
        for (int i = 0; i < 40; i++) {
#pragma omp task in_reduction(+ : tasks)
            tasks += i;
        }
    }
    long grouped = 7;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup task_reduction(+ : grouped)
    for (int i = 0; i < 30; i++) {
#pragma omp task in_reduction(+ : grouped) if (i % 3)
        grouped += i;
    }
    long looped = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop reduction(+ : looped) grainsize(7)
    for (int i = 0; i < 100; i++) looped += i;
    printf("tasks %ld grouped %ld looped %ld\n", tasks - omp_get_max_threads(), grouped, looped);
}

static long fibonacci(int n) {
    long a = 0, b = 0;
    if (n < 2) return n;
#pragma omp task untied shared(a) firstprivate(n) final(n < 6)
    a = fibonacci(n - 1);
#pragma omp task shared(b) firstprivate(n) if (n > 4)
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}

static void tasks(void) {
    long result = 0;
    int steps[100], untied = 0, wrong = 0, mine[3] = {4, 5, 6};
#pragma omp parallel
#pragma omp single
    {
        result = fibonacci(15);
#pragma omp task untied shared(untied)
        {
            for (int i = 0; i < 5; i++) {
#pragma omp task shared(untied)
#pragma omp atomic
                untied++;
#pragma omp taskyield
            }
#pragma omp taskwait
            if (untied != 5) untied = -1;
        }
#pragma omp taskloop num_tasks(6) firstprivate(mine) nogroup
        for (int i = 0; i < 100; i++) steps[i] = i + mine[2];
#pragma omp taskwait
#pragma omp task depend(out : steps[0])
        steps[0] = 1;
#pragma omp task depend(in : steps[0]) depend(inout : steps[1])
        steps[1] = steps[0] + 1;
#pragma omp task depend(mutexinoutset : steps[1])
        steps[1] *= 10;
#pragma omp task depend(in : steps[1]) if (0)
        steps[2] = steps[1] + 1;
    }
    for (int i = 3; i < 100; i++) wrong += steps[i] != i + 6;
    long last = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop lastprivate(last) grainsize(9)
    for (long i = 200; i >= 0; i -= 7) last = i;
    printf("fibonacci %ld untied %d steps %d %d %d wrong %d last %ld\n", result, untied, steps[0], steps[1], steps[2],
           wrong, last);
}

static void others(void) {
    int masked = 0, critical = 0, copied = 0, value = 0, teams = 0, distributed = 0;
#pragma omp parallel num_threads(2) private(value) reduction(+ : copied)
    {
#pragma omp masked filter(omp_get_num_threads() - 1)
        masked = omp_get_thread_num() - omp_get_num_threads() + 10;
#pragma omp critical(named) hint(omp_sync_hint_contended)
        critical++;
#pragma omp single copyprivate(value)
        value = 17;
        copied += value / omp_get_num_threads();
    }
#pragma omp teams num_teams(3) reduction(+ : teams)
    teams += omp_get_team_num() + 1;
#pragma omp teams distribute parallel for num_teams(2) reduction(+ : distributed)
    for (int i = 0; i < 100; i++) distributed += i;
    printf("masked %d critical %d copied %d teams %d distributed %d\n", masked, critical / critical, copied, teams,
           distributed);
    long sum = 0;
    threadly = 5;
#pragma omp parallel copyin(threadly) reduction(+ : sum)
    {
        threadly += omp_get_thread_num();
        sum += threadly - omp_get_thread_num();
    }
#pragma omp parallel reduction(+ : sum)
    sum += threadly - omp_get_thread_num();
    printf("threadprivate %ld\n", sum / omp_get_max_threads());
    int nested = 0;
#pragma omp parallel if (0)
#pragma omp parallel for reduction(+ : nested)
    for (int i = 0; i < 10; i++) nested += i;
    printf("nested %d\n", nested);
}

int main(void) {
    loops();
    many_shared();
    reductions();
    tasks();
    others();
    return 0;
}
