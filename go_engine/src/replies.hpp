// The moves that the search found best in its tree, for rollouts that come to a similar place: the paper's
// generalisation of the last good reply.
//
// At every step of a descent the most probable move is stored under its context: the side to play, the previous move
// and the 3x3 around it, with the 3x3 around the move itself. A rollout in the same context that finds the move's
// surroundings unchanged plays it with high probability. The table is a plain array of words that threads read and
// write without locks; what falls into the same place overwrites.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "pattern.hpp"
#include "position.hpp"
#include "random.hpp"

namespace go {

// The 3x3 key around a point (as PatternBoard::ring), read from a position.
PatternKey ring_of(const Position& position, Point p);

inline constexpr double kReplyProbability = 0.9;

struct Reply {
  int move = -1; // -1: none
  std::uint32_t check = 0;

  bool fits(PatternKey around_move) const { return check == summary(around_move); }
  static std::uint32_t summary(PatternKey around) {
    return static_cast<std::uint32_t>(mix(around) >> (64 - kCheckBits));
  }
  static constexpr int kCheckBits = 15;
};

class ReplyTable {
public:
  ReplyTable() : slots_(std::make_unique<Slots>()) { clear(); }

  void store(Colour to_play, int previous, PatternKey around_previous, int move, PatternKey around_move) {
    const std::uint64_t key = context(to_play, previous, around_previous);
    const std::uint64_t word = (key & kTagMask) | static_cast<std::uint64_t>(Reply::summary(around_move)) << kMoveBits |
                               static_cast<std::uint64_t>(move);
    (*slots_)[key % kSlots].store(word, std::memory_order_relaxed);
  }
  Reply find(Colour to_play, int previous, PatternKey around_previous) const {
    const std::uint64_t key = context(to_play, previous, around_previous);
    const std::uint64_t word = (*slots_)[key % kSlots].load(std::memory_order_relaxed);
    if (word == 0 || ((word ^ key) & kTagMask) != 0) return {};
    return {static_cast<int>(word & kMoveMask), static_cast<std::uint32_t>((word & ~kTagMask) >> kMoveBits)};
  }
  void clear() {
    for (auto& slot : *slots_) slot.store(0, std::memory_order_relaxed);
  }

private:
  static constexpr std::size_t kSlots = 1 << 13;
  static constexpr int kMoveBits = 9;
  static constexpr std::uint64_t kMoveMask = (1U << kMoveBits) - 1;
  static constexpr std::uint64_t kTagMask = ~((std::uint64_t{1} << (kMoveBits + Reply::kCheckBits)) - 1);
  using Slots = std::array<std::atomic<std::uint64_t>, kSlots>;

  static std::uint64_t context(Colour to_play, int previous, PatternKey around) {
    return mix(around ^ static_cast<std::uint64_t>(previous * 4 + to_play) << 40);
  }

  std::unique_ptr<Slots> slots_;
};

} // namespace go
