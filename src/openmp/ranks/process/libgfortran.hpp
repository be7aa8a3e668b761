#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

/// What programs of gfortran pass to its library for each statement of input and output (GCC 8 and newer, ioparm.def
/// and libgfortran's io.h), as far as the runtime looks at it; and the library's own functions, behind those of this
/// runtime.
namespace kumiki::openmp::libgfortran {

struct TextFirst {
    const char* text;
    std::size_t length;
};
struct LengthFirst {
    std::size_t length;
    const char* text;
};
constexpr TextFirst text_first(std::string_view text) { return {text.data(), text.size()}; }
constexpr LengthFirst length_first(std::string_view text) { return {text.size(), text.data()}; }

/// The beginning of each block. `flags` says which of its other members have been set.
struct Statement {
    std::int32_t flags, unit;
    const char* file_name; ///< of the program, for messages; with the line
    std::int32_t line;
    LengthFirst message;
    std::int32_t* status;

    bool has_failed() const { return (flags & 3) != 0; }
};
constexpr std::int32_t has_status_variable = 1 << 5;

struct OpenStatement {
    Statement common;
    std::int32_t record_length;
    LengthFirst file;
    TextFirst status;
    LengthFirst access;
    TextFirst form;
    LengthFirst blank;
    TextFirst position;
    LengthFirst action;
    TextFirst delim;
    LengthFirst pad;
    TextFirst convert;
    LengthFirst decimal;
    TextFirst encoding;
    LengthFirst round;
    TextFirst sign;
    LengthFirst asynchronous;
    std::int32_t* new_unit;
    std::byte more[128];
};
enum OpenFlag : std::int32_t {
    has_record_length = 1 << 7,
    has_file = 1 << 8,
    has_status = 1 << 9,
    has_access = 1 << 10,
    has_form = 1 << 11,
    has_delim = 1 << 15,
    has_decimal = 1 << 18,
    has_encoding = 1 << 19,
    has_round = 1 << 20,
    has_sign = 1 << 21,
    has_new_unit = 1 << 23
};

struct CloseStatement {
    Statement common;
    std::byte more[64];
};

/// Of a statement that transfers data.
struct DataStatement {
    Statement common;
    std::int64_t record;
    void *size, *length, *internal_array;
    TextFirst format;
    LengthFirst advance;
    std::byte more[1024]; ///< the library's own variables, among others
};
enum DataFlag : std::int32_t { has_format = 1 << 12, has_advance = 1 << 13 };
/// Of a statement that transfers data from or to a text of the program, and of INQUIRE about a file by its name.
constexpr std::int32_t has_no_unit = 1 << 14;

/// The options DELIM, DECIMAL, ENCODING, ROUND and SIGN, on which the text of a statement depends; empty: not given.
using Texts = std::array<std::array<char, 20>, 5>;
Texts texts_of(const OpenStatement& statement);
/// `texts` must outlive the statement.
void set_texts(OpenStatement& statement, const Texts& texts);
/// Whether what is written to the unit are lines of text, one after the other.
bool has_lines(const OpenStatement& statement);

void open(OpenStatement& statement);
void close(CloseStatement& statement);
/// Writes one text.
void write(DataStatement& statement, std::string_view text);
void flush(std::int32_t unit);

} // namespace kumiki::openmp::libgfortran
