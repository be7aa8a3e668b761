#pragma once

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fabric/wireup/farewell.hpp"
#include "fabric/wireup/space.hpp"

namespace kumiki::fabric {

/// PMI-1, the protocol of MPICH's process manager (hydra), which srun --mpi=pmi2 speaks too: lines of `name=value`
/// words on a descriptor that the process inherited. The descriptor is an MPI library's as well, before us or after us:
/// it is not closed, each conversation begins with `init`, which hydra answers as often as it is asked, and `finalize`,
/// which it answers once, waits for the end of the process.
class Pmi1 : public KeyValueSpace {
public:
    static Result<std::unique_ptr<KeyValueSpace>> open(int descriptor, int rank, int size) {
        std::unique_ptr<Pmi1> space(new Pmi1(descriptor, rank, size));
        if (auto begun = space->begin(); !begun) return tl::unexpected(begun.error());
        return space;
    }

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    std::size_t longest_value() const override { return longest_value_; }

    bool has_written(std::string_view key) override { return get(rank_, key).has_value(); }

    Result<> put(std::string_view key, std::string_view value) override {
        auto answer = ask(fmt::format("cmd=put kvsname={} key={} value={}", space_, key, value), "put_result");
        if (!answer) return tl::unexpected(answer.error());
        return {};
    }
    Result<> fence() override {
        auto answer = ask("cmd=barrier_in", "barrier_out");
        if (!answer) return tl::unexpected(answer.error());
        return {};
    }
    Result<std::string> get(int, std::string_view key) override {
        return ask_for(fmt::format("cmd=get kvsname={} key={}", space_, key), "get_result", "value");
    }

private:
    Pmi1(int descriptor, int rank, int size) : descriptor_(descriptor), rank_(rank), size_(size) {}

    Result<> begin() {
        if (auto greeted = ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init"); !greeted)
            return tl::unexpected(greeted.error());
        auto longest = ask_for("cmd=get_maxes", "maxes", "vallen_max");
        if (!longest) return tl::unexpected(longest.error());
        // The process manager counts the zero at the end; and some count the name of the space in.
        std::size_t characters = 0;
        std::from_chars(longest->data(), longest->data() + longest->size(), characters);
        if (characters < least_value) return tl::unexpected(not_understood("cmd=get_maxes", *longest));
        longest_value_ = std::min(characters, most_value) / 2;
        auto space = ask_for("cmd=get_my_kvsname", "my_kvsname", "kvsname");
        if (!space) return tl::unexpected(space.error());
        space_ = std::move(*space);
        finalize_at_exit();
        return {};
    }

    /// A process that ends without `finalize` has failed in hydra's eyes, which then ends the job. MPI_Finalize says it
    /// too, and closes the descriptor; whether there will be one nobody can know before the end.
    void finalize_at_exit() const {
        at_good_end([descriptor = descriptor_, socket = inode(descriptor_)] {
            if (inode(descriptor) != socket) return; // MPI has finalized
            static_cast<void>(Pmi1(descriptor, 0, 1).ask("cmd=finalize", "finalize_ack"));
        });
    }
    /// What is behind a descriptor.
    static std::optional<ino_t> inode(int descriptor) {
        struct stat status{};
        if (fstat(descriptor, &status) != 0) return {};
        return status.st_ino;
    }

    Result<std::string> ask_for(const std::string& question, std::string_view kind, std::string_view name) {
        auto answer = ask(question, kind);
        if (!answer) return answer;
        auto value = word(*answer, name);
        if (!value) return tl::unexpected(not_understood(question, *answer));
        return std::move(*value);
    }
    /// The line that answers, which must be of the kind and say that all is well.
    Result<std::string> ask(const std::string& question, std::string_view kind) {
        if (auto sent = send_line(question); !sent) return tl::unexpected(sent.error());
        auto answer = receive_line();
        if (!answer) return answer;
        if (word(*answer, "cmd") != kind || word(*answer, "rc").value_or("0") != "0")
            return tl::unexpected(not_understood(question, *answer));
        return answer;
    }

    Result<> send_line(std::string_view line) {
        const std::string whole = fmt::format("{}\n", line);
        for (std::string_view left = whole; !left.empty();) {
            const ssize_t sent = ::send(descriptor_, left.data(), left.size(), MSG_NOSIGNAL);
            if (sent >= 0) left.remove_prefix(static_cast<std::size_t>(sent));
            else if (errno != EINTR) return tl::unexpected(gone(std::strerror(errno)));
        }
        return {};
    }
    /// One character at a time: what comes after the line may be for somebody else.
    Result<std::string> receive_line() {
        for (std::string line;;) {
            char character = 0;
            const ssize_t received = ::recv(descriptor_, &character, 1, 0);
            if (received < 0 && errno == EINTR) continue;
            if (received <= 0) return tl::unexpected(gone(received == 0 ? "it has closed it" : std::strerror(errno)));
            if (character == '\n') return line;
            line += character;
        }
    }

    static std::optional<std::string> word(std::string_view line, std::string_view name) {
        while (!line.empty()) {
            const auto end = std::min(line.find(' '), line.size());
            const auto word = line.substr(0, end);
            if (word.starts_with(name) && word.substr(name.size()).starts_with('='))
                return std::string(word.substr(name.size() + 1));
            line.remove_prefix(std::min(end + 1, line.size()));
        }
        return {};
    }

    Failure gone(std::string_view why) const {
        return {KUMIKI_ERROR_ENVIRONMENT, fmt::format("cannot reach the process manager of mpirun or srun through "
                                                      "PMI_FD={}: {}; a program that also uses MPI "
                                                      "must join before MPI_Finalize, which ends this connection",
                                                      descriptor_, why)};
    }
    static Failure not_understood(std::string_view question, std::string_view answer) {
        return {KUMIKI_ERROR_ENVIRONMENT,
                fmt::format("the process manager behind PMI_FD answers \"{}\" to \"{}\", which is not PMI-1 as MPICH's "
                            "mpirun speaks it; start the program by another launcher (docs/joining.md)",
                            answer.substr(0, 80), question.substr(0, 80))};
    }

    static constexpr std::size_t least_value = 64, most_value = 4096;
    int descriptor_, rank_, size_;
    std::size_t longest_value_ = 0;
    std::string space_;
};

} // namespace kumiki::fabric
