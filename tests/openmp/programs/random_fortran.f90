! Threads that draw random numbers from Fortran's generator: no number comes twice.
program random_fortran
    implicit none
    integer :: size, i
    integer, allocatable :: seed(:)

    call draw('as they are')
    call random_seed(size=size)
    allocate (seed(size))
    seed = [(37*i, i=1, size)]
    call random_seed(put=seed)
    call draw('seeded')
    seed = seed + 1
    call random_seed(put=seed)
    call draw('and again')
contains
    subroutine draw(when)
        use omp_lib
        character(len=*), intent(in) :: when
        integer, parameter :: draws = 40
        real(8) :: drawn(draws, 64)
        integer :: i, j, threads, twice
        threads = 1
        !$omp parallel private(i)
        !$omp single
        threads = omp_get_num_threads()
        !$omp end single
        do i = 1, draws
            call random_number(drawn(i, omp_get_thread_num() + 1))
        end do
        !$omp end parallel
        twice = 0
        do i = 1, threads
            do j = 1, i - 1
                twice = twice + count(drawn(:, i) == drawn(:, j))
            end do
        end do
        print '(a, a, i0, a)', when, ': ', twice, ' numbers came twice'
    end subroutine
end program
