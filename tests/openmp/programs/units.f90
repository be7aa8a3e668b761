! Fortran: units of files to which the threads of all processes write. What they have at the end goes to unit 0, because
! unit 6 is one of them.
program units
    use omp_lib
    implicit none
    integer :: i, which, thread, first, unopened, shared, own, round, total, status
    logical :: is_open
    character(len=12) :: word = 'it''s "here"'
    real(8) :: number
    namelist /group/ which, number

    ! One that main has opened: all kinds of statements, whose lines come in the order of the threads.
    open (10, file='main', delim='quote', recl=100, sign='plus', status='replace')
    write (10, '(a)') 'first'
    !$omp parallel do ordered schedule(static, 1) private(is_open)
    do i = 1, 24
        !$omp ordered
        which = i
        number = i / 8.0d0
        select case (mod(i, 6))
        case (0); write (10, '(a, i0, f8.3)') 'formatted ', i, number
        case (1); write (10, *) i, word, number
        case (2); write (10, '(i0)', advance='no') i
        case (3); write (10, '(a, /, a)') ' goes on', 'and ends'
        case (4); write (10, group)
        case (5); write (10, '(a)') ''
        end select
        inquire (unit=10, opened=is_open)
        if (.not. is_open) write (10, '(a)') 'it is not open'
        flush (10)
        !$omp end ordered
    end do
    !$omp end parallel do
    write (10, '(a)') 'last'
    close (10)
    call show('main')

    ! The same number again.
    open (10, file='again', status='replace')
    !$omp parallel do ordered schedule(static, 1)
    do i = 1, 6
        !$omp ordered
        write (10, *) i, word
        call flush(10)
        !$omp end ordered
    end do
    !$omp end parallel do
    rewind (10)
    read (10, *) first
    close (10)
    write (0, '(a, i0)') 'first of again ', first
    call show('again')

    ! One that the last thread opens and closes, and one that nobody has opened.
    unopened = 37
    !$omp parallel private(thread)
    thread = omp_get_thread_num()
    if (thread == omp_get_num_threads() - 1) open (11, file='last', status='replace')
    !$omp barrier
    !$omp do ordered schedule(static, 1)
    do i = 1, 8
        !$omp ordered
        write (11, '(a, i0)') 'line ', i
        write (unopened, '(i0)') i
        !$omp end ordered
    end do
    !$omp end do
    !$omp barrier
    if (thread == omp_get_num_threads() - 1) close (11)
    !$omp end parallel
    call show('last')

    ! New units: one of main's, and one of each thread, which it reads again; numbers come again.
    total = 0
    do round = 1, 3
        open (newunit=shared, file='new', status='replace')
        !$omp parallel private(own, first, status) reduction(+: total)
        open (newunit=own, status='scratch')
        !$omp do ordered schedule(static, 1)
        do i = 1, 8
            !$omp ordered
            write (shared, '(a, i0, a, i0)') 'round ', round, ' line ', i
            write (own, '(i0)') i
            !$omp end ordered
        end do
        !$omp end do
        rewind (own)
        do
            read (own, *, iostat=status) first
            if (status /= 0) exit
            total = total + first
        end do
        close (own)
        !$omp end parallel
        close (shared)
    end do
    write (0, '(a, i0)') 'in new units ', total
    call show('new')

    ! What is longer than a buffer, without an order, and made by other statements.
    open (12, file='long', status='replace')
    !$omp parallel do
    do i = 1, 4000
        write (12, '(a, a)') repeat('x', 100), text_of(i)
    end do
    !$omp end parallel do
    close (12)
    call count('long')

    ! The unit of what is printed.
    open (6, file='printed', status='replace')
    !$omp parallel do ordered schedule(static, 1)
    do i = 1, 6
        !$omp ordered
        print '(a, i0)', 'printed ', i
        !$omp end ordered
    end do
    !$omp end parallel do
    close (6)
    call show('printed')
contains
    function text_of(i) result(text)
        integer, intent(in) :: i
        character(len=4) :: text
        write (text, '(i4)') i
    end function text_of

    subroutine show(name)
        character(len=*), intent(in) :: name
        character(len=200) :: line
        integer :: status
        write (0, '(a, a)') '== ', name
        open (20, file=name, status='old')
        do
            read (20, '(a)', iostat=status) line
            if (status /= 0) exit
            write (0, '(a)') trim(line)
        end do
        close (20)
    end subroutine show

    subroutine count(name)
        character(len=*), intent(in) :: name
        character(len=100) :: line
        integer :: status, number, lines, total
        lines = 0
        total = 0
        open (20, file=name, status='old')
        do
            read (20, '(a, i4)', iostat=status) line, number
            if (status /= 0) exit
            if (verify(line, 'x') == 0) lines = lines + 1
            total = total + number
        end do
        close (20)
        write (0, '(a, a, 2(1x, i0))') '== ', name, lines, total
    end subroutine count
end program units
