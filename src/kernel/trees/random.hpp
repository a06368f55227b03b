// Random numbers that are the same on every machine: SplitMix64.
#pragma once

#include <cstdint>

namespace sslart {

class SplitMix {
public:
    explicit SplitMix(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        state_ += 0x9e3779b97f4a7c15ULL;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }

    // in [0, 1)
    double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

    // from 0 to n − 1
    std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(n)); }

private:
    std::uint64_t state_;
};

}  // namespace sslart
