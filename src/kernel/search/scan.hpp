// The scan: reads blocks of coarse boxes and passes those that it cannot rule out to a visitor. One loop per
// instruction set.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#ifdef _MSC_VER
#include <intrin.h>
#endif

#include "runtime/simd.hpp"
#include "search/blocks.hpp"
#include "search/coarse.hpp"

namespace sslart {

// What a node must reach, in terms of coarse boxes: it passes while 255·d ≤ min(n − match, n·slope − choice), n =
// 255·|W|. The margin covers every rounding in single precision.
struct Limits {
    float match = 0.0f;
    float slope = 1.0f;
    float choice = 0.0f;

    void set_vigilance(double vigilance, double sample_norm, double margin) {
        match = static_cast<float>(255.0 * vigilance * sample_norm - margin);
    }
    void set_best(double best_choice, double alpha, double margin) {
        slope = static_cast<float>(1.0 - best_choice);
        choice = static_cast<float>(255.0 * alpha * best_choice - margin);
    }
    static double margin(Index n_features) { return 255.0 * 4.0 * static_cast<double>(n_features + 4) / (1 << 20); }
};

// Gets the places of the boxes that pass, and may tighten the limits.
struct Visitor {
    Limits limits;
    virtual void visit(Index place) = 0;

protected:
    ~Visitor() = default;
};

// Which blocks to scan: `count` of them from the first, or those in a list.
struct BlockRange {
    Index first;
    Index count;
    const std::uint32_t* listed = nullptr;

