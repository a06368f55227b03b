// Keys of rows: the same for rows that agree in every value.
#pragma once

#include <cstdint>
#include <cstring>

#include "art/model.hpp"

namespace sslart {

// a hash of the key: every bit depends on all bits of the given one (splitmix64)
inline std::uint64_t mixed(std::uint64_t key) {
    key = (key ^ (key >> 30)) * 0xBF58476D1CE4E5B9u;
    key = (key ^ (key >> 27)) * 0x94D049BB133111EBu;
    return key ^ (key >> 31);
}

inline void row_keys(const double* matrix, Index n_rows, Index n_columns, const std::uint64_t* factors,
                     std::uint64_t* keys) {
    for (Index j = 0; j < n_rows; ++j) {
        std::uint64_t sum = 0;
        for (Index i = 0; i < n_columns; ++i) {
            const double value = matrix[j * n_columns + i] + 0.0;  // -0.0 is 0.0
            std::uint64_t bits;
            std::memcpy(&bits, &value, sizeof bits);
            sum += (bits ^ (bits >> 29)) * factors[i];
        }
        keys[j] = mixed(sum);
    }
}

}  // namespace sslart
