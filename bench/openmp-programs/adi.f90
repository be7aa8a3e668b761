! Heat in a cube, implicit in one direction after the other, as the BT and SP benchmarks of NAS are built: each step
! solves lines along x, y and z. The first two kinds of lines lie within the planes of a thread, the third one crosses
! those of all. A sine wave decays by a factor that is known exactly.
module cube
    use, intrinsic :: iso_c_binding, only: c_int, c_char, c_null_char
    implicit none
    integer, parameter :: n = 64, steps = 10
    real(8), parameter :: pi = 3.14159265358979324d0, a = 0.3d0
    real(8) :: u(n, n, n)
contains
    ! The wave, by the threads that work on its planes; then the steps.
    subroutine solve() bind(C, name="program_solve")
        integer :: step
        call begin()
        do step = 1, steps
            call along_x_and_y()
            call along_z()
        end do
    end subroutine

    subroutine begin()
        integer :: i, j, k
!$omp parallel do private(i, j) schedule(static)
        do k = 1, n
            do j = 1, n
                do i = 1, n
                    u(i, j, k) = wave(i) * wave(j) * wave(k)
                end do
            end do
        end do
    end subroutine

    subroutine along_x_and_y()
        integer :: j, k
        real(8) :: line(n)
        real(8) :: plane(n, n)
!$omp parallel do private(j, line, plane) schedule(static)
        do k = 1, n
            do j = 1, n
                line = u(:, j, k)
                call solve_line(line)
                u(:, j, k) = line
            end do
            plane = u(:, :, k)
            call solve_lines(plane)
            u(:, :, k) = plane
        end do
    end subroutine

    subroutine along_z()
        integer :: j, k
        real(8) :: plane(n, n)
!$omp parallel do private(k, plane) schedule(static)
        do j = 1, n
            do k = 1, n
                plane(:, k) = u(:, j, k)
            end do
            call solve_lines(plane)
            do k = 1, n
                u(:, j, k) = plane(:, k)
            end do
        end do
    end subroutine

    ! Solves (1 + 2a) x(i) - a (x(i-1) + x(i+1)) = d(i) in the place of d; x is 0 beyond both ends.
    subroutine solve_line(d)
        real(8), intent(inout) :: d(n)
        real(8) :: c(n), pivot
        integer :: i
        pivot = 1 + 2 * a
        d(1) = d(1) / pivot
        do i = 2, n
            c(i) = -a / pivot
            pivot = 1 + 2 * a + a * c(i)
            d(i) = (d(i) + a * d(i - 1)) / pivot
        end do
        do i = n - 1, 1, -1
            d(i) = d(i) - c(i + 1) * d(i + 1)
        end do
    end subroutine

    ! The same for a line in each row of a plane.
    subroutine solve_lines(d)
        real(8), intent(inout) :: d(n, n)
        real(8) :: c(n), pivot
        integer :: i
        pivot = 1 + 2 * a
        d(:, 1) = d(:, 1) / pivot
        do i = 2, n
            c(i) = -a / pivot
            pivot = 1 + 2 * a + a * c(i)
            d(:, i) = (d(:, i) + a * d(:, i - 1)) / pivot
        end do
        do i = n - 1, 1, -1
            d(:, i) = d(:, i) - c(i + 1) * d(:, i + 1)
        end do
    end subroutine

    pure real(8) function wave(i)
        integer, intent(in) :: i
        wave = sin(pi * i / (n + 1))
    end function

    integer(c_int) function prepare(variant) bind(C, name="program_prepare")
        character(kind=c_char), intent(in) :: variant(*)
        prepare = merge(1, 0, variant(1) == c_null_char)
    end function

    integer(c_int) function is_right() bind(C, name="program_is_right")
        real(8) :: decay
        integer :: i
        decay = (1 / (1 + 4 * a * sin(pi / (2 * (n + 1)))**2))**(3 * steps)
        is_right = 1
        do i = 1, n
            if (abs(u(i, n / 2, i) - decay * wave(i)**2 * wave(n / 2)) > 1d-12) is_right = 0
        end do
    end function
end module
