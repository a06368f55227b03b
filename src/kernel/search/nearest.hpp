// The coarse box nearest to a sample, middle to middle: where a search starts. It has no influence on results.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "runtime/simd.hpp"
#include "search/blocks.hpp"
#include "search/coarse.hpp"

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
                for (Index i = 0; i < kBlock; ++i) {
                    const int middle = (lower[k * kBlock + i] + lower[kGroupBytes / 2 + k * kBlock + i] + 1) / 2;
                    distances[k] += static_cast<std::uint64_t>(std::abs(middle - x.low[g * kBlock + i]));
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
        __m256i s0 = _mm256_setzero_si256(), s1 = s0;
        const __m256i* at = reinterpret_cast<const __m256i*>(boxes.block(b));
        for (Index g = 0; g < boxes.n_groups(); ++g, at += 4) {
            const __m256i value = _mm256_set1_epi64x(low[g]);
            const __m256i m0 = _mm256_avg_epu8(_mm256_loadu_si256(at), _mm256_loadu_si256(at + 2));
            const __m256i m1 = _mm256_avg_epu8(_mm256_loadu_si256(at + 1), _mm256_loadu_si256(at + 3));
            s0 = _mm256_add_epi64(s0, _mm256_sad_epu8(m0, value));
            s1 = _mm256_add_epi64(s1, _mm256_sad_epu8(m1, value));
        }
        std::uint64_t distances[kBlock];
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(distances), s0);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(distances + 4), s1);
        keep_nearest(boxes, b, distances, least, place);
    }
    return place;
}

#endif  // SSLART_X86

}  // namespace sslart
