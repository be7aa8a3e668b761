#include "openmp/ranks/process/libgfortran.hpp"

#include <algorithm>
#include <cctype>
#include <string>

#include "openmp/entry/entry.hpp"
#include "openmp/process.hpp"
#include "openmp/ranks/memory/malloc.hpp"
#include "openmp/ranks/process/fortran_units.hpp"
#include "openmp/ranks/ranks.hpp"
#include "platform/next_function.hpp"

namespace kumiki::openmp::libgfortran {
namespace {

std::string_view view(const TextFirst& text) { return {text.text, text.length}; }
std::string_view view(const LengthFirst& text) { return {text.text, text.length}; }

/// Whether an option, as the program gives it, is one of these; Fortran pads texts with blanks.
bool is_one_of(std::string_view option, std::initializer_list<std::string_view> values) {
    while (option.ends_with(' ')) option.remove_suffix(1);
    const auto is_same = [](char one, char other) { return std::tolower(static_cast<unsigned char>(one)) == other; };
    return std::ranges::any_of(values,
                               [&](std::string_view value) { return std::ranges::equal(option, value, is_same); });
}

/// Calls `each` with the flag and the place in the statement of each of the Texts.
template <class Opened, class Each>
void for_each_text(Opened& statement, Each each) {
    each(0, has_delim, statement.delim);
    each(1, has_decimal, statement.decimal);
    each(2, has_encoding, statement.encoding);
    each(3, has_round, statement.round);
    each(4, has_sign, statement.sign);
}

} // namespace

Texts texts_of(const OpenStatement& statement) {
    Texts texts{};
    for_each_text(statement, [&](std::size_t number, std::int32_t flag, const auto& text) {
        if ((statement.common.flags & flag) == 0) return;
        const std::string_view given = view(text);
        std::ranges::copy(given.substr(0, texts[number].size() - 1), texts[number].begin());
    });
    return texts;
}

void set_texts(OpenStatement& statement, const Texts& texts) {
    for_each_text(statement, [&](std::size_t number, std::int32_t flag, auto& text) {
        const std::string_view given = texts[number].data();
        if (given.empty()) return;
        statement.common.flags |= flag;
        text.text = given.data();
        text.length = given.size();
    });
}

bool has_lines(const OpenStatement& statement) {
    const std::int32_t flags = statement.common.flags;
    const bool is_sequential = (flags & has_access) == 0 || is_one_of(view(statement.access), {"sequential", "append"});
    return is_sequential && ((flags & has_form) == 0 || is_one_of(view(statement.form), {"formatted"}));
}

} // namespace kumiki::openmp::libgfortran

// -- functions of libgfortran --

namespace {

using kumiki::openmp::FortranUnits;
using namespace kumiki::openmp::libgfortran;

/// Null: the program runs as one process, or it is not the program that calls.
FortranUnits* units_for(const void* caller) {
    auto* const ranks = static_cast<kumiki::openmp::Ranks*>(kumiki::openmp::process().others());
    return ranks != nullptr && kumiki::openmp::is_program(caller) ? &ranks->fortran_units() : nullptr;
}

/// Whether the statement is about a unit, not about a text of the program, or a file by its name.
bool has_unit(const Statement& statement) { return (statement.flags & has_no_unit) == 0; }

} // namespace

