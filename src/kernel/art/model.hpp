// Numbers that all parts of the kernel share.
#pragma once

#include <cstdint>

namespace sslart {

using Index = std::int64_t;

constexpr Index kNone = -1;  // no box, no class, no label

struct LearningParams {
    double vigilance;       // ρ
    double choice;          // α
    double learning_rate;   // β
    double match_tracking;  // δ
    bool one_to_one;
};

}  // namespace sslart
