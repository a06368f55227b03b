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

// Thresholds of the scan, in terms of coarse boxes: a box passes while 255·d ≤ min(n − match, n·slope − choice), n =
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

// Blocks to scan: `count` of them from the first, or those in a list.
struct BlockRange {
    Index first;
    Index count;
    const std::uint32_t* listed = nullptr;
};

// The sides of the blocks of a range, one after another, by as few looks at their chunks as possible.
class BlockReader {
public:
    BlockReader(const BoxBlocks& blocks, BlockRange range) : blocks_(blocks), range_(range), n_left_(range.count) {}

    // the sides of the next block, null after the last one
    SSLART_INLINE const std::uint8_t* next() {
        ++block_;
        return n_together_-- > 0 ? at_ += blocks_.stride() : next_run();
    }
    Index block() const { return block_; }

private:
    const std::uint8_t* next_run() {
        if (n_left_ == 0) return nullptr;
        block_ = range_.listed ? Index{*range_.listed++} : range_.first + range_.count - n_left_;
        const Index n_run = range_.listed ? 1 : std::min(n_left_, blocks_.n_together(block_));
        n_left_ -= n_run;
        n_together_ = n_run - 1;
        return at_ = blocks_.block(block_);
    }

    const BoxBlocks& blocks_;
    BlockRange range_;
    Index n_left_, n_together_ = 0, block_ = 0;
    const std::uint8_t* at_ = nullptr;
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
    for (; passing; passing &= passing - 1) visitor.visit(first + box_at(lowest_bit(passing)));
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
    BlockReader blocks(boxes, range);
    while (const std::uint8_t* p = blocks.next()) {
        std::uint32_t sums[kBlock] = {}, gaps[kBlock] = {};
        const float* const norms = BoxBlocks::norms_of(p);
        unsigned passing = 0;
        for (Index g = 0; g < boxes.n_groups();) {
            const Index until = next_check<0>(g, boxes.n_groups());
            for (; g < until; ++g, p += kGroupBytes) {
                const std::uint8_t *lower = p, *upper = p + kSideBytes;
                std::uint8_t low[kSideBytes], high[kSideBytes], outside[kSideBytes];
                for (Index k = 0; k < kBlock; ++k) {
                    std::memcpy(low + k * kGroup, &x.low[g * kGroup], kGroup);
                    std::memcpy(high + k * kGroup, &x.high[g * kGroup], kGroup);
                }
                for (Index i = 0; i < kSideBytes; ++i) {
                    const std::uint8_t below = static_cast<std::uint8_t>(std::max(lower[i], high[i]) - high[i]);
                    const std::uint8_t above = static_cast<std::uint8_t>(std::max(low[i], upper[i]) - upper[i]);
                    outside[i] = below | above;
                }
                for (Index k = 0; k < kBlock; ++k) sums[k] += sum_of_bytes(outside + k * kGroup);
                if (x.any_missing)
                    for (Index k = 0; k < kBlock; ++k)
                        for (Index i = 0; i < kGroup; ++i)
                            if (x.missing[g * kGroup + i])
                                gaps[k] += 255u + p[k * kGroup + i] - p[kSideBytes + k * kGroup + i];
            }
            passing = 0;
            for (Index k = 0; k < kBlock; ++k) {
                const Index place = norm_place(k);
                const float norm = norms[place] - static_cast<float>(gaps[k]);
                const float limit =
                    std::min(norm - visitor.limits.match, norm * visitor.limits.slope - visitor.limits.choice);
                passing |= static_cast<unsigned>(static_cast<float>(sums[k]) <= limit) << place;
            }
            if (!passing) break;
        }
        visit_all(passing, blocks.block() * kBlock, visitor);
    }
}

#ifdef SSLART_X86

// ---- AVX2

constexpr int kQuarters = kBlock / 4;  // a register holds four sums

