// Long work that can be told to stop: every few milliseconds of work, ask whether to go on.
#pragma once

#include <functional>
#include <utility>

#include "model.hpp"

namespace sslart {

class Patience {
public:
    explicit Patience(std::function<bool()> go_on) : go_on_(std::move(go_on)) {}

    // accounts for `work` more values read; false once the work is to stop
    bool spend(Index work) {
        spent_ += work;
        if (spent_ < kBetweenQuestions) return true;
        spent_ = 0;
        return go_on_();
    }

private:
    static constexpr Index kBetweenQuestions = Index{1} << 23;
    std::function<bool()> go_on_;
    Index spent_ = 0;
};

}  // namespace sslart
