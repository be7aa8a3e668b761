! Files that threads open and nobody closes, in the folder that is the program's argument. With another argument, the
! last thread ends the program.
program unclosed
    use omp_lib
    implicit none
    character(len=200) :: folder, name
    integer :: unit
    call get_command_argument(1, folder)
    if (len_trim(folder) == 0) stop 'which folder?'
    !$omp parallel private(name, unit)
    write (name, '(a, a, i0)') trim(folder), '/', omp_get_thread_num()
    open (newunit=unit, file=name, status='replace')
    write (unit, *) 'a line'
    if (command_argument_count() > 1 .and. omp_get_thread_num() == omp_get_num_threads() - 1) stop
    !$omp end parallel
end program
