// One batch of independent items on several threads.
//
// Threads are started per call, so that nothing has to survive a fork. Where there is more than a little work, the
// calling thread first works alone and measures how long an item takes; other threads are started only if what is left
// takes much longer than starting them.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#include "art/model.hpp"
#include "runtime/interrupt.hpp"

namespace sslart {

// State shared by the threads of one call: the next item, a stop flag, and the first exception.
class SharedProgress {
public:
    SharedProgress(Index next, Index n_items, Index chunk) : next_(next), n_items_(n_items), chunk_(chunk) {}

    bool is_stopped() const { return stopped_.load(std::memory_order_relaxed); }
    void stop() { stopped_.store(true, std::memory_order_relaxed); }

    // works on one chunk after another until none is left
    template <class Worker>
    void run(Worker& worker, Interrupt& interrupt) {
        while (!is_stopped()) {
            const Index first = next_.fetch_add(chunk_, std::memory_order_relaxed);
            if (first >= n_items_) return;
            if (!worker(first, std::min(first + chunk_, n_items_), interrupt)) stop();
        }
    }

    // for use in a catch block
    void fail() {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (!error_) error_ = std::current_exception();
        stop();
    }

    // once all threads have ended
    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }

private:
    std::atomic<Index> next_;
    const Index n_items_;
    const Index chunk_;
    std::atomic<bool> stopped_{false};
    std::mutex mutex_;
    std::exception_ptr error_;
};

// Register of the threads that take part in a call. On a busy machine a thread may begin to run only after
// the work is done: nobody waits for such a thread, it finds the call closed and ends without touching anything else.
class Participants {
public:
    bool enter() {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (!closed_) ++n_working_;
        return !closed_;
    }

    void leave() {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (--n_working_ == 0) all_left_.notify_one();
    }

    // admits no further thread, and waits for those that have entered
    void close() {
        std::unique_lock<std::mutex> lock(mutex_);
        closed_ = true;
        all_left_.wait(lock, [this] { return n_working_ == 0; });
    }

private:
    std::mutex mutex_;
    std::condition_variable all_left_;
    Index n_working_ = 0;
    bool closed_ = false;
};

// false where the system allows no further thread
template <class Function>
bool start_thread(const std::shared_ptr<Participants>& participants, const Function& function) {
    try {
        std::thread([participants, &function] {
            if (!participants->enter()) return;
            function();
            participants->leave();
        }).detach();
        return true;
    } catch (const std::system_error&) {
        return false;
    }
}

struct Items {
    Index n;
    Index work;      // values read per item, estimated
    Index together;  // number of items that a worker processes together: chunks should not split them
};

// Covers all items with calls worker(first, last, interrupt), where each thread has a worker of its own from
// make_worker(). A worker returns false where its interrupt stopped it, which then stops all. Only the calling thread
// uses `interrupt`. Items must be independent: which thread works on which of them varies.
template <class MakeWorker>
void parallel_for(const Items& items, Index n_threads, Interrupt& interrupt, MakeWorker make_worker) {
    using Clock = std::chrono::steady_clock;
    using Seconds = std::chrono::duration<double>;
    constexpr double kProbe = 50e-6;           // seconds of work on the calling thread before the estimate is used
    constexpr double kWorkPerThread = 100e-6;  // seconds of work that justify starting a thread
    constexpr double kChunk = 500e-6;          // seconds of work in a chunk, at most
    constexpr Index kLittleWork = 1 << 21;     // values, read in some 200e-6 seconds: not worth a look at the clock
    constexpr Index kProbeItems = 4;           // items before the first look at the clock

    const Index n_items = items.n;
    auto worker = make_worker();
    if (n_threads <= 1 || n_items <= kLittleWork / std::max<Index>(items.work, 1)) {
        worker(0, n_items, interrupt);
        return;
    }
    Index next = 0;
    double per_item = 0.0;
    const Clock::time_point start = Clock::now();
    for (Clock::time_point before = start; next < n_items;) {
        const Index last = std::min(n_items, std::max(2 * next, kProbeItems));
        if (!worker(next, last, interrupt)) return;
        const Clock::time_point now = Clock::now();
        per_item = Seconds(now - before).count() / static_cast<double>(last - next);
        next = last;
        if (Seconds(now - start).count() >= kProbe) break;
        before = now;
    }
    const Index n_left = n_items - next;
    const double left = per_item * static_cast<double>(n_left);
    n_threads = std::min({n_threads, n_left, static_cast<Index>(left / kWorkPerThread)});
    if (n_threads <= 1) {
        if (n_left > 0) worker(next, n_items, interrupt);
        return;
    }

    Index chunk = std::max<Index>(1, n_left / (8 * n_threads));
    if (per_item * static_cast<double>(chunk) > kChunk)
        chunk = std::max<Index>(1, static_cast<Index>(kChunk / per_item));
    if (chunk > items.together) chunk -= chunk % items.together;
    SharedProgress progress(next, n_items, chunk);
    const auto participants = std::make_shared<Participants>();
    const auto take_part = [&progress, &make_worker] {
        try {
            auto own_worker = make_worker();
            Interrupt own_interrupt([&progress] { return progress.is_stopped(); });
            progress.run(own_worker, own_interrupt);
        } catch (...) {
            progress.fail();
        }
    };
    try {
        for (Index i = 1; i < n_threads; ++i)
            if (!start_thread(participants, take_part)) break;
        progress.run(worker, interrupt);
    } catch (...) {
        progress.fail();
    }
    participants->close();
    progress.rethrow();
}

}  // namespace sslart
