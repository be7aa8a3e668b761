#include "fabric/wireup/pmi2.hpp"

#include <array>
#include <dlfcn.h>
#include <fmt/format.h>
#include <string>
#include <type_traits>

namespace kumiki::fabric {
namespace {

constexpr const char* library_name = "libpmi2.so.0";
constexpr std::size_t most_value = 1024; // PMI2_MAX_VALLEN

/// The functions that Kumiki uses. The library is loaded rather than linked, because most systems on which Kumiki is
/// built have no Slurm.
struct Library {
    int (*initialized)();
    int (*initialize)(int* spawned, int* size, int* rank, int* application);
    int (*get_job)(char* name, int longest);
    int (*get_rank)(int* rank);
    int (*get_size)(int* size);
    int (*put)(const char* key, const char* value);
    int (*get)(const char* job, int owner, const char* key, char* value, int longest, int* length);
    int (*fence)();
};

Result<Library> load_library() {
    void* opened = dlopen(library_name, RTLD_NOW); // never closed
    const auto find = [&](const char* name, auto& function) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(opened, name));
        return function != nullptr;
    };
    Library library{};
    if (!find("PMI2_Initialized", library.initialized) || !find("PMI2_Init", library.initialize) ||
        !find("PMI2_Job_GetId", library.get_job) || !find("PMI2_Job_GetRank", library.get_rank) ||
        !find("PMI2_Info_GetSize", library.get_size) || !find("PMI2_KVS_Put", library.put) ||
        !find("PMI2_KVS_Get", library.get) || !find("PMI2_KVS_Fence", library.fence))
        return fail(KUMIKI_ERROR_ENVIRONMENT,
                    fmt::format("{} is not Slurm's library of PMI-2; use srun --mpi=pmix", library_name));
    return library;
}

Result<> outcome(const char* call, int code) {
    if (code == 0) return {};
    return fail(KUMIKI_ERROR_ENVIRONMENT, fmt::format("{} failed with {}; join the job before MPI_Finalize, and start "
                                                      "the program by srun --mpi=pmi2 or --mpi=pmix",
                                                      call, code));
}

class Pmi2 : public KeyValueSpace {
public:
    explicit Pmi2(const Library& library) : library_(library) {}

    Result<> begin() {
        if (auto known = library_.initialized() != 0 ? ask_who() : introduce(); !known) return known;
        return outcome("PMI2_Job_GetId", library_.get_job(job_.data(), static_cast<int>(job_.size())));
    }

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    std::size_t longest_value() const override { return most_value / 2; }

    bool has_written(std::string_view key) override { return get(rank_, key).has_value(); }

    Result<> put(std::string_view key, std::string_view value) override {
        return outcome("PMI2_KVS_Put", library_.put(std::string(key).c_str(), std::string(value).c_str()));
    }
    Result<> fence() override { return outcome("PMI2_KVS_Fence", library_.fence()); }
    Result<std::string> get(int, std::string_view key) override {
        std::array<char, most_value + 1> value{};
        int length = 0;
        constexpr int anywhere = -1; // the hint about which rank put the value; -1: none
        auto done = outcome("PMI2_KVS_Get", library_.get(job_.data(), anywhere, std::string(key).c_str(), value.data(),
                                                         static_cast<int>(value.size()), &length));
        if (!done) return tl::unexpected(done.error());
        if (length <= 0) return fail(KUMIKI_ERROR_ENVIRONMENT, fmt::format("PMI2_KVS_Get found no {}", key));
        return std::string(value.data());
    }

private:
    Result<> introduce() {
        int spawned = 0, application = 0;
        return outcome("PMI2_Init", library_.initialize(&spawned, &size_, &rank_, &application));
    }
    /// Used where an MPI library has already called PMI2_Init and received the answer.
    Result<> ask_who() {
        if (auto known = outcome("PMI2_Job_GetRank", library_.get_rank(&rank_)); !known) return known;
        return outcome("PMI2_Info_GetSize", library_.get_size(&size_));
    }

    Library library_;
    int rank_ = 0, size_ = 0;
    std::array<char, 256> job_{};
};

} // namespace

bool pmi2_is_loaded() { return dlopen(library_name, RTLD_NOW | RTLD_NOLOAD) != nullptr; }

Result<std::unique_ptr<KeyValueSpace>> open_pmi2() {
    const auto library = load_library();
    if (!library) return tl::unexpected(library.error());
    auto space = std::make_unique<Pmi2>(*library);
    if (auto begun = space->begin(); !begun) return tl::unexpected(begun.error());
    return space;
}

} // namespace kumiki::fabric
