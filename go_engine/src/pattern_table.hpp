// A hash table from pattern keys to small values, open addressing with linear probing; it grows as it fills.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace go {

template <typename Key, typename Value> class PatternTable {
public:
  explicit PatternTable(std::size_t capacity = 0) { clear(std::bit_ceil(capacity * kSlotsPerKey + kMinSlots)); }

  void prefetch(Key key) const { __builtin_prefetch(&slots_[home(key)]); }
  // The value of a key, null if there is none.
  const Value* find(Key key) const {
    for (std::size_t i = home(key);; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i].key == key) return &slots_[i].value;
      if (slots_[i].key == kFree) return nullptr;
    }
  }

  // The value of a key, which is put in with `value` if it is new. Valid until the next insertion.
  Value& insert(Key key, Value value) {
    if ((used_ + 1) * kSlotsPerKey > slots_.size()) grow();
    std::size_t i = home(key);
    while (slots_[i].key != key && slots_[i].key != kFree) i = (i + 1) & (slots_.size() - 1);
    if (slots_[i].key == kFree) {
      slots_[i] = {key, value};
      ++used_;
    }
    return slots_[i].value;
  }

  std::size_t size() const { return used_; }
  template <typename F> void for_each(F&& f) const { // in no particular order
    for (const Slot& slot : slots_) {
      if (slot.key != kFree) f(slot.key, slot.value);
    }
  }

private:
  static constexpr Key kFree = static_cast<Key>(~Key{0}); // no pattern uses all bits
  static constexpr std::size_t kSlotsPerKey = 2;
  static constexpr std::size_t kMinSlots = 16;
  struct Slot {
    Key key;
    Value value;
  };

  void clear(std::size_t slots) {
    slots_.assign(slots, {kFree, Value{}});
    shift_ = 64 - std::countr_zero(slots);
    used_ = 0;
  }
  void grow() {
    const std::vector<Slot> old = std::move(slots_);
    clear(old.size() * 2);
    for (const Slot& slot : old) {
      if (slot.key != kFree) insert(slot.key, slot.value);
    }
  }
  std::size_t home(Key key) const {
    return static_cast<std::size_t>((static_cast<std::uint64_t>(key) * 0x9e3779b97f4a7c15ULL) >> shift_);
  }

  std::vector<Slot> slots_;
  int shift_ = 0;
  std::size_t used_ = 0;
};

} // namespace go
