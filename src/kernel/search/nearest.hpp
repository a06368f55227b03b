// The coarse box nearest to a sample, middle to middle: where a search starts. It has no influence on results.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "runtime/simd.hpp"
#include "search/blocks.hpp"
#include "search/scan.hpp"

namespace sslart {

// the place of the nearest box in the blocks from the first up to the last, which is left out
using NearestBox = Index (*)(const BoxBlocks&, Index first, Index last, const CoarseSample&);

SSLART_INLINE void keep_nearest(const BoxBlocks& boxes, Index b, const std::uint64_t* distances, std::uint64_t& least,
                                Index& place) {
    for (Index k = 0; k < kBlock; ++k)
        if (distances[k] < least && !boxes.is_empty(b * kBlock + k)) {
            least = distances[k];
            place = b * kBlock + k;
        }
}

inline Index nearest_portable(const BoxBlocks& boxes, Index first, Index last, const CoarseSample& x) {
    std::uint64_t least = ~std::uint64_t{0};
    Index place = first * kBlock;
    for (Index b = first; b < last; ++b) {
        std::uint64_t distances[kBlock] = {};
        const std::uint8_t* lower = boxes.block(b);
        for (Index g = 0; g < boxes.n_groups(); ++g, lower += kGroupBytes)
            for (Index k = 0; k < kBlock; ++k)
                for (Index i = 0; i < kGroup; ++i) {
                    const int middle = (lower[k * kGroup + i] + lower[kSideBytes + k * kGroup + i] + 1) / 2;
                    distances[k] += static_cast<std::uint64_t>(std::abs(middle - x.low[g * kGroup + i]));
                }
        keep_nearest(boxes, b, distances, least, place);
    }
    return place;
}

#ifdef SSLART_X86

SSLART_AVX2 inline Index nearest_avx2(const BoxBlocks& boxes, Index first, Index last, const CoarseSample& x) {
    const std::int64_t* low = reinterpret_cast<const std::int64_t*>(x.low.data());
    std::uint64_t least = ~std::uint64_t{0};
    Index place = first * kBlock;
    for (Index b = first; b < last; ++b) {
        __m256i sums[kQuarters] = {};
        const __m256i* at = reinterpret_cast<const __m256i*>(boxes.block(b));
        for (Index g = 0; g < boxes.n_groups(); ++g, at += 2 * kQuarters) {
            const __m256i value = _mm256_set1_epi64x(low[g]);
            for (int q = 0; q < kQuarters; ++q) {
                const __m256i middle =
                    _mm256_avg_epu8(_mm256_loadu_si256(at + q), _mm256_loadu_si256(at + kQuarters + q));
                sums[q] = _mm256_add_epi64(sums[q], _mm256_sad_epu8(middle, value));
            }
        }
        std::uint64_t distances[kBlock];
        std::memcpy(distances, sums, sizeof distances);
        keep_nearest(boxes, b, distances, least, place);
    }
    return place;
}

#endif  // SSLART_X86

}  // namespace sslart
