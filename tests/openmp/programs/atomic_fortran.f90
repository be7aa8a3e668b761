! Fortran: atomic constructs of several kinds, and threads that wait for flags, in functions that cannot throw: flang
! writes no tables for unwinding for these.
module flags
    implicit none
    integer, parameter :: rows = 40, columns = 64, passes = 50
    integer :: done(16, 0:63) = 0 ! one line of the cache for each thread
    real(8) :: grid(columns, 0:rows, 0:passes) = 0
contains
    ! Waits until the thread before this one has set its flag, and takes it back.
    subroutine await(thread)
        integer, intent(in) :: thread
        integer :: value
        if (thread > 0) then
            value = 0
            do while (value == 0)
                !$omp atomic read
                value = done(1, thread - 1)
            end do
            !$omp atomic write
            done(1, thread - 1) = 0
        end if
        !$omp flush
    end subroutine await

    ! Sets the flag of this thread when the next one has taken it back.
    subroutine set(thread, threads)
        integer, intent(in) :: thread, threads
        integer :: value
        !$omp flush
        if (thread < threads - 1) then
            value = 1
            do while (value == 1)
                !$omp atomic read
                value = done(1, thread)
            end do
            !$omp atomic write
            done(1, thread) = 1
        end if
    end subroutine set

    ! Each row needs the row before it, which may be another thread's, and what the last pass made of it.
    subroutine sweep(first, last, pass)
        integer, intent(in) :: first, last, pass
        integer :: row, column
        do row = first, last
            do column = 1, columns
                grid(column, row, pass) = 0.4d0 * (grid(column, row - 1, pass) + grid(column, row, pass - 1) + column)
            end do
        end do
    end subroutine sweep
end module flags

program atomic_fortran
    use flags
    use omp_lib
    implicit none
    integer :: i, thread, threads, pass, share, seen
    integer(4) :: count, least, greatest, bits, parity
    integer(8) :: long
    real(4) :: half
    real(8) :: whole, product
    logical :: any_third, all_positive
    integer :: ticket, taken(500)

    count = 0; least = 1000; greatest = -1000; bits = 0; parity = 0; long = 0; half = 0; whole = 0; product = 1
    any_third = .false.; all_positive = .true.; ticket = 0; taken = 0
    !$omp parallel do private(seen) schedule(static, 3)
    do i = 1, 500
        !$omp atomic
        count = count + i
        !$omp atomic
        least = min(least, mod(i * 37, 501))
        !$omp atomic
        greatest = max(greatest, mod(i * 37, 501))
        !$omp atomic
        bits = ior(bits, ishft(1, mod(i, 20)))
        !$omp atomic
        parity = ieor(parity, i)
        !$omp atomic
        long = long - int(i, 8) * 10000000000_8
        !$omp atomic
        half = half + 0.5
        !$omp atomic
        whole = whole + 0.25d0
        if (mod(i, 100) == 0) then
            !$omp atomic
            product = product * 2
        end if
        !$omp atomic
        any_third = any_third .or. mod(i, 3) == 0
        !$omp atomic
        all_positive = all_positive .and. i > 0
        !$omp atomic capture
        ticket = ticket + 1
        seen = ticket
        !$omp end atomic
        taken(seen) = taken(seen) + 1
    end do
    !$omp end parallel do
    print '(a, 5(1x, i0))', 'integers', count, least, greatest, bits, parity
    print '(a, 1x, i0, 3(1x, f0.2))', 'others', long, half, whole, product
    print '(a, 2(1x, l1), 2(1x, i0))', 'logical', any_third, all_positive, minval(taken), maxval(taken)

    !$omp parallel private(thread, threads, share, pass)
    thread = omp_get_thread_num()
    threads = omp_get_num_threads()
    share = (rows + threads - 1) / threads
    do pass = 1, passes
        call await(thread)
        call sweep(thread * share + 1, min((thread + 1) * share, rows), pass)
        call set(thread, threads)
    end do
    !$omp end parallel
    print '(a, 2(1x, f0.6))', 'pipeline', sum(grid), grid(columns, rows, passes)
end program atomic_fortran
