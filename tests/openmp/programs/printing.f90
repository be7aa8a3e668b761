! What the threads of all processes print, in order, and between what main prints.
program printing
    implicit none
    integer :: i
    print *, 'begin'
    !$omp parallel do ordered schedule(static, 1)
    do i = 1, 8
        !$omp ordered
        print *, 'ordered', i
        !$omp end ordered
    end do
    write (*, '(a)', advance='no') 'one '
    write (*, '(a)') 'line'
    !$omp parallel do ordered schedule(static, 1)
    do i = 1, 8
        !$omp ordered
        write (*, '(a)', advance='no') 'half a '
        write (*, '(a, i3)') 'line', i
        !$omp end ordered
    end do
    print *, 'end'
end program
