#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kumiki/error.hpp"
#include "kumiki/group.hpp"
#include "kumiki/message.hpp"
#include "kumiki/region.hpp"
#include "kumiki/shared.hpp"
#include "kumiki/signal.hpp"
#include "kumiki/type.hpp"

namespace kumiki {

/// A non-deduced parameter type, so that `put(rank, there, vector)` deduces T from `there` alone.
template <class T>
using Source = std::type_identity_t<std::span<const T>>;

/// A function that other ranks can run at this rank. It receives the rank of the caller and a copy of the payload.
using Handler = std::function<void(int source, std::span<const std::byte> payload)>;

/// The parallel run in which this process is a rank; also the group of all its ranks. A process has one such object.
/// The destructor leaves the job and waits for all ranks. While an exception propagates it does not wait, so that the
/// failure shows at once.
///
/// Any thread may put, get, signal, wait, use atomics and send active messages; one thread of every rank calls a
/// collective. Errors are thrown as kumiki::Error.
class Job : public Collectives {
public:
    Job() {
        detail::check(kumiki_join(&job_));
        group_ = kumiki_job_group(job_);
    }
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;
    ~Job() {
        if (std::uncaught_exceptions() > exceptions_at_start_) kumiki_abandon(job_);
        else kumiki_leave(job_);
    }

    /// The number of threads that the launcher gives this rank (`kumiki run -t`).
    int threads() const noexcept { return kumiki_threads(job_); }
    /// The number of threads that the launcher gives rank `rank`; ranks may differ.
    int threads(int rank) const {
        int threads = 0;
        detail::check(kumiki_threads_of(job_, rank, &threads));
        return threads;
    }
    /// The processors that this rank's threads are bound to, in the order of the threads; empty: they are not bound.
    std::span<const int> processors() const noexcept {
        const int* first = nullptr;
        const int count = kumiki_processors(job_, &first);
        return {first, static_cast<std::size_t>(count)};
    }
    /// The devices (accelerators) that kumiki-run has assigned to this rank, by their numbers in `kumiki topology`.
    std::span<const int> devices() const noexcept {
        const int* first = nullptr;
        const int count = kumiki_devices(job_, &first);
        return {first, static_cast<std::size_t>(count)};
    }
    /// From now on function(sentence) is called before the library ends this process because a host or a rank is lost
    /// and no call can return this. It runs on a thread of the library and may call nothing of the job; when it
    /// returns, the process ends with exit code 3 (kumiki_on_failure).
    void on_failure(std::function<void(const char* sentence)> function) {
        auto& kept = failure_functions_.emplace_back(std::make_unique<FailureFunction>(std::move(function)));
        detail::check(kumiki_on_failure(job_, &Job::tell, kept.get()));
    }

    bool oversubscribed() const noexcept { return kumiki_oversubscribed(job_) != 0; }
    kumiki_job* handle() const noexcept { return job_; }

    /// Collective: allocates a region of `count` elements at every rank.
    template <Transferable T>
    Region<T> allocate(std::size_t count) {
        return Region<T>(job_, count);
    }
    /// Collective: allocates `count` elements that all ranks share (SharedArray).
    template <Shareable T>
    SharedArray<T> share(std::size_t count, Homes homes = Homes::first, std::size_t page = 0,
                         Protocol protocol = Protocol::standard) {
        return SharedArray<T>(job_, count, homes, page, protocol);
    }
    /// The same for elements in dimensions, some of which may be dealt to the ranks:
    /// share<double>({Dimension::block(rows), columns}). `homes` applies only if no dimension is dealt.
    template <Shareable T>
    SharedArray<T> share(const std::vector<Dimension>& dimensions, Homes homes = Homes::first, std::size_t page = 0,
                         Protocol protocol = Protocol::standard) {
        return SharedArray<T>(job_, dimensions, homes, page, protocol);
    }
    /// Not collective: `count` zeroed elements that all ranks share, at the same address in every rank; their home is
    /// this one. Any thread allocates them, and any thread of any rank frees them (kumiki_shared_malloc).
    template <Shareable T>
    T* shared_malloc(std::size_t count = 1) {
        static_assert(alignof(T) <= 16, "kumiki_shared_malloc aligns to 16 bytes");
        if (count > static_cast<std::size_t>(-1) / sizeof(T))
            throw Error(KUMIKI_ERROR_ARGUMENT,
                        "shared_malloc: " + std::to_string(count) + " elements do not fit the address space");
        void* memory = nullptr;
        detail::check(kumiki_shared_malloc(job_, count * sizeof(T), &memory));
        return static_cast<T*>(memory);
    }
    void shared_free(void* memory) { detail::check(kumiki_shared_free(job_, memory)); }

