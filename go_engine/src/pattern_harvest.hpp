// Which patterns do the moves of a corpus show, and how often?
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pattern.hpp"
#include "replay.hpp"

namespace go {

struct PatternCount {
  PatternKey key;       // canonical
  std::uint32_t played; // moves that matched it
  std::uint32_t seen;   // for 3x3 patterns: times it came up as a candidate; otherwise 0
};

struct Harvest {
  std::uint64_t positions = 0;                                          // examples: sensible moves
  std::vector<PatternCount> nakade, response_pattern, pattern, diamond; // by key
};

// Diamonds around the move are counted only if `tree`. The result does not depend on the number of threads.
Harvest harvest_patterns(std::span<const GameRecord> games, bool tree, int threads);

} // namespace go
