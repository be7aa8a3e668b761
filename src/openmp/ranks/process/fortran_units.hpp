#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "openmp/ranks/process/libgfortran.hpp"
#include "platform/descriptor.hpp"

namespace kumiki::openmp {

class Ranks;

/// Fortran's units of files. gfortran's library is private to each process, so a unit belongs to the process that opens
/// it, but the program may use its number in threads of all processes. What another process writes goes to a unit of
/// its own with the same number and options, whose file is in memory, its stand-in. When the statement has ended, its
/// text is passed on as that of a stream of the owner's (Streams), which writes it to the unit. That needs lines, so
/// the unit must be formatted and sequential. All other uses are refused: reading, moving, and closing.
class FortranUnits {
public:
    /// Options of a unit on which the text of a statement depends, as the program gives them; empty: the default.
    struct Options {
        bool has_lines = true;          ///< whether it is formatted and sequential
        std::int32_t record_length = 0; ///< 0: the default
        libgfortran::Texts texts{};
    };

    /// A unit that a process has opened, in memory that all see. Only this process changes it.
    struct Unit {
        Unit* next;
        std::int32_t number;
        std::uint32_t opened; ///< how many times
        bool is_open;
        std::FILE* stream; ///< what is written to it goes to the unit
        Options options;
    };

    /// `lists`: null pointers in memory that all see, where the units of each rank begin.
    FortranUnits(Ranks& ranks, std::span<Unit**> lists);

    /// A statement is about to write to a unit, or to read from it.
    void begin_writing(std::int32_t number);
    void begin_reading(std::int32_t number);
    /// One has done so.
    void note_news(std::int32_t number);
    /// The thread is in the library until end_statement(), which may be within another statement. Meanwhile it writes
    /// nothing that comes from other processes.
    static void begin_statement();
    void end_statement();
    class InLibrary {
    public:
        explicit InLibrary(FortranUnits& units) : units_(units) { begin_statement(); }
        ~InLibrary() { units_.end_statement(); }
        InLibrary(const InLibrary&) = delete;
        InLibrary& operator=(const InLibrary&) = delete;

    private:
        FortranUnits& units_;
    };
    /// Something is asked about a unit, or its text is to reach its file.
    void look_at(std::int32_t number);
    /// A unit is moved or closed.
    void change(std::int32_t number);
    /// A number for a unit for which the program wants a new one, other than all of this and other processes. It is in
    /// use until it is closed.
    std::int32_t new_number();
    void note_opened(std::int32_t number, const Options& options);
    void note_closed(std::int32_t number);
    /// The program opens a unit with the number of this one, so the stand-in is not needed any more.
    void forget_stand_in(std::int32_t number);
    /// Writes what has come from other processes.
    void write_kept();

private:
    /// A unit of this process.
    struct Own {
        FortranUnits* units;
        std::int32_t number;
        Unit* told = nullptr;
        std::FILE* stream = nullptr;
        bool is_open = false;
    };
    struct StandIn {
        Unit of;
        platform::Descriptor file;
        off_t passed_on = 0; ///< bytes
        bool has_news = false;
    };
    bool is_own(std::int32_t number);
    std::optional<Unit> elsewhere(std::int32_t number) const;
    void stand_in_for(const Unit& unit);
    void pass_on_news();
    static void pass_on(StandIn& stand_in);
    static ssize_t keep(void* own, const char* text, std::size_t bytes);

    Ranks& ranks_;
    std::vector<Unit**> lists_;
    std::mutex connecting_; ///< one thread at a time makes or forgets stand-ins
    std::mutex mutex_;      ///< guards what follows
    std::map<std::int32_t, Own> own_;
    std::map<std::int32_t, StandIn> stand_ins_;
    std::set<std::int32_t> new_numbers_;                     ///< in use
    std::vector<std::pair<std::int32_t, std::string>> kept_; ///< text of other processes, by unit
    bool is_writing_ = false;                                ///< a thread does write_kept()
};

} // namespace kumiki::openmp
