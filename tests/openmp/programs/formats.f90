! What Fortran's library keeps of formats until the end of the program lies in pages that the last thread is the first to write, and writes later again.
program formats
    use omp_lib
    implicit none
    type piece
        integer, allocatable :: values(:)
    end type
    type(piece) :: pieces(20)
    character(len=20) :: form
    integer :: i
    do i = 1, size(pieces)
        allocate (pieces(i)%values(2000 + 97 * i)) ! ends somewhere in a page
        call set(i)
        write (form, '(a, i0, a)') '(i', 3 + i, ')'
        print form, i
    end do
    do i = 1, size(pieces)
        call set(i)
    end do
contains
    subroutine set(i)
        integer, intent(in) :: i
        !$omp parallel
        if (omp_get_thread_num() == omp_get_num_threads() - 1) pieces(i)%values = i
        !$omp end parallel
    end subroutine
end program
