! Fortran: loops, reductions, locks, tasks, single, threadprivate, ordered, and the queries of the module.
program fortran
    use omp_lib
    implicit none
    integer :: i, n, total, chunk, value, last, wrong
    integer(omp_sched_kind) :: kind
    real(8) :: x(1000), s
    integer(omp_lock_kind) :: lock
    integer(omp_nest_lock_kind) :: nest
    integer, save :: own = 3
    !$omp threadprivate(own)
    character(len=80) :: text

    !$omp parallel do schedule(dynamic, 7)
    do i = 1, 1000
        x(i) = sqrt(real(i, 8))
    end do
    !$omp end parallel do
    s = 0
    !$omp parallel do reduction(+:s) schedule(guided)
    do i = 1, 1000
        s = s + floor(x(i))
    end do
    print '(a, f10.1)', 'sum', s

    call omp_init_lock(lock)
    call omp_init_nest_lock(nest)
    total = 0
    !$omp parallel private(n) copyin(own)
    do n = 1, 1000
        call omp_set_lock(lock)
        total = total + own
        call omp_unset_lock(lock)
        call omp_set_nest_lock(nest)
        call omp_set_nest_lock(nest)
        total = total - 1
        call omp_unset_nest_lock(nest)
        call omp_unset_nest_lock(nest)
        !$omp critical (named)
        total = total + 1
        !$omp end critical (named)
    end do
    !$omp end parallel
    call omp_destroy_lock(lock)
    call omp_destroy_nest_lock(nest)
    print '(a, i0)', 'locks ', merge(1, 0, total > 0)

    wrong = 0
    !$omp parallel private(last) reduction(+:wrong)
    !$omp single
    value = fibonacci(12)
    last = 4711
    !$omp end single copyprivate(last)
    if (last /= 4711) wrong = wrong + 1
    !$omp end parallel
    print '(a, i0, a, i0)', 'tasks ', value, ' wrong ', wrong

    value = 0
    !$omp parallel do ordered schedule(static, 2)
    do i = 1, 50
        !$omp ordered
        value = mod(value * 7 + i, 1009)
        !$omp end ordered
    end do
    print '(a, i0)', 'ordered ', value

    !$omp parallel workshare
    x = x * 2
    !$omp end parallel workshare
    !$omp parallel sections reduction(+:total)
    !$omp section
    total = total + 1
    !$omp section
    total = total + 1
    !$omp end parallel sections

    call omp_set_num_threads(3)
    call omp_set_schedule(omp_sched_guided, 5)
    call omp_get_schedule(kind, chunk)
    print '(4(i0, 1x))', omp_get_max_threads(), int(kind), chunk, omp_get_thread_num()
    print '(3(i0, 1x), l1, 1x, l1)', omp_get_level(), omp_get_ancestor_thread_num(0), omp_get_team_size(0), &
        omp_in_parallel(), omp_get_wtime() > 0
    call omp_set_affinity_format('thread %n of %N')
    n = omp_capture_affinity(text, ' ')
    n = omp_capture_affinity(text, '%{thread_num} of %N')
    print '(i0, 1x, a)', n, trim(text)
contains
    recursive integer function fibonacci(number) result(found)
        integer, intent(in) :: number
        integer :: one, two
        found = number
        if (number > 1) then
            !$omp task shared(one)
            one = fibonacci(number - 1)
            !$omp end task
            !$omp task shared(two)
            two = fibonacci(number - 2)
            !$omp end task
            !$omp taskwait
            found = one + two
        end if
    end function fibonacci
end program fortran