    /// Collective: afterwards every rank sees what any rank has written to shared arrays before.
    void shared_barrier() { detail::check(kumiki_shared_barrier(job_)); }

    /// The lock of all threads of all ranks with this number, from 0 to KUMIKI_SHARED_LOCKS - 1.
    SharedLock shared_lock(int number) const noexcept { return {job_, number}; }

    // -- put, get, signal: `there`, an address in a region of this rank, names the place at rank `rank` --

    template <Transferable T>
    void put(int rank, T* there, Source<T> source) {
        detail::check(kumiki_put(job_, rank, there, source.data(), source.size_bytes()));
    }
    template <Transferable T>
    void put(int rank, T& there, const std::type_identity_t<T>& value) {
        detail::check(kumiki_put(job_, rank, &there, &value, sizeof(T)));
    }
    template <Transferable T>
    void get(int rank, const T* there, std::type_identity_t<std::span<T>> destination) {
        detail::check(kumiki_get(job_, rank, there, destination.data(), destination.size_bytes()));
    }
    template <Transferable T>
    T get(int rank, const T& there) {
        T value;
        detail::check(kumiki_get(job_, rank, &there, &value, sizeof(T)));
        return value;
    }
    /// Non-blocking put and get. Between ranks of one host they are complete on return. Until a put is complete,
    /// signals and messages to that rank may overtake it.
    template <Transferable T>
    [[nodiscard]] Request start_put(int rank, T* there, Source<T> source) {
        kumiki_request request = nullptr;
        detail::check(kumiki_start_put(job_, rank, there, source.data(), source.size_bytes(), &request));
        return {job_, request};
    }
    template <Transferable T>
    [[nodiscard]] Request start_get(int rank, const T* there, std::type_identity_t<std::span<T>> destination) {
        kumiki_request request = nullptr;
        detail::check(kumiki_start_get(job_, rank, there, destination.data(), destination.size_bytes(), &request));
        return {job_, request};
    }
    template <Transferable T>
    void put_signal(int rank, T* there, Source<T> source, Signal& signal, std::uint64_t value,
                    SignalOperation operation = SignalOperation::set) {
        detail::check(kumiki_put_signal(job_, rank, there, source.data(), source.size_bytes(), &signal,
                                        static_cast<kumiki_signal_operation>(operation), value));
    }
    template <Transferable T>
    void put_signal(int rank, T& there, const std::type_identity_t<T>& value, Signal& signal,
                    std::uint64_t signal_value, SignalOperation operation = SignalOperation::set) {
        put_signal(rank, &there, Source<T>(&value, 1), signal, signal_value, operation);
    }
    void signal(int rank, Signal& signal, std::uint64_t value, SignalOperation operation = SignalOperation::set) {
        detail::check(kumiki_signal(job_, rank, &signal, static_cast<kumiki_signal_operation>(operation), value));
    }
    /// Waits until the comparison of `signal`, in a region of this rank, with `value` holds; returns the value of the
    /// signal.
    std::uint64_t wait(const Signal& signal, Comparison comparison, std::uint64_t value) {
        std::uint64_t seen = 0;
        detail::check(kumiki_signal_wait(job_, &signal, static_cast<kumiki_comparison>(comparison), value, &seen));
        return seen;
    }

    /// Non-blocking wait(): returns nothing when the comparison does not hold now.
    std::optional<std::uint64_t> test(const Signal& signal, Comparison comparison, std::uint64_t value) {
        std::uint64_t seen = 0;
        int satisfied = 0;
        detail::check(
            kumiki_signal_test(job_, &signal, static_cast<kumiki_comparison>(comparison), value, &satisfied, &seen));
        if (satisfied == 0) return std::nullopt;
        return seen;
    }

    // -- atomics on 64-bit words; each returns the previous value --

