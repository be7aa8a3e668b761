! Fortran: what flang 19 does not have (loops of tasks, devices), and tasks with firstprivate variables: its tasks read
! these when they are executed, also on libomp.
program later_fortran
    implicit none
    integer :: i, n, marks(200)
    integer, pointer :: present_marks(:)

    marks = 0
    !$omp parallel
    !$omp single
    do i = 1, 200
        !$omp task firstprivate(i)
        marks(i) = marks(i) + 1
        !$omp end task
    end do
    !$omp taskwait
    !$omp taskloop grainsize(9)
    do n = 1, 200
        marks(n) = marks(n) + n
    end do
    !$omp end taskloop
    !$omp end single
    !$omp end parallel
    print '(a, i0)', 'marks ', sum(marks)

    allocate (present_marks(3))
    call set_if_present(present_marks)
    call set_if_present()
    print '(a, i0)', 'present ', present_marks(1)
contains
    ! An argument that is absent has no address on the device either.
    subroutine set_if_present(numbers)
        integer, optional, pointer, intent(in) :: numbers(:)
        !$omp target has_device_addr(numbers)
        if (present(numbers)) numbers = 42
        !$omp end target
    end subroutine set_if_present
end program later_fortran
