# Looks for a Fortran compiler, without which what is written in Fortran is left out: CMAKE_Fortran_COMPILER is false if there is none.
# CMake would remember for ever that there was none, though one may have been installed since.
if(NOT CMAKE_Fortran_COMPILER)
    unset(CMAKE_Fortran_COMPILER CACHE)
endif()
include(CheckLanguage)
check_language(Fortran)
