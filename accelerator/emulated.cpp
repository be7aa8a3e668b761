#include "accelerator/emulated.hpp"

#include <cblas.h>
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "kernels/common/aligned.hpp"

namespace kumiki::accelerator {

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// Operations are done so much before their time, if they can be, so that a thread that wakes up late does not make the
/// device slow. Nobody sees it, because events come at their time.
constexpr std::chrono::milliseconds ahead{20};

/// A part of the device that does one thing at a time, in a time of its own: an operation begins when it is ready and
/// the one before it should have ended.
class Engine {
public:
    /// Does `work`, which is ready at `ready`, in `set` seconds. Returns the time at which it is done.
    Clock::time_point run(Clock::time_point ready, Seconds set, const std::function<void()>& work) {
        std::this_thread::sleep_until(ready - ahead);
        const std::lock_guard one_at_a_time(mutex_);
        const Clock::time_point begin = std::max(ready, free_);
        const Clock::time_point end = begin + std::chrono::duration_cast<Clock::duration>(set);
        work();
        const Clock::time_point now = Clock::now();
        free_ = std::max(end, now);
        busy_ += free_ - begin;
        late_ += free_ - end;
        return free_;
    }
    /// Which share of its busy time was more than was set.
    double share_late() const {
        const std::lock_guard lock(mutex_);
        return busy_.count() > 0 ? late_ / busy_ : 0;
    }
    /// What its work took, and what was set.
    std::string times() const {
        const std::lock_guard lock(mutex_);
        return fmt::format("{:.3g} s instead of {:.3g} s", busy_.count(), (busy_ - late_).count());
    }

private:
    mutable std::mutex mutex_;
    Clock::time_point free_{};
    Seconds busy_{0}, late_{0};
};

/// Binds this thread to a processor, or to none if the number is negative. Returns false if that cannot be used.
bool bind_to(int processor) {
    cpu_set_t processors;
    CPU_ZERO(&processors);
    for (std::size_t number = 0; number < CPU_SETSIZE; ++number)
        if (processor < 0 || static_cast<int>(number) == processor) CPU_SET(number, &processors);
    return sched_setaffinity(0, sizeof processors, &processors) == 0;
}

struct EmulatedMemory : Memory {
    EmulatedMemory(std::size_t elements, std::atomic<std::size_t>& used) : data(elements), used_(used) {}
    ~EmulatedMemory() override { used_ -= data.size() * sizeof(double); }
    kernels::AlignedVector<double> data;

private:
    std::atomic<std::size_t>& used_;
};

double* at(const Place& place) { return static_cast<EmulatedMemory*>(place.memory)->data.data() + place.offset; }

void copy_all(const double* from, std::size_t from_lead, const Extent& extent, double* to, std::size_t to_lead) {
    for (std::size_t row = 0; row < extent.rows; ++row)
        std::copy_n(from + row * from_lead, extent.columns, to + row * to_lead);
}

class EmulatedEvent : public Event {
public:
    void wait() override { std::this_thread::sleep_until(time()); }
    /// Waits for the work before it; returns the time of the device at which the event comes.
    Clock::time_point time() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return done_; });
        if (failure_) std::rethrow_exception(failure_);
        return time_;
    }
    void come(Clock::time_point time, std::exception_ptr failure) {
        const std::lock_guard lock(mutex_);
        done_ = true;
        time_ = time;
        failure_ = std::move(failure);
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool done_ = false;
    Clock::time_point time_{};
    std::exception_ptr failure_;
};

/// What the streams of a device share. Copies within it do not wait for its products, nor these for them.
struct Parts {
    EmulatedSettings settings;
    Engine in, out, compute, within;
    std::atomic<std::size_t> operations{0}, used_bytes{0};
};

class EmulatedStream : public Stream {
public:
    explicit EmulatedStream(Parts& parts)
        : parts_(parts), thread_([this](const std::stop_token& stop) { serve(stop); }) {}

    void copy_in(const double* from, std::size_t lead, const Extent& extent, const Place& to) override {
        operate(parts_.in, on_bus(extent), [=] { copy_all(from, lead, extent, at(to), to.lead); });
    }
    void copy_out(const Place& from, const Extent& extent, double* to, std::size_t lead) override {
        operate(parts_.out, on_bus(extent), [=] { copy_all(at(from), from.lead, extent, to, lead); });
    }
    void copy(const Place& from, const Extent& extent, const Place& to) override {
        operate(parts_.within, Seconds(0), [=] { copy_all(at(from), from.lead, extent, at(to), to.lead); });
    }
    void copy_rows(const Place& from, const Place& to, std::size_t columns, std::span<const RowCopy> rows) override {
        operate(parts_.within, Seconds(0), [=, rows = std::vector(rows.begin(), rows.end())] {
            for (const RowCopy& row : rows)
                std::copy_n(at(from) + row.from * from.lead, columns, at(to) + row.to * to.lead);
        });
    }
    void multiply(const Product& product) override {
        const double operations = 2 * static_cast<double>(product.rows) * static_cast<double>(product.columns) *
                                  static_cast<double>(product.depth);
        const double rate = 1e9 * parts_.settings.rate(product.rows, product.columns, product.depth);
        operate(parts_.compute, Seconds(operations / rate), [=] { compute(product); });
    }
    std::shared_ptr<Event> record() override {
        const auto event = std::make_shared<EmulatedEvent>();
        add([this, event] { event->come(ready_, failure_); });
        return event;
    }
    void wait_for(const std::shared_ptr<Event>& event) override {
        add([this, event] { attempt([&] { ready_ = std::max(ready_, static_cast<EmulatedEvent&>(*event).time()); }); });
    }

private:
    Seconds on_bus(const Extent& extent) const {
        const auto bytes = static_cast<double>(extent.rows * extent.columns * sizeof(double));
        return Seconds(parts_.settings.bus > 0 ? bytes / (1e9 * parts_.settings.bus) : 0);
    }

