! Fortran: loops of all schedules with few iterations or none, up and down, of two kinds of numbers, and nested.
program loops_fortran
    use omp_lib
    implicit none
    integer :: first, last, step, total
    integer(8) :: sums(8)

    call omp_set_schedule(omp_sched_dynamic, 2)
    do step = -3, 3
        if (step == 0) cycle
        total = 0
        sums = 0
        do first = -2, 3
            do last = -4, 7
                call count_up(first, last, step, sums)
                call count_long(int(first, 8) * 3000000000_8, int(last, 8) * 3000000000_8, int(step, 8) * 3000000000_8, sums)
                call nested(first, last, step, total)
            end do
        end do
        print '(10(i0, 1x))', step, total, sums
    end do
contains
    subroutine count_up(first, last, step, sums)
        integer, intent(in) :: first, last, step
        integer(8), intent(inout) :: sums(8)
        integer :: i, final
        integer(8) :: plain, chunked, dynamic, guided, at_run_time, ordered

        plain = 0; chunked = 0; dynamic = 0; guided = 0; at_run_time = 0; ordered = 0
        final = 17
        !$omp parallel
        !$omp do lastprivate(final) reduction(+:plain)
        do i = first, last, step
            plain = plain + 100 + i
            final = i
        end do
        !$omp end do
        !$omp do schedule(static, 2) reduction(+:chunked)
        do i = first, last, step
            chunked = chunked + 100 + i
        end do
        !$omp end do
        !$omp do schedule(dynamic) reduction(+:dynamic)
        do i = first, last, step
            dynamic = dynamic + 100 + i
        end do
        !$omp end do
        !$omp do schedule(guided) reduction(+:guided)
        do i = first, last, step
            guided = guided + 100 + i
        end do
        !$omp end do
        !$omp do schedule(runtime) reduction(+:at_run_time)
        do i = first, last, step
            at_run_time = at_run_time + 100 + i
        end do
        !$omp end do
        !$omp do ordered
        do i = first, last, step
            !$omp ordered
            ordered = mod(ordered * 7 + i + 100, 1009)
            !$omp end ordered
        end do
        !$omp end do
        !$omp end parallel
        if (plain == 0) final = 17 ! a loop without iterations leaves it undefined
        sums(1:6) = sums(1:6) + [plain + final, chunked, dynamic, guided, at_run_time, ordered]
    end subroutine count_up

    subroutine count_long(first, last, step, sums)
        integer(8), intent(in) :: first, last, step
        integer(8), intent(inout) :: sums(8)
        integer(8) :: i, plain, dynamic

        plain = 0; dynamic = 0
        !$omp parallel do reduction(+:plain)
        do i = first, last, step
            plain = plain + 100 + i / 3000000000_8
        end do
        !$omp end parallel do
        !$omp parallel do schedule(dynamic, 2) reduction(+:dynamic)
        do i = first, last, step
            dynamic = dynamic + 100 + i / 3000000000_8
        end do
        !$omp end parallel do
        sums(7:8) = sums(7:8) + [plain, dynamic]
    end subroutine count_long

    subroutine nested(first, last, step, total)
        integer, intent(in) :: first, last, step
        integer, intent(inout) :: total
        integer :: i, j

        !$omp parallel do collapse(2) reduction(+:total)
        do i = first, last, step
            do j = 1, 3
                total = total + 10 * j + i
            end do
        end do
        !$omp end parallel do
    end subroutine nested
end program loops_fortran