// kGroups: the number of groups where it is known at compile time, 0 where it is not
template <int kGroups, bool kMissing>
SSLART_AVX2 void scan_avx2(const BoxBlocks& boxes, BlockRange range, const CoarseSample& x, Visitor& visitor) {
    const __m256i zero = _mm256_setzero_si256();
    const Index n_groups = kGroups ? kGroups : boxes.n_groups();
    const std::int64_t* low = reinterpret_cast<const std::int64_t*>(x.low.data());
    const std::int64_t* high = reinterpret_cast<const std::int64_t*>(x.high.data());
    const std::int64_t* missing = reinterpret_cast<const std::int64_t*>(x.missing.data());
    BlockReader blocks(boxes, range);
    while (const std::uint8_t* p = blocks.next()) {
        __m256i sums[kQuarters] = {}, gaps[kQuarters] = {};
        const float* const norms = BoxBlocks::norms_of(p);
        const __m256i* at = reinterpret_cast<const __m256i*>(p);
        unsigned passing = 0;
        for (Index g = 0; g < n_groups;) {
            const Index until = next_check<kGroups>(g, n_groups);
            for (; g < until; ++g, at += 2 * kQuarters) {
                const __m256i xl = _mm256_set1_epi64x(low[g]), xh = _mm256_set1_epi64x(high[g]);
                for (int q = 0; q < kQuarters; ++q) {
                    const __m256i l = _mm256_loadu_si256(at + q), u = _mm256_loadu_si256(at + kQuarters + q);
                    const __m256i d = _mm256_or_si256(_mm256_subs_epu8(l, xh), _mm256_subs_epu8(xl, u));
                    sums[q] = _mm256_add_epi64(sums[q], _mm256_sad_epu8(d, zero));
                    if (kMissing) {
                        const __m256i gap = _mm256_set1_epi64x(missing[g]);
                        gaps[q] = _mm256_add_epi64(gaps[q], _mm256_sad_epu8(_mm256_and_si256(l, gap), zero));
                        gaps[q] = _mm256_add_epi64(gaps[q], _mm256_sad_epu8(_mm256_andnot_si256(u, gap), zero));
                    }
                }
            }
            passing = 0;
            for (int q = 0; q < kQuarters / 2; ++q) {  // in the order of the norms
                __m256 n = _mm256_loadu_ps(norms + q * 8);
                if (kMissing)
                    n = _mm256_sub_ps(n, _mm256_cvtepi32_ps(_mm256_or_si256(
                                             gaps[q], _mm256_slli_epi64(gaps[q + kQuarters / 2], 32))));
                const __m256 sum = _mm256_cvtepi32_ps(
                    _mm256_or_si256(sums[q], _mm256_slli_epi64(sums[q + kQuarters / 2], 32)));
                const __m256 by_match = _mm256_sub_ps(n, _mm256_set1_ps(visitor.limits.match));
                const __m256 by_choice = _mm256_sub_ps(_mm256_mul_ps(n, _mm256_set1_ps(visitor.limits.slope)),
                                                       _mm256_set1_ps(visitor.limits.choice));
                const int passes =
                    _mm256_movemask_ps(_mm256_cmp_ps(sum, _mm256_min_ps(by_match, by_choice), _CMP_LE_OQ));
                passing |= static_cast<unsigned>(passes) << (q * 8);
            }
            if (!passing) break;
        }
        visit_all(passing, blocks.block() * kBlock, visitor);
    }
}

// ---- AVX-512

template <int kGroups, bool kMissing>
SSLART_AVX512 void scan_avx512(const BoxBlocks& boxes, BlockRange range, const CoarseSample& x, Visitor& visitor) {
    const __m512i zero = _mm512_setzero_si512();
    const Index n_groups = kGroups ? kGroups : boxes.n_groups();
    const std::int64_t* low = reinterpret_cast<const std::int64_t*>(x.low.data());
    const std::int64_t* high = reinterpret_cast<const std::int64_t*>(x.high.data());
    const std::int64_t* missing = reinterpret_cast<const std::int64_t*>(x.missing.data());
    BlockReader blocks(boxes, range);
    while (const std::uint8_t* p = blocks.next()) {
        __m512i s0 = zero, s1 = zero, m0 = zero, m1 = zero;
        const __m512 norms = _mm512_loadu_ps(BoxBlocks::norms_of(p));
        const __m512i* at = reinterpret_cast<const __m512i*>(p);
        unsigned passing = 0;
        for (Index g = 0; g < n_groups;) {
            const Index until = next_check<kGroups>(g, n_groups);
            for (; g < until; ++g, at += 4) {
                const __m512i xl = _mm512_set1_epi64(low[g]), xh = _mm512_set1_epi64(high[g]);
                const __m512i l0 = _mm512_loadu_si512(at), l1 = _mm512_loadu_si512(at + 1);
                const __m512i u0 = _mm512_loadu_si512(at + 2), u1 = _mm512_loadu_si512(at + 3);
                const __m512i d0 = _mm512_or_si512(_mm512_subs_epu8(l0, xh), _mm512_subs_epu8(xl, u0));
                const __m512i d1 = _mm512_or_si512(_mm512_subs_epu8(l1, xh), _mm512_subs_epu8(xl, u1));
                s0 = _mm512_add_epi64(s0, _mm512_sad_epu8(d0, zero));
                s1 = _mm512_add_epi64(s1, _mm512_sad_epu8(d1, zero));
                if (kMissing) {
                    const __m512i gap = _mm512_set1_epi64(missing[g]);
                    m0 = _mm512_add_epi64(m0, _mm512_sad_epu8(_mm512_and_si512(l0, gap), zero));
                    m1 = _mm512_add_epi64(m1, _mm512_sad_epu8(_mm512_and_si512(l1, gap), zero));
                    m0 = _mm512_add_epi64(m0, _mm512_sad_epu8(_mm512_andnot_si512(u0, gap), zero));
                    m1 = _mm512_add_epi64(m1, _mm512_sad_epu8(_mm512_andnot_si512(u1, gap), zero));
                }
            }
            const __m512 sums = _mm512_cvtepi32_ps(_mm512_or_si512(s0, _mm512_slli_epi64(s1, 32)));
            __m512 n = norms;
            if (kMissing) n = _mm512_sub_ps(n, _mm512_cvtepi32_ps(_mm512_or_si512(m0, _mm512_slli_epi64(m1, 32))));
            const __m512 by_match = _mm512_sub_ps(n, _mm512_set1_ps(visitor.limits.match));
            const __m512 by_choice = _mm512_sub_ps(_mm512_mul_ps(n, _mm512_set1_ps(visitor.limits.slope)),
                                                   _mm512_set1_ps(visitor.limits.choice));
            passing = _mm512_cmp_ps_mask(sums, _mm512_min_ps(by_match, by_choice), _CMP_LE_OQ);
            if (!passing) break;
        }
        visit_all(passing, blocks.block() * kBlock, visitor);
    }
}

#endif  // SSLART_X86

}  // namespace sslart
