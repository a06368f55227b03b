// An exponential histogram of a stream: the further back, the more blocks of samples one row stands for.
#pragma once

#include <algorithm>

#include "art/model.hpp"

namespace sslart {

constexpr Index kBucketsOfLevel = 5;  // rows, at most
constexpr Index kBucketLevels = 64;

// Rows of sums, the oldest first. The first column is the number of the last sample that a row sums.
class Buckets {
public:
    Buckets(double* rows, Index capacity, Index width, Index* sizes)
        : rows_(rows), capacity_(capacity), width_(width), sizes_(sizes) {
        for (Index level = 0; level < kBucketLevels; ++level) n_rows_ += sizes[level];
    }

    Index n_rows() const { return n_rows_; }
    Index width() const { return width_; }
    bool has_room() const { return n_rows_ < capacity_; }
    const double* row(Index place) const { return rows_ + place * width_; }

    // two rows that are next to each other become one of the next level wherever a level has too many
    void push(const double* row) {
        std::copy_n(row, width_, rows_ + n_rows_ * width_);
        ++n_rows_;
        ++sizes_[0];
        Index newer = 0;  // rows of the level and of those below it
        for (Index level = 0; level + 1 < kBucketLevels && sizes_[level] > kBucketsOfLevel; ++level) {
            newer += sizes_[level];
            join(n_rows_ - newer);
            sizes_[level] -= 2;
            ++sizes_[level + 1];
            newer -= 2;
        }
    }

    void drop_oldest() {
        Index level = kBucketLevels - 1;
        while (sizes_[level] == 0) --level;
        --sizes_[level];
        --n_rows_;
        std::copy(rows_ + width_, rows_ + (n_rows_ + 1) * width_, rows_);
    }

private:
    void join(Index place) {
        double* const one = rows_ + place * width_;
        double* const other = one + width_;
        one[0] = other[0];
        for (Index i = 1; i < width_; ++i) one[i] += other[i];
        std::copy(other + width_, rows_ + n_rows_ * width_, other);
        --n_rows_;
    }

    double* rows_;
    Index capacity_, width_, n_rows_ = 0;
    Index* sizes_;  // number of rows of each level, the newest level first
};

}  // namespace sslart
