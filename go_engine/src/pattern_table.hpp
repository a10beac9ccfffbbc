// A read-mostly hash table from pattern keys to small values, open addressing with linear probing.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace go {

template <typename Key, typename Value> class PatternTable {
public:
  explicit PatternTable(std::size_t capacity = 0) {
    const std::size_t slots = std::bit_ceil(capacity * kSlotsPerKey + kMinSlots);
    slots_.assign(slots, {kFree, Value{}});
    shift_ = 64 - std::countr_zero(slots);
  }

  // The value of a key, null if there is none.
  const Value* find(Key key) const {
    for (std::size_t i = home(key);; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i].key == key) return &slots_[i].value;
      if (slots_[i].key == kFree) return nullptr;
    }
  }

  // The value of a key, which is put in with `value` if it is new. At most `capacity` keys.
  Value& insert(Key key, Value value) {
    for (std::size_t i = home(key);; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i].key == key) return slots_[i].value;
      if (slots_[i].key != kFree) continue;
      slots_[i] = {key, value};
      return slots_[i].value;
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

  std::size_t home(Key key) const {
    return static_cast<std::size_t>((static_cast<std::uint64_t>(key) * 0x9e3779b97f4a7c15ULL) >> shift_);
  }

  std::vector<Slot> slots_;
  int shift_ = 0;
};

} // namespace go