    static void compute(const Product& product) {
        const auto length = [](std::size_t value) { return static_cast<int>(value); };
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, length(product.rows), length(product.columns),
                    length(product.depth), product.alpha, at(product.a), length(product.a.lead), at(product.b),
                    length(product.b.lead), product.beta, at(product.c), length(product.c.lead));
    }

    void operate(Engine& engine, Seconds set, std::function<void()> work) {
        const Clock::time_point asked = Clock::now();
        add([this, &engine, set, asked, work = std::move(work)] {
            attempt([&] {
                if (++parts_.operations == parts_.settings.fails_at)
                    throw DeviceError("emulated device: this operation fails, as was set (fails=...)");
                ready_ = engine.run(std::max(ready_, asked), set + Seconds(1e-6 * parts_.settings.latency), work);
            });
        });
    }

    /// After a failure nothing more is done; the events carry it.
    template <class Work>
    void attempt(Work work) {
        if (failure_) return;
        try {
            work();
        } catch (const DeviceError&) {
            failure_ = std::current_exception();
        }
    }

    void add(std::function<void()> work) {
        const std::lock_guard lock(mutex_);
        queue_.push_back(std::move(work));
        changed_.notify_one();
    }

    /// The work that was given is done before the thread ends.
    void serve(const std::stop_token& stop) {
        bind();
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, stop, [&] { return !queue_.empty(); });
            if (queue_.empty()) return;
            const std::function<void()> work = std::move(queue_.front());
            queue_.pop_front();
            lock.unlock();
            work();
            lock.lock();
        }
    }

    /// The processor of the device, or any: it would else have to share those of the thread that opened it.
    void bind() const { bind_to(parts_.settings.processor); }

    Parts& parts_;
    Clock::time_point ready_{};  ///< when the work so far should be done; of the stream's thread
    std::exception_ptr failure_; ///< of the stream's thread
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<std::function<void()>> queue_;
    std::jthread thread_;
};

class Emulated : public Device {
public:
    explicit Emulated(const EmulatedSettings& settings) : parts_{settings, {}, {}, {}, {}, {}, {}} {}

    Properties properties() const override { return {"emulated", memory(), most(), memory() - parts_.used_bytes}; }

    std::unique_ptr<Memory> allocate(std::size_t elements) override {
        const std::size_t bytes = elements * sizeof(double);
        if (elements <= memory() / sizeof(double) && bytes > most())
            throw DeviceError(fmt::format("emulated device: {} bytes were asked for at once, more than {} (once=...)",
                                          bytes, most()));
        if (elements > memory() / sizeof(double) || parts_.used_bytes.fetch_add(bytes) + bytes > memory()) {
            if (elements <= memory() / sizeof(double)) parts_.used_bytes -= bytes;
            throw DeviceError(fmt::format("emulated device: {:.3g} GiB more than are free of its {:.3g} GiB were asked "
                                          "for (memory=...)",
                                          static_cast<double>(bytes) / 0x1p30, static_cast<double>(memory()) / 0x1p30));
        }
        return std::make_unique<EmulatedMemory>(elements, parts_.used_bytes);
    }
    std::unique_ptr<Stream> stream() override { return std::make_unique<EmulatedStream>(parts_); }

    std::string remark() const override {
        constexpr double bearable = 0.03;
        const double products = parts_.compute.share_late();
        const double in = parts_.in.share_late(), out = parts_.out.share_late(), copies = std::max(in, out);
        const bool in_is_later = in >= out;
        const bool limits_bus = parts_.settings.bus > 0;
        if (products < bearable && (copies < bearable || !limits_bus)) return {};
        return fmt::format(
            "the emulated device could not hold what was set: products took {}{}; set less, or give it a processor of "
            "its own (processor=...)",
            parts_.compute.times(),
            limits_bus ? fmt::format(", copies {}", (in_is_later ? parts_.in : parts_.out).times()) : "");
    }

private:
    /// Of one allocation, in bytes.
    std::size_t most() const {
        const auto once = static_cast<std::size_t>(parts_.settings.once * 0x1p30);
        return once == 0 ? memory() : std::min(once, memory());
    }
    std::size_t memory() const { return static_cast<std::size_t>(parts_.settings.memory * 0x1p30); }

    Parts parts_;
};

} // namespace

std::unique_ptr<Device> open_emulated(const EmulatedSettings& settings) {
    bool usable = true;
    std::jthread([&] { usable = bind_to(settings.processor); }).join();
    if (!usable && settings.processor >= 0)
        throw DeviceError(fmt::format("emulated device: processor={0}: there is no processor {0} here that may be used",
                                      settings.processor));
    return std::make_unique<Emulated>(settings);
}

} // namespace kumiki::accelerator
