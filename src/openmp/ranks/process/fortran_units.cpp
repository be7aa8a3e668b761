#include "openmp/ranks/process/fortran_units.hpp"

#include <atomic>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "openmp/ranks/process/libgfortran.hpp"
#include "openmp/ranks/process/streams.hpp"
#include "openmp/ranks/process/ties.hpp"
#include "openmp/ranks/ranks.hpp"

namespace kumiki::openmp {
namespace {

/// The calls of the library in which this thread is: while it is in one, it may hold locks of the library, and that
/// would refuse another statement for the same unit.
thread_local int statements = 0;

bool is_preconnected(std::int32_t number) { return number == 0 || number == 5 || number == 6; }

/// Writes a record, or a part of one that goes on, as other processes have made it.
void write_record(std::int32_t number, std::string_view text, bool is_whole) {
    libgfortran::DataStatement statement{};
    statement.common.unit = number;
    statement.common.file_name = "(another process)";
    statement.common.flags = libgfortran::has_format | libgfortran::has_advance;
    statement.format = libgfortran::text_first("(a)");
    statement.advance = libgfortran::length_first(is_whole ? "yes" : "no");
    libgfortran::write(statement, text);
}

void write_lines(std::int32_t number, std::string_view text) {
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        write_record(number, text.substr(0, end), end != std::string_view::npos);
        text.remove_prefix(end != std::string_view::npos ? end + 1 : text.size());
    }
}

/// Makes this file in memory the unit's in this process.
bool open_unit(const FortranUnits::Unit& unit, int file) {
    const std::string name = fmt::format("/proc/self/fd/{}", file);
    libgfortran::OpenStatement statement{};
    statement.common.unit = unit.number;
    statement.common.flags = libgfortran::has_file | libgfortran::has_status;
    statement.file = libgfortran::length_first(name);
    statement.status = libgfortran::text_first("old");
    if (unit.options.record_length != 0) {
        statement.common.flags |= libgfortran::has_record_length;
        statement.record_length = unit.options.record_length;
    }
    libgfortran::set_texts(statement, unit.options.texts);
    std::int32_t status = 0; // without it, an error would end the program
    statement.common.status = &status;
    statement.common.flags |= libgfortran::has_status_variable;
    const NoTies no_ties; // elsewhere the thread would get another stand-in
    libgfortran::open(statement);
    return status == 0;
}

[[noreturn]] void refuse_other_uses(const Ranks& ranks) {
    ranks.refuse(
        "a unit of Fortran that another process has opened, in other ways than by formatted, sequential WRITE");
}

} // namespace

FortranUnits::FortranUnits(Ranks& ranks, std::span<Unit**> lists) : ranks_(ranks), lists_(lists.begin(), lists.end()) {}

bool FortranUnits::is_own(std::int32_t number) {
    const std::lock_guard lock(mutex_);
    const auto own = own_.find(number);
    return own != own_.end() && own->second.is_open;
}

/// The program orders the statements of different threads, so what others tell does not change meanwhile.
std::optional<FortranUnits::Unit> FortranUnits::elsewhere(std::int32_t number) const {
    for (std::size_t rank = 0; rank < lists_.size(); ++rank) {
        if (static_cast<int>(rank) == ranks_.rank()) continue;
        for (const Unit* unit = *lists_[rank]; unit != nullptr; unit = unit->next)
            if (unit->number == number && unit->is_open) return *unit;
    }
    return {};
}

/// A unit that nobody has opened becomes one of this process: the library opens a file that is named after its number.
void FortranUnits::begin_writing(std::int32_t number) {
    if (!is_own(number)) {
        if (const auto unit = elsewhere(number)) stand_in_for(*unit);
        else {
            forget_stand_in(number);
            if (!is_preconnected(number)) note_opened(number, {});
        }
    }
}

void FortranUnits::begin_reading(std::int32_t number) {
    change(number);
    if (!is_own(number) && !is_preconnected(number)) note_opened(number, {});
}

void FortranUnits::look_at(std::int32_t number) {
    if (is_own(number)) return;
    if (const auto unit = elsewhere(number); unit && unit->options.has_lines) stand_in_for(*unit);
}

void FortranUnits::change(std::int32_t number) {
    if (!is_own(number) && elsewhere(number)) refuse_other_uses(ranks_);
}

void FortranUnits::begin_statement() { ++statements; }

void FortranUnits::note_news(std::int32_t number) {
    const std::lock_guard lock(mutex_);
    if (const auto at = stand_ins_.find(number); at != stand_ins_.end()) at->second.has_news = true;
}

void FortranUnits::end_statement() {
    if (--statements > 0) return;
    pass_on_news();
    write_kept();
}

/// Numbers of units that have been closed come again, because what is kept for a number stays.
std::int32_t FortranUnits::new_number() {
    constexpr std::int32_t of_each_rank = 1'000'000;
    const std::lock_guard lock(mutex_);
    std::int32_t number = (ranks_.rank() + 1) * of_each_rank;
    while (!new_numbers_.insert(number).second) ++number;
    return number;
}

