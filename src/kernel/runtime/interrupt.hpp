// Stopping long work early: after every few milliseconds of work, check whether to continue.
#pragma once

#include <functional>
#include <utility>

#include "art/model.hpp"

namespace sslart {

class Interrupt {
public:
    explicit Interrupt(std::function<bool()> should_stop) : should_stop_(std::move(should_stop)) {}

    // counts `work` more values read; false once the work has to stop
    bool may_continue(Index work) {
        pending_ += work;
        if (pending_ < kWorkBetweenChecks) return true;
        pending_ = 0;
        return !should_stop_();
    }

private:
    static constexpr Index kWorkBetweenChecks = Index{1} << 23;
    std::function<bool()> should_stop_;
    Index pending_ = 0;
};

}  // namespace sslart
