! What the start of a Fortran program tells its library: its arguments, and the options -fconvert and -ffpe-trap.
program process_fortran
    use omp_lib
    use ieee_arithmetic
    implicit none
    character(len=200) :: of_main, name
    character(len=4) :: bytes
    integer :: arguments, swapped, halting, unit, number
    logical :: halts
    call get_command_argument(0, of_main)
    arguments = 0
    swapped = 0
    halting = 0
    !$omp parallel private(name, bytes, unit, number, halts) reduction(+: arguments, swapped, halting)
    call get_command_argument(0, name)
    if (len_trim(name) > 0 .and. name == of_main) arguments = arguments + 1

    number = 1
    open (newunit=unit, status='scratch', form='unformatted', access='stream')
    write (unit) number
    rewind (unit)
    read (unit) bytes
    close (unit)
    if (ichar(bytes(4:4)) == 1) swapped = swapped + 1

    call ieee_get_halting_mode(ieee_divide_by_zero, halts)
    if (halts) halting = halting + 1
    !$omp end parallel
    print *, arguments / omp_get_max_threads(), swapped / omp_get_max_threads(), halting / omp_get_max_threads()
end program
