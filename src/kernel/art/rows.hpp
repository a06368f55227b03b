// Persistent rows: a copy shares all chunks, and a writer copies a chunk before its first change of it.
//
// Rows of equal width lie in chunks, and chunks in groups. Each chunk and each group has the mark of the draft that made
// it; only that draft changes it. A draft that is published gives its mark up, so that nothing changes what it holds.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "art/model.hpp"

namespace sslart {

using Owner = std::uint64_t;
constexpr Owner kNobody = 0;

inline Owner new_owner() {
    static std::atomic<Owner> last{kNobody};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

// Memory that begins where a cache line begins, so that vector instructions read no two lines at once.
template <class T>
struct LineAllocator {
    using value_type = T;
    static constexpr std::align_val_t kLine{64};

    LineAllocator() = default;
    template <class U>
    LineAllocator(const LineAllocator<U>&) {}
    T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kLine)); }
    void deallocate(T* at, std::size_t) { ::operator delete(at, kLine); }
    friend bool operator==(LineAllocator, LineAllocator) { return true; }
    friend bool operator!=(LineAllocator, LineAllocator) { return false; }
};

template <class T>
class Rows {
public:
    // A chunk is small, because learning one row copies a chunk: as many rows as fit into so many bytes, but at least one.
    explicit Rows(Index width = 1, Index chunk_bytes = 2048) : width_(width) {
        constexpr Index kMaxRows = 256;
        const Index fitting = chunk_bytes / std::max<Index>(1, width * static_cast<Index>(sizeof(T)));
        while ((Index{2} << shift_) <= std::min(fitting, kMaxRows)) ++shift_;
    }

    Index width() const { return width_; }
    Index size() const { return size_; }

    const T* operator[](Index row) const { return data(row >> shift_) + (row & mask()) * width_; }

    // number of contiguous rows in memory from a row on, including that row
    Index n_together(Index row) const { return (Index{1} << shift_) - (row & mask()); }

    // the row to change: its chunk is copied first where another version has it
    T* change(Index row, Owner owner) {
        const Index chunk = row >> shift_;
        Group& group = own_group(chunk / kChunks, owner);
        const std::size_t at = static_cast<std::size_t>(chunk % kChunks);
        if (group.chunks[at]->owner != owner) {
            group.chunks[at] = std::make_shared<Chunk>(Chunk{owner, group.chunks[at]->values});
            group.data[at] = group.chunks[at]->values.data();
        }
        return group.data[at] + (row & mask()) * width_;
    }

    // appends a row with unspecified content; new memory is filled with `value`
    T* append(Owner owner, T value = T{}) {
        const Index chunk = size_ >> shift_;
        if (chunk == n_chunks_) add_chunk(owner, value);
        return change(size_++, owner);
    }

private:
    static constexpr Index kChunks = 32;  // in a group

    struct Chunk {
        Owner owner;
        std::vector<T, LineAllocator<T>> values;
    };
    struct Group {
        Owner owner = kNobody;
        std::array<T*, kChunks> data{};
        std::array<std::shared_ptr<Chunk>, kChunks> chunks{};
    };

    Index mask() const { return (Index{1} << shift_) - 1; }
    const T* data(Index chunk) const {
        return groups_[static_cast<std::size_t>(chunk / kChunks)]->data[static_cast<std::size_t>(chunk % kChunks)];
    }

    Group& own_group(Index at, Owner owner) {
        std::shared_ptr<Group>& group = groups_[static_cast<std::size_t>(at)];
        if (group->owner != owner) {
            group = std::make_shared<Group>(*group);
            group->owner = owner;
        }
        return *group;
    }

    void add_chunk(Owner owner, T value) {
        if (n_chunks_ % kChunks == 0) {
            groups_.push_back(std::make_shared<Group>());
            groups_.back()->owner = owner;
        }
        Group& group = own_group(n_chunks_ / kChunks, owner);
        const std::size_t at = static_cast<std::size_t>(n_chunks_ % kChunks);
        const std::size_t n_values = static_cast<std::size_t>(width_ << shift_);
        group.chunks[at] = std::make_shared<Chunk>(Chunk{owner, decltype(Chunk::values)(n_values, value)});
        group.data[at] = group.chunks[at]->values.data();
        ++n_chunks_;
    }

    Index width_;
    Index shift_ = 0;
    Index size_ = 0;
    Index n_chunks_ = 0;
    std::vector<std::shared_ptr<Group>> groups_;
};

}  // namespace sslart