    Index operator[](Index i) const { return listed ? Index{listed[i]} : first + i; }
};

using Scan = void (*)(const BoxBlocks&, BlockRange, const CoarseSample&, Visitor&);

// The scan leaves a block as soon as no node of it can pass: it checks after so many groups.
constexpr Index kGroupsBetweenChecks = 4;

template <int kGroups>
constexpr Index next_check(Index group, Index n_groups) {
    const Index step = kGroups == 0 ? kGroupsBetweenChecks : kGroups <= 2 ? kGroups : 2;
    return std::min(n_groups, group + step);
}

inline Index lowest_bit(unsigned bits) {
#ifdef _MSC_VER
    unsigned long place;
    _BitScanForward(&place, bits);
    return static_cast<Index>(place);
#else
    return __builtin_ctz(bits);
#endif
}

inline void visit_all(unsigned passing, Index first, Visitor& visitor) {
    static constexpr Index kBoxAt[kBlock] = {0, 4, 1, 5, 2, 6, 3, 7};  // inverse of kNormPlace
    for (; passing; passing &= passing - 1) visitor.visit(first + kBoxAt[lowest_bit(passing)]);
}

// ---- portable C++

inline std::uint32_t sum_of_bytes(const std::uint8_t* eight) {
    std::uint64_t word;
    std::memcpy(&word, eight, sizeof word);
    constexpr std::uint64_t kEven = 0x00ff00ff00ff00ffULL;
    word = (word & kEven) + ((word >> 8) & kEven);  // four sums of two bytes, 16 bits apart
    return static_cast<std::uint32_t>((word * 0x0001000100010001ULL) >> 48);
}

inline void scan_portable(const BoxBlocks& boxes, BlockRange range, const CoarseSample& x, Visitor& visitor) {
    BoxBlocks::Reader blocks(boxes);
    for (Index i = 0; i < range.count; ++i) {
        const Index b = range[i];
        std::uint32_t sums[kBlock] = {}, gaps[kBlock] = {};
        const std::uint8_t* p = blocks[b];
        const float* const norms = BoxBlocks::norms_of(p);
        unsigned passing = 0;
        for (Index g = 0; g < boxes.n_groups();) {
            const Index until = next_check<0>(g, boxes.n_groups());
            for (; g < until; ++g, p += kGroupBytes) {
                const std::uint8_t *lower = p, *upper = p + kGroupBytes / 2;
                std::uint8_t low[kBlock * kBlock], high[kBlock * kBlock], outside[kBlock * kBlock];
                for (Index k = 0; k < kBlock; ++k) {
                    std::memcpy(low + k * kBlock, &x.low[g * kBlock], kBlock);
                    std::memcpy(high + k * kBlock, &x.high[g * kBlock], kBlock);
                }
                for (Index i = 0; i < kBlock * kBlock; ++i) {
                    const std::uint8_t below = static_cast<std::uint8_t>(std::max(lower[i], high[i]) - high[i]);
                    const std::uint8_t above = static_cast<std::uint8_t>(std::max(low[i], upper[i]) - upper[i]);
                    outside[i] = below | above;
                }
                for (Index k = 0; k < kBlock; ++k) sums[k] += sum_of_bytes(outside + k * kBlock);
                if (x.any_missing)
                    for (Index k = 0; k < kBlock; ++k)
                        for (Index i = 0; i < kBlock; ++i)
                            if (x.missing[g * kBlock + i])
                                gaps[k] += 255u + p[k * kBlock + i] - p[kGroupBytes / 2 + k * kBlock + i];
            }
            passing = 0;
            for (Index k = 0; k < kBlock; ++k) {
                const Index place = kNormPlace[k];
                const float norm = norms[place] - static_cast<float>(gaps[k]);
                const float limit =
                    std::min(norm - visitor.limits.match, norm * visitor.limits.slope - visitor.limits.choice);
                passing |= static_cast<unsigned>(static_cast<float>(sums[k]) <= limit) << place;
            }
            if (!passing) break;
        }
        visit_all(passing, b * kBlock, visitor);
    }
}

#ifdef SSLART_X86

// ---- AVX2

// kGroups: the number of groups where it is known at compile time, 0 where it is not
template <int kGroups, bool kMissing>
SSLART_AVX2 void scan_avx2(const BoxBlocks& boxes, BlockRange range, const CoarseSample& x, Visitor& visitor) {
    const __m256i zero = _mm256_setzero_si256();
    const Index n_groups = kGroups ? kGroups : boxes.n_groups();
    const std::int64_t* low = reinterpret_cast<const std::int64_t*>(x.low.data());
    const std::int64_t* high = reinterpret_cast<const std::int64_t*>(x.high.data());
    const std::int64_t* missing = reinterpret_cast<const std::int64_t*>(x.missing.data());
    BoxBlocks::Reader blocks(boxes);
    for (Index i = 0; i < range.count; ++i) {
        const Index b = range[i];
        const std::uint8_t* p = blocks[b];
        __m256i s0 = zero, s1 = zero, m0 = zero, m1 = zero;
        const __m256 norms = _mm256_loadu_ps(BoxBlocks::norms_of(p));
        const __m256i* at = reinterpret_cast<const __m256i*>(p);
        int passing = 0;
        for (Index g = 0; g < n_groups;) {
            const Index until = next_check<kGroups>(g, n_groups);
            for (; g < until; ++g, at += 4) {
                const __m256i xl = _mm256_set1_epi64x(low[g]), xh = _mm256_set1_epi64x(high[g]);
                const __m256i l0 = _mm256_loadu_si256(at), l1 = _mm256_loadu_si256(at + 1);
                const __m256i u0 = _mm256_loadu_si256(at + 2), u1 = _mm256_loadu_si256(at + 3);
                const __m256i d0 = _mm256_or_si256(_mm256_subs_epu8(l0, xh), _mm256_subs_epu8(xl, u0));
                const __m256i d1 = _mm256_or_si256(_mm256_subs_epu8(l1, xh), _mm256_subs_epu8(xl, u1));
                s0 = _mm256_add_epi64(s0, _mm256_sad_epu8(d0, zero));
                s1 = _mm256_add_epi64(s1, _mm256_sad_epu8(d1, zero));
                if (kMissing) {
                    const __m256i gap = _mm256_set1_epi64x(missing[g]);
                    m0 = _mm256_add_epi64(m0, _mm256_sad_epu8(_mm256_and_si256(l0, gap), zero));
                    m1 = _mm256_add_epi64(m1, _mm256_sad_epu8(_mm256_and_si256(l1, gap), zero));
                    m0 = _mm256_add_epi64(m0, _mm256_sad_epu8(_mm256_andnot_si256(u0, gap), zero));
                    m1 = _mm256_add_epi64(m1, _mm256_sad_epu8(_mm256_andnot_si256(u1, gap), zero));
                }
            }
            // nodes 0 4 1 5 2 6 3 7
            const __m256 sums = _mm256_cvtepi32_ps(_mm256_or_si256(s0, _mm256_slli_epi64(s1, 32)));
            __m256 n = norms;
            if (kMissing) n = _mm256_sub_ps(n, _mm256_cvtepi32_ps(_mm256_or_si256(m0, _mm256_slli_epi64(m1, 32))));
            const __m256 by_match = _mm256_sub_ps(n, _mm256_set1_ps(visitor.limits.match));
            const __m256 by_choice = _mm256_sub_ps(_mm256_mul_ps(n, _mm256_set1_ps(visitor.limits.slope)),
                                                   _mm256_set1_ps(visitor.limits.choice));
            passing = _mm256_movemask_ps(_mm256_cmp_ps(sums, _mm256_min_ps(by_match, by_choice), _CMP_LE_OQ));
            if (!passing) break;
        }
        if (passing) visit_all(static_cast<unsigned>(passing), b * kBlock, visitor);
    }
}

// ---- AVX-512

template <int kGroups, bool kMissing>
SSLART_AVX512 void scan_avx512(const BoxBlocks& boxes, BlockRange range, const CoarseSample& x, Visitor& visitor) {
    const __m512i zero = _mm512_setzero_si512();
    const __m256i norm_order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const Index n_groups = kGroups ? kGroups : boxes.n_groups();
    const std::int64_t* low = reinterpret_cast<const std::int64_t*>(x.low.data());
    const std::int64_t* high = reinterpret_cast<const std::int64_t*>(x.high.data());
    const std::int64_t* missing = reinterpret_cast<const std::int64_t*>(x.missing.data());
    BoxBlocks::Reader blocks(boxes);
    for (Index i = 0; i < range.count; ++i) {
        const Index b = range[i];
        const std::uint8_t* p = blocks[b];
        __m512i s = zero, m = zero;
        const __m256 norms = _mm256_loadu_ps(BoxBlocks::norms_of(p));
        const std::uint8_t* at = p;
        unsigned passing = 0;
        for (Index g = 0; g < n_groups;) {
            const Index until = next_check<kGroups>(g, n_groups);
            for (; g < until; ++g, at += kGroupBytes) {
                const __m512i xl = _mm512_set1_epi64(low[g]), xh = _mm512_set1_epi64(high[g]);
                const __m512i l = _mm512_loadu_si512(at), u = _mm512_loadu_si512(at + kGroupBytes / 2);
                const __m512i d = _mm512_or_si512(_mm512_subs_epu8(l, xh), _mm512_subs_epu8(xl, u));
                s = _mm512_add_epi64(s, _mm512_sad_epu8(d, zero));
                if (kMissing) {
                    const __m512i gap = _mm512_set1_epi64(missing[g]);
                    m = _mm512_add_epi64(m, _mm512_sad_epu8(_mm512_and_si512(l, gap), zero));
                    m = _mm512_add_epi64(m, _mm512_sad_epu8(_mm512_andnot_si512(u, gap), zero));
                }
            }
            const __m256 sums = _mm256_cvtepi32_ps(_mm256_permutevar8x32_epi32(_mm512_cvtepi64_epi32(s), norm_order));
            __m256 n = norms;
            if (kMissing)
                n = _mm256_sub_ps(
                    n, _mm256_cvtepi32_ps(_mm256_permutevar8x32_epi32(_mm512_cvtepi64_epi32(m), norm_order)));
            const __m256 by_match = _mm256_sub_ps(n, _mm256_set1_ps(visitor.limits.match));
            const __m256 by_choice = _mm256_sub_ps(_mm256_mul_ps(n, _mm256_set1_ps(visitor.limits.slope)),
                                                   _mm256_set1_ps(visitor.limits.choice));
            passing = _mm256_cmp_ps_mask(sums, _mm256_min_ps(by_match, by_choice), _CMP_LE_OQ);
            if (!passing) break;
        }
        if (passing) visit_all(passing, b * kBlock, visitor);
    }
}

#endif  // SSLART_X86

}  // namespace sslart
