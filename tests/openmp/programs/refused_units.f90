! Fortran: what a thread of another process cannot do with a unit that main has opened; the program's argument says what.
program refused_units
    use omp_lib
    implicit none
    character(len=20) :: what, line
    integer :: number
    call get_command_argument(1, what)
    select case (what)
    case ('unformatted'); open (10, status='scratch', form='unformatted')
    case (''); print '(a)', 'nothing is refused'
    case ('direct'); open (10, status='scratch', form='formatted', access='direct', recl=20)
    case default; open (10, status='scratch')
    end select
    !$omp parallel private(line, number)
    if (omp_get_thread_num() == omp_get_num_threads() - 1) then
        select case (what)
        case ('read'); read (10, '(a)', iostat=number) line
        case ('rewind'); rewind (10)
        case ('close'); close (10)
        case ('unformatted'); write (10) 1
        case ('direct'); write (10, '(a)', rec=1) 'line'
        end select
    end if
    !$omp end parallel
end program refused_units
