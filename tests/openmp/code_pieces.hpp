#pragma once

#include <cstddef>

/// A piece of code that is read and never executed. It begins and ends with a name, NAME_begin and NAME_end, and an
/// instruction that does not belong to it stands behind it.
#define PIECE(NAME, CODE)                                                                                              \
    asm(".pushsection .text\n" #NAME "_begin:\n" CODE "\n" #NAME "_end: ret\n.popsection");                            \
    extern "C" std::byte NAME##_begin[], NAME##_end[]
