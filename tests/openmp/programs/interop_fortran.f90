! Interoperability objects and the names of devices by Fortran's functions (gfortran 15).
program interop_fortran
    use omp_lib
    implicit none
    integer(omp_interop_kind) :: object
    integer(omp_interop_rc_kind) :: code
    character(:), pointer :: text

    object = omp_interop_none
    code = omp_irc_other
    print *, omp_get_num_interop_properties(object), omp_get_interop_int(object, omp_ipr_vendor, code), code
    text => omp_get_interop_str(object, omp_ipr_vendor, code)
    print *, associated(text), code
    text => omp_get_interop_name(object, omp_ipr_device_num)
    print *, '[', text, ']'
    text => omp_get_interop_type_desc(object, omp_ipr_vendor)
    print *, associated(text)
    text => omp_get_interop_rc_desc(object, omp_irc_empty)
    print *, associated(text), len(text) > 0
    text => omp_get_interop_rc_desc(object, omp_irc_other)
    print *, associated(text)

    text => omp_get_uid_from_device(omp_initial_device)
    print *, '[', text, ']', omp_get_device_from_uid(text), omp_get_device_from_uid('none')
    text => omp_get_uid_from_device(17)
    print *, associated(text)
    text => omp_get_uid_from_device(17_8)
    print *, associated(text)
end program interop_fortran