void FortranUnits::note_opened(std::int32_t number, const Options& options) {
    Own* own = nullptr;
    {
        const std::lock_guard lock(mutex_);
        own = &own_.try_emplace(number, Own{this, number}).first->second;
        own->is_open = true;
    }
    if (own->stream == nullptr) {
        constexpr cookie_io_functions_t functions{.read = nullptr, .write = keep, .seek = nullptr, .close = nullptr};
        own->stream = Streams::open([&] { return fopencookie(own, "w", functions); });
    }
    if (own->told == nullptr) {
        own->told = static_cast<Unit*>(ranks_.allocate(sizeof(Unit), alignof(Unit)));
        if (own->told == nullptr) ranks_.refuse("a unit of Fortran, and more memory than there is");
        Unit*& first = *lists_[static_cast<std::size_t>(ranks_.rank())];
        *own->told = {std::atomic_ref(first).load(), number, 0, false, nullptr, {}};
        while (!std::atomic_ref(first).compare_exchange_weak(own->told->next, own->told)) {}
    }
    own->told->stream = Streams::has_place(own->stream) ? own->stream : nullptr;
    own->told->options = options;
    ++own->told->opened;
    own->told->is_open = true;
}

/// The stream stays for the next time.
void FortranUnits::note_closed(std::int32_t number) {
    Unit* told = nullptr;
    {
        const std::lock_guard lock(mutex_);
        new_numbers_.erase(number);
        const auto own = own_.find(number);
        if (own == own_.end()) return;
        own->second.is_open = false;
        told = own->second.told;
    }
    if (told != nullptr) told->is_open = false;
}

// -- in other processes than the owner's --

void FortranUnits::stand_in_for(const Unit& unit) {
    if (!unit.options.has_lines || unit.stream == nullptr) refuse_other_uses(ranks_);
    const std::lock_guard connecting(connecting_);
    {
        const std::lock_guard lock(mutex_);
        const auto known = stand_ins_.find(unit.number);
        if (known != stand_ins_.end() && known->second.of.stream == unit.stream &&
            known->second.of.opened == unit.opened)
            return;
    }
    platform::Descriptor file(memfd_create("kumiki-unit", MFD_CLOEXEC));
    if (!file || !open_unit(unit, file.get())) ranks_.refuse("a unit of Fortran, and more files than there may be");
    const std::lock_guard lock(mutex_);
    stand_ins_.insert_or_assign(unit.number, StandIn{unit, std::move(file)});
}

void FortranUnits::forget_stand_in(std::int32_t number) {
    const std::lock_guard connecting(connecting_);
    {
        const std::lock_guard lock(mutex_);
        if (stand_ins_.erase(number) == 0) return;
    }
    libgfortran::CloseStatement statement{};
    statement.common.unit = number;
    libgfortran::close(statement);
}

/// All stand-ins to which something has been written.
void FortranUnits::pass_on_news() {
    std::vector<std::int32_t> numbers;
    {
        const std::lock_guard lock(mutex_);
        for (auto& [number, stand_in] : stand_ins_)
            if (std::exchange(stand_in.has_news, false)) numbers.push_back(number);
    }
    for (const std::int32_t number : numbers) {
        ++statements;
        libgfortran::flush(number);
        --statements;
        const std::lock_guard lock(mutex_);
        const auto at = stand_ins_.find(number);
        if (at != stand_ins_.end()) pass_on(at->second);
    }
}

/// What has been passed on needs no memory any more.
void FortranUnits::pass_on(StandIn& stand_in) {
    struct stat now{};
    if (fstat(stand_in.file.get(), &now) != 0 || now.st_size <= stand_in.passed_on) return;
    std::string text(static_cast<std::size_t>(now.st_size - stand_in.passed_on), '\0');
    const ssize_t bytes = pread(stand_in.file.get(), text.data(), text.size(), stand_in.passed_on);
    if (bytes <= 0) return;
    std::fwrite(text.data(), 1, static_cast<std::size_t>(bytes), stand_in.of.stream);
    stand_in.passed_on += bytes;
    fallocate(stand_in.file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, stand_in.passed_on);
}

// -- in the owner's --

/// Called by the C library when text for a unit has come; the stream must not be used again before it returns.
ssize_t FortranUnits::keep(void* cookie, const char* text, std::size_t bytes) {
    const Own& own = *static_cast<Own*>(cookie);
    const std::lock_guard lock(own.units->mutex_);
    own.units->kept_.emplace_back(own.number, std::string(text, bytes));
    return static_cast<ssize_t>(bytes);
}

/// While the thread is in a statement, what has come waits for the statement's end: it may be one about the same unit.
/// A statement takes in what comes, too, because the library's locks of its units are shared memory's.
void FortranUnits::write_kept() {
    if (statements > 0) return;
    for (;;) {
        std::vector<std::pair<std::int32_t, std::string>> kept;
        {
            const std::lock_guard lock(mutex_);
            if (is_writing_ || kept_.empty()) return;
            is_writing_ = true;
            kept.swap(kept_);
        }
        ++statements;
        for (const auto& [number, text] : kept) write_lines(number, text);
        --statements;
        const std::lock_guard lock(mutex_);
        is_writing_ = false;
    }
}

} // namespace kumiki::openmp
