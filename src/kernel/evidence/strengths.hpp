// The strengths of boxes as products of factors that belong to their sides and to the sample.
//
// exp(−rate · distance) is exp(rate · x) · exp(−rate · lower) below a box, and exp(−rate · x) · exp(rate · upper) above
// it. So no pair of a box and a sample needs an exponential function of its own.
#pragma once

#include <cmath>
#include <new>
#include <vector>

#include "art/model.hpp"
#include "evidence/loops.hpp"

namespace sslart {

// Memory in which no vector of any instruction set lies across two lines of the cache.
template <class T>
struct AlignedAllocator {
    using value_type = T;
    static constexpr std::align_val_t kAlignment{64};

    AlignedAllocator() = default;
    template <class U>
    AlignedAllocator(const AlignedAllocator<U>&) {}

    T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kAlignment)); }
    void deallocate(T* memory, std::size_t) { ::operator delete(memory, kAlignment); }

    bool operator==(const AlignedAllocator&) const { return true; }
    bool operator!=(const AlignedAllocator&) const { return false; }
};

using AlignedDoubles = std::vector<double, AlignedAllocator<double>>;

// The factors of the sides of boxes.
struct StrengthFactors {
    static constexpr double kLargest = 100.0;  // exponent: no product of factors overflows
    static constexpr Index kMany = 1 << 20;    // sides: factors of more would not stay in the cache

    AlignedDoubles lower, upper;  // blocks × features × kWidth
    bool are_used = false;

    StrengthFactors() = default;
    StrengthFactors(const PackedBoxes& boxes, double rate) {
        const Index size = boxes.n_boxes() * boxes.n_features;
        if (size > kMany) return;
        for (Index i = 0; i < size; ++i)
            if (is_far(boxes.lower[i], rate) || is_far(boxes.upper[i], rate)) return;
        lower.resize(static_cast<std::size_t>(size));
        upper.resize(static_cast<std::size_t>(size));
        for (Index i = 0; i < size; ++i) {
            lower[i] = std::exp(-rate * static_cast<double>(boxes.lower[i]));
            upper[i] = std::exp(rate * static_cast<double>(boxes.upper[i]));
        }
        are_used = true;
    }

private:
    static bool is_far(float side, double rate) {
        return std::isfinite(side) && std::fabs(rate * static_cast<double>(side)) > kLargest;
    }
};

// The factors of one sample, by feature.
struct SampleFactors {
    std::vector<double> rising, falling;

    void set(const float* values, Index n_features, double rate) {
        constexpr double kFar = 6.0 * StrengthFactors::kLargest;  // an exponent at which no strength is left
        rising.resize(static_cast<std::size_t>(n_features));
        falling.resize(static_cast<std::size_t>(n_features));
        for (Index f = 0; f < n_features; ++f) {
            const double exponent = rate * static_cast<double>(values[f]);
            const double bounded = exponent < -kFar ? -kFar : exponent > kFar ? kFar : exponent;
            const bool is_missing = exponent != exponent;  // as strong as inside
            rising[f] = std::exp(is_missing ? kFar : bounded);
            falling[f] = std::exp(is_missing ? kFar : -bounded);
        }
    }
};

}  // namespace sslart
