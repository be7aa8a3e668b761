! Arrays with a descriptor that are firstprivate in a target construct, which gfortran copies since version 13.
program array_descriptors
    implicit none
    integer, allocatable :: numbers(:), none(:)
    integer :: inside(6), i
    numbers = [(i * i, i = 1, 6)]
    !$omp target firstprivate(numbers, none) map(from: inside)
    inside = numbers
    numbers(:) = -1
    if (allocated(none)) inside = 0
    !$omp end target
    print '(6i4)', inside
    print '(6i4)', numbers
    !$omp target defaultmap(firstprivate) map(from: inside)
    inside = numbers(6:1:-1)
    numbers(2) = 0
    !$omp end target
    print '(6i4)', inside, numbers
end program
