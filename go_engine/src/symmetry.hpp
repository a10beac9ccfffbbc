// The eight symmetries of the square: k & 3 quarter turns to the left, for k >= 4 after a left-right mirroring.
#pragma once

#include <array>

#include "geometry.hpp"

namespace go {

inline constexpr int kSymmetries = 8;

using MoveMap = std::array<std::int16_t, kMaxMoves + 1>; // move -> move; the pass maps to itself

const MoveMap& symmetry_map(int size, int k); // throws std::invalid_argument for a size or k out of range
int inverse_symmetry(int k);                  // throws std::invalid_argument for k out of range

} // namespace go