#define KUMIKI_NEXT(name)                                                                                              \
    static auto* const next = kumiki::platform::next_function(&name, #name);                                           \
    const void* const caller = __builtin_return_address(0)

/// With NEWUNIT, the library would choose the same numbers in all processes, and would accept them in no other one.
KUMIKI_ENTRY void _gfortran_st_open(OpenStatement* statement) {
    KUMIKI_NEXT(_gfortran_st_open);
    FortranUnits* const units = units_for(caller);
    if (units == nullptr) return next(statement);
    Statement& common = statement->common;
    const bool is_new = (common.flags & has_new_unit) != 0;
    if (is_new) {
        common.unit = units->new_number();
        common.flags &= ~has_new_unit;
    } else {
        units->forget_stand_in(common.unit);
    }
    const FortranUnits::Options options{.has_lines = has_lines(*statement),
                                        .record_length =
                                            (common.flags & has_record_length) != 0 ? statement->record_length : 0,
                                        .texts = texts_of(*statement)};
    const FortranUnits::InLibrary in_library(*units);
    next(statement);
    const bool is_open = !common.has_failed();
    if (is_open) units->note_opened(common.unit, options);
    if (!is_new) return;
    common.flags |= has_new_unit;
    if (is_open) *statement->new_unit = common.unit;
    else units->note_closed(common.unit);
}

KUMIKI_ENTRY void _gfortran_st_close(CloseStatement* statement) {
    KUMIKI_NEXT(_gfortran_st_close);
    FortranUnits* const units = units_for(caller);
    if (units == nullptr) return next(statement);
    const std::int32_t number = statement->common.unit;
    units->change(number);
    const FortranUnits::InLibrary in_library(*units);
    next(statement);
    if (!statement->common.has_failed()) units->note_closed(number);
}

/// A statement about a text of the program is one of the library, too, whose locks it holds meanwhile.
#define KUMIKI_FORTRAN_TRANSFER(name, begin)                                                                           \
    KUMIKI_ENTRY void name(DataStatement* statement) {                                                                 \
        KUMIKI_NEXT(name);                                                                                             \
        if (FortranUnits* const units = units_for(caller)) {                                                           \
            if (has_unit(statement->common)) units->begin(statement->common.unit);                                     \
            FortranUnits::begin_statement();                                                                           \
        }                                                                                                              \
        next(statement);                                                                                               \
    }                                                                                                                  \
    KUMIKI_ENTRY void name##_done(DataStatement* statement) {                                                          \
        KUMIKI_NEXT(name##_done);                                                                                      \
        const std::int32_t number = statement->common.unit;                                                            \
        const bool is_about_unit = has_unit(statement->common);                                                        \
        next(statement);                                                                                               \
        FortranUnits* const units = units_for(caller);                                                                 \
        if (units == nullptr) return;                                                                                  \
        if (is_about_unit) units->note_news(number);                                                                   \
        units->end_statement();                                                                                        \
    }
KUMIKI_FORTRAN_TRANSFER(_gfortran_st_write, begin_writing)
KUMIKI_FORTRAN_TRANSFER(_gfortran_st_read, begin_reading)

#define KUMIKI_FORTRAN_STATEMENT(name, before)                                                                         \
    KUMIKI_ENTRY void name(Statement* statement) {                                                                     \
        KUMIKI_NEXT(name);                                                                                             \
        FortranUnits* const units = units_for(caller);                                                                 \
        if (units == nullptr) return next(statement);                                                                  \
        if (has_unit(*statement)) units->before(statement->unit);                                                      \
        const FortranUnits::InLibrary in_library(*units);                                                              \
        next(statement);                                                                                               \
    }
KUMIKI_FORTRAN_STATEMENT(_gfortran_st_rewind, change)
KUMIKI_FORTRAN_STATEMENT(_gfortran_st_backspace, change)
KUMIKI_FORTRAN_STATEMENT(_gfortran_st_endfile, change)
KUMIKI_FORTRAN_STATEMENT(_gfortran_st_flush, look_at)
KUMIKI_FORTRAN_STATEMENT(_gfortran_st_inquire, look_at)

/// Null: all units.
#define KUMIKI_FORTRAN_FLUSH(name, number)                                                                             \
    KUMIKI_ENTRY void name(const number* unit) {                                                                       \
        KUMIKI_NEXT(name);                                                                                             \
        FortranUnits* const units = units_for(caller);                                                                 \
        if (units == nullptr) return next(unit);                                                                       \
        if (unit != nullptr) units->look_at(static_cast<std::int32_t>(*unit));                                         \
        const FortranUnits::InLibrary in_library(*units);                                                              \
        next(unit);                                                                                                    \
    }
KUMIKI_FORTRAN_FLUSH(_gfortran_flush_i4, std::int32_t)
KUMIKI_FORTRAN_FLUSH(_gfortran_flush_i8, std::int64_t)

// -- and what the runtime itself calls --

extern "C" {
void _gfortran_transfer_character_write(DataStatement*, const char* text, std::size_t bytes);
}

namespace kumiki::openmp::libgfortran {

void open(OpenStatement& statement) {
    static auto* const call = platform::next_function(&_gfortran_st_open, "_gfortran_st_open");
    call(&statement);
}

void close(CloseStatement& statement) {
    static auto* const call = platform::next_function(&_gfortran_st_close, "_gfortran_st_close");
    call(&statement);
}

void write(DataStatement& statement, std::string_view text) {
    static auto* const begin = platform::next_function(&_gfortran_st_write, "_gfortran_st_write");
    static auto* const transfer =
        platform::next_function(&_gfortran_transfer_character_write, "_gfortran_transfer_character_write");
    static auto* const end = platform::next_function(&_gfortran_st_write_done, "_gfortran_st_write_done");
    begin(&statement);
    transfer(&statement, text.data(), text.size());
    end(&statement);
}

void flush(std::int32_t unit) {
    static auto* const call = platform::next_function(&_gfortran_flush_i4, "_gfortran_flush_i4");
    call(&unit);
}

} // namespace kumiki::openmp::libgfortran
