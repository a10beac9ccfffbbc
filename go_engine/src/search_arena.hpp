// The memory of a search tree: blocks handed out by a bump pointer, named by 32-bit references, freed all at once.
//
// A reference counts units of 8 bytes; 0 means none. Every search thread owns a Cursor into a block of its own, so that
// an allocation is an addition; only taking a new block is shared. When the capacity is used up `allocate` returns 0
// and the caller goes on without growing.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace go {

using Ref = std::uint32_t;

class Arena {
public:
  struct Cursor {
    Ref next = 0;
    Ref end = 0;
  };

  explicit Arena(std::size_t capacity_bytes)
      : blocks_(std::clamp<std::size_t>(capacity_bytes / kBlockBytes, 1, kMaxBlocks)) {}

  Ref allocate(Cursor& cursor, std::size_t bytes) { // bytes <= kBlockBytes - 8; 0 when the arena is full
    const Ref units = static_cast<Ref>((bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
    if (cursor.end - cursor.next < units && !next_block(cursor)) return 0;
    const Ref ref = cursor.next;
    cursor.next += units;
    used_.fetch_add(units * sizeof(std::uint64_t), std::memory_order_relaxed);
    return ref;
  }

  template <typename T> T* at(Ref ref) const {
    std::uint64_t* block = blocks_[ref / kBlockUnits].load(std::memory_order_acquire);
    return reinterpret_cast<T*>(block + ref % kBlockUnits);
  }

  std::size_t used() const { return used_.load(std::memory_order_relaxed); } // bytes handed out
  std::size_t reserved() const { return owned_.size() * kBlockBytes; }       // bytes taken from the system
  std::size_t capacity() const { return blocks_.size() * kBlockBytes; }

private:
  static constexpr Ref kBlockUnits = 8192;
  static constexpr std::size_t kBlockBytes = kBlockUnits * sizeof(std::uint64_t);
  static constexpr std::size_t kMaxBlocks = (std::size_t{1} << 32) / kBlockUnits;

  bool next_block(Cursor& cursor) {
    const std::lock_guard<std::mutex> guard(lock_);
    const std::size_t i = owned_.size();
    if (i == blocks_.size()) return false;
    owned_.push_back(std::make_unique_for_overwrite<std::uint64_t[]>(kBlockUnits));
    blocks_[i].store(owned_.back().get(), std::memory_order_release);
    cursor.next = static_cast<Ref>(i) * kBlockUnits + (i == 0); // reference 0 stays unused
    cursor.end = static_cast<Ref>(i + 1) * kBlockUnits;
    return true;
  }

  std::vector<std::atomic<std::uint64_t*>> blocks_;
  std::vector<std::unique_ptr<std::uint64_t[]>> owned_; // under lock_
  std::mutex lock_;
  std::atomic<std::size_t> used_{0};
};

} // namespace go
