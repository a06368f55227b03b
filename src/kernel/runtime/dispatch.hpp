// Choice of the instruction set: the best one of the machine, or one selected by name.
#pragma once

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "algebra/loops.hpp"
#include "evidence/loops.hpp"
#include "evidence/shapley.hpp"
#include "search/nearest.hpp"
#include "search/scan.hpp"

#if defined(SSLART_X86) && defined(_MSC_VER)
#include <intrin.h>
#endif

namespace sslart {

struct Instructions {
    const char* name;
    VectorOps ops;
    EvidenceLoops loops;
    AlgebraLoops algebra;
    AddContributions add_contributions;
    NearestBox nearest;
    Scan scans[2][5];  // by whether values are missing, and by the number of groups (0: more than four)

    Scan scan(Index n_groups, const CoarseSample& x) const {
        return scans[x.any_missing][n_groups <= 4 ? n_groups : 0];
    }
};

inline constexpr Instructions kPortable = {
    "portable",
    kVectorOps_portable,
    portable::kLoops,
    portable::algebra::kLoops,
    portable::add_contributions,
    nearest_portable,
    {{scan_portable, scan_portable, scan_portable, scan_portable, scan_portable},
     {scan_portable, scan_portable, scan_portable, scan_portable, scan_portable}}};

#ifdef SSLART_X86
inline constexpr Instructions kAvx2 = {
    "avx2",
    kVectorOps_avx2,
    avx2::kLoops,
    avx2::algebra::kLoops,
    avx2::add_contributions,
    nearest_avx2,
    {{scan_avx2<0, false>, scan_avx2<1, false>, scan_avx2<2, false>, scan_avx2<3, false>, scan_avx2<4, false>},
     {scan_avx2<0, true>, scan_avx2<1, true>, scan_avx2<2, true>, scan_avx2<3, true>, scan_avx2<4, true>}}};

inline constexpr Instructions kAvx512 = {
    "avx512",
    kVectorOps_avx512,
    avx512::kLoops,
    avx512::algebra::kLoops,
    avx512::add_contributions,
    nearest_avx2,
    {{scan_avx512<0, false>, scan_avx512<1, false>, scan_avx512<2, false>, scan_avx512<3, false>,
      scan_avx512<4, false>},
     {scan_avx512<0, true>, scan_avx512<1, true>, scan_avx512<2, true>, scan_avx512<3, true>, scan_avx512<4, true>}}};

#ifdef _MSC_VER
inline bool cpu_has(bool wide) {
    int leaf1[4], leaf7[4];
    __cpuidex(leaf1, 1, 0);
    __cpuidex(leaf7, 7, 0);
    const bool saves_registers = (leaf1[2] & (1 << 27)) != 0;
    if (!saves_registers) return false;
    const unsigned long long saved = _xgetbv(0);
    if (!wide) return (leaf7[1] & (1 << 5)) != 0 && (saved & 6) == 6;
    const unsigned needed = (1u << 16) | (1u << 30) | (1u << 31);
    return (static_cast<unsigned>(leaf7[1]) & needed) == needed && (saved & 0xe6) == 0xe6;
}
inline bool has_avx2() { return cpu_has(false); }
inline bool has_avx512() { return cpu_has(true); }
#else
inline bool has_avx2() { return __builtin_cpu_supports("avx2"); }
inline bool has_avx512() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl");
}
#endif
#endif  // SSLART_X86

// the instruction sets this machine can run, best first
inline std::vector<const Instructions*> available_instructions() {
    std::vector<const Instructions*> found;
#ifdef SSLART_X86
    if (has_avx512()) found.push_back(&kAvx512);
    if (has_avx2()) found.push_back(&kAvx2);
#endif
    found.push_back(&kPortable);
    return found;
}

inline std::atomic<const Instructions*>& chosen_instructions() {
    static std::atomic<const Instructions*> chosen{available_instructions().front()};
    return chosen;
}

inline void choose_instructions(const std::string& name) {
    for (const Instructions* instructions : available_instructions())
        if (name == instructions->name) {
            chosen_instructions() = instructions;
            return;
        }
    throw std::invalid_argument("this machine cannot run the instruction set " + name);
}

}  // namespace sslart
