/* What a program can ask and set. */
#include <omp.h>
#include <stdio.h>

int main(void) {
    omp_sched_t kind;
    int chunk;
    omp_get_schedule(&kind, &chunk);
    printf("max %d dynamic %d nested %d levels %d limit %d schedule %x,%d\n", omp_get_max_threads(), omp_get_dynamic(),
           omp_get_nested(), omp_get_max_active_levels(), omp_get_thread_limit(), (unsigned)kind, chunk);
    printf("procs %d level %d active %d parallel %d final %d cancellation %d bind %d places %d priority %d\n",
           omp_get_num_procs(), omp_get_level(), omp_get_active_level(), omp_in_parallel(), omp_in_final(),
           omp_get_cancellation(), omp_get_proc_bind(), omp_get_num_places(), omp_get_max_task_priority());
    printf("ancestors %d %d %d sizes %d %d\n", omp_get_ancestor_thread_num(0), omp_get_ancestor_thread_num(1),
           omp_get_ancestor_thread_num(-1), omp_get_team_size(0), omp_get_team_size(1));
    printf("devices %d default %d initial %d is %d teams %d team %d supported %d\n", omp_get_num_devices(),
           omp_get_default_device(), omp_get_initial_device(), omp_is_initial_device(), omp_get_num_teams(),
           omp_get_team_num(), omp_get_supported_active_levels() > 0);
    omp_set_num_threads(3);
    omp_set_dynamic(1);
    omp_set_max_active_levels(4);
    omp_set_schedule(omp_sched_guided, 6);
    int inside = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        omp_get_schedule(&kind, &chunk);
        inside = omp_get_max_threads() * 100 + omp_get_dynamic() * 10 + chunk;
        omp_set_num_threads(7); /* of this task only */
    }
    printf("inside %d kind %u after %d\n", inside, (unsigned)kind, omp_get_max_threads());
    omp_set_schedule(omp_sched_auto, 5);
    omp_get_schedule(&kind, &chunk);
    printf("auto %u\n", (unsigned)kind);
    const double before = omp_get_wtime();
    printf("time %d tick %d\n", omp_get_wtime() >= before, omp_get_wtick() > 0 && omp_get_wtick() < 1e-3);
    char text[128];
    omp_set_affinity_format("%L/%.4n/%0.3N/%a|%{thread_num}%%");
    omp_get_affinity_format(text, sizeof text);
    puts(text);
    printf("%d ", (int)omp_capture_affinity(text, sizeof text, NULL));
    puts(text);
    printf("%d ", (int)omp_capture_affinity(text, 4, "abcdef"));
    puts(text);
    omp_capture_affinity(text, sizeof text, "%0.7a");
    puts(text);
#pragma omp teams num_teams(2)
#pragma omp parallel num_threads(1)
    {
        char numbers[32];
        omp_capture_affinity(numbers, sizeof numbers, "team %t of %T");
        puts(numbers);
    }
    omp_set_max_active_levels(0);
    omp_set_nested(0);
    printf("levels %d", omp_get_max_active_levels());
    omp_set_nested(1);
    omp_set_nested(0);
    printf(" %d\n", omp_get_max_active_levels());
    return 0;
}
