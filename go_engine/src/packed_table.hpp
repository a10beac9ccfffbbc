// A hash table from diamond keys to numbers below 2^27, one word a slot, for look-ups that seldom find it in the cache.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pattern.hpp"

namespace go {

class PackedTable {
public:
  explicit PackedTable(std::size_t capacity) : slots_(std::bit_ceil(capacity * kSlotsPerKey + kMinSlots), kFree) {
    shift_ = 64 - std::countr_zero(slots_.size());
  }

  void prefetch(PatternKey key) const { __builtin_prefetch(&slots_[home(key)]); }
  std::uint32_t find(PatternKey key) const { // 0 if there is none
    for (std::size_t i = home(key);; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i] >> kValueBits == key) return static_cast<std::uint32_t>(slots_[i] & kValueMask);
      if (slots_[i] == kFree) return 0;
    }
  }
  void insert(PatternKey key, std::uint32_t value) { // at most `capacity` keys; one that is there stays as it is
    std::size_t i = home(key);
    while (slots_[i] != kFree && slots_[i] >> kValueBits != key) i = (i + 1) & (slots_.size() - 1);
    if (slots_[i] == kFree) slots_[i] = key << kValueBits | value;
  }

private:
  static constexpr int kValueBits = 64 - kCodeBits * kDiamondPoints - 1;
  static constexpr std::uint64_t kValueMask = (std::uint64_t{1} << kValueBits) - 1;
  static constexpr std::uint64_t kFree = ~std::uint64_t{0}; // a diamond's key leaves the highest bit clear
  static constexpr std::size_t kSlotsPerKey = 2;
  static constexpr std::size_t kMinSlots = 16;

  std::size_t home(PatternKey key) const { return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ULL) >> shift_); }

  std::vector<std::uint64_t> slots_;
  int shift_ = 0;
};

} // namespace go