    std::uint64_t fetch_add(int rank, std::uint64_t& there, std::uint64_t value) {
        std::uint64_t before = 0;
        detail::check(kumiki_fetch_add(job_, rank, &there, value, &before));
        return before;
    }
    std::uint64_t compare_swap(int rank, std::uint64_t& there, std::uint64_t expected, std::uint64_t desired) {
        std::uint64_t before = 0;
        detail::check(kumiki_compare_swap(job_, rank, &there, expected, desired, &before));
        return before;
    }
    std::uint64_t swap(int rank, std::uint64_t& there, std::uint64_t value) {
        std::uint64_t before = 0;
        detail::check(kumiki_swap(job_, rank, &there, value, &before));
        return before;
    }

    // -- active messages --

    /// Collective: makes `function` callable from every rank and returns its number. The function lives as long as the
    /// job.
    int on_message(Handler function) {
        auto& kept = handlers_.emplace_back(std::make_unique<Handler>(std::move(function)));
        int number = 0;
        detail::check(kumiki_register_handler(job_, &Job::call, kept.get(), &number));
        return number;
    }
    /// The same for a payload that is always a single T: function(int source, const T& payload). A shorter payload
    /// leaves the rest of T{} as it is.
    template <Single T, class Function>
    int on_message(Function function) {
        return on_message([function = std::move(function)](int source, std::span<const std::byte> payload) mutable {
            T value{};
            std::memcpy(&value, payload.data(), std::min(sizeof(T), payload.size()));
            function(source, std::as_const(value));
        });
    }
    template <Elements Payload>
    void send_active(int rank, int handler, const Payload& payload) {
        const std::span bytes = std::as_bytes(std::span(payload));
        detail::check(kumiki_active_message(job_, rank, handler, bytes.data(), bytes.size()));
    }
    template <Single T>
    void send_active(int rank, int handler, const T& payload) {
        send_active(rank, handler, std::span<const T>(&payload, 1));
    }
    /// Runs the handlers of the active messages that have arrived; returns their number.
    int progress() {
        int handled = 0;
        detail::check(kumiki_progress(job_, &handled));
        return handled;
    }

    // -- messages: sent with a tag, received by source and tag; neither call waits --

    template <Elements Data>
    [[nodiscard]] Request send(int rank, int tag, const Data& data) {
        const std::span bytes = std::as_bytes(std::span(data));
        kumiki_request request = nullptr;
        detail::check(kumiki_send(job_, rank, tag, bytes.data(), bytes.size(), &request));
        return {job_, request};
    }
    template <Single T>
    [[nodiscard]] Request send(int rank, int tag, const T& value) {
        return send(rank, tag, std::span<const T>(&value, 1));
    }
    /// `rank` and `tag` may be kumiki::any.
    template <Elements Data>
    [[nodiscard]] Request receive(int rank, int tag, Data&& into) {
        const std::span bytes = std::as_writable_bytes(std::span(into));
        kumiki_request request = nullptr;
        detail::check(kumiki_receive(job_, rank, tag, bytes.data(), bytes.size(), &request));
        return {job_, request};
    }
    template <Single T>
    [[nodiscard]] Request receive(int rank, int tag, T& value) {
        return receive(rank, tag, std::span<T>(&value, 1));
    }
    /// Waits until there is a message that receive() would get, and describes it without receiving it.
    MessageStatus probe(int rank, int tag) {
        kumiki_message_status status{};
        detail::check(kumiki_probe(job_, rank, tag, nullptr, &status));
        return detail::status_of(status);
    }
    /// Non-blocking probe(): returns nothing when there is no such message.
    std::optional<MessageStatus> probe_now(int rank, int tag) {
        kumiki_message_status status{};
        int found = 0;
        detail::check(kumiki_probe(job_, rank, tag, &found, &status));
        if (found == 0) return std::nullopt;
        return detail::status_of(status);
    }

private:
    using FailureFunction = std::function<void(const char* sentence)>;

    static void call(kumiki_job*, int source, const void* payload, std::size_t bytes, void* context) {
        (*static_cast<Handler*>(context))(source, {static_cast<const std::byte*>(payload), bytes});
    }
    static void tell(kumiki_job*, const char* sentence, void* context) {
        (*static_cast<FailureFunction*>(context))(sentence);
    }

    kumiki_job* job_ = nullptr;
    int exceptions_at_start_ = std::uncaught_exceptions();
    std::vector<std::unique_ptr<Handler>> handlers_;
    std::vector<std::unique_ptr<FailureFunction>> failure_functions_; ///< all, because an earlier one may be running
};

} // namespace kumiki
