// Local patterns: the 3x3 around a point, the 12-point diamond, and nakade shapes, as exact keys (no hashing, so no two
// patterns are ever confused).
//
// A point is seen as a code of three bits: nothing, the wall, or a stone of either colour with 1, 2 or >= 3 liberties.
// In a key made for a mover the own stones are coded as Black's. The twelve points come in three groups of four:
//
//            8          0..3   next to the centre: up, right, down, left
//         7  0  4       4..7   diagonal:           up-right, down-right, down-left, up-left
//     11  3  *  1  9    8..11  two away:           up, right, down, left
//         6  2  5
//           10
//
// so that a quarter turn rotates each group by one, and the 3x3 key is the diamond's key without its last group.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "geometry.hpp"
#include "symmetry.hpp"

namespace go {

using PatternKey = std::uint64_t;

inline constexpr int kCodeBits = 3;
inline constexpr int kRingPoints = 8;     // of the 3x3
inline constexpr int kDiamondPoints = 12; // of the diamond
inline constexpr PatternKey kRingMask = (PatternKey{1} << (kCodeBits * kRingPoints)) - 1;
inline constexpr PatternKey kDiamondMask = (PatternKey{1} << (kCodeBits * kDiamondPoints)) - 1;
inline constexpr int kLibertyClasses = 3; // 1, 2, >= 3 liberties

inline constexpr unsigned kWallCode = 4;

// The code of a point in absolute colours; `liberties` are those of its chain.
constexpr unsigned point_code(Colour colour, int liberties) {
  if (colour == kEmpty) return 0;
  if (colour == kWall) return kWallCode;
  const unsigned libs = liberties < kLibertyClasses ? static_cast<unsigned>(liberties) : kLibertyClasses;
  return colour == kBlack ? libs : 4U | libs;
}

// Black stones become White's and back; what is empty or wall stays.
constexpr PatternKey exchange_colours(PatternKey key) {
  constexpr PatternKey kOnes = 0x249249249ULL; // the lowest bit of each code
  return key ^ (((key | key >> 1) & kOnes) << 2);
}

// The key as its mover sees it: own stones as Black's.
constexpr PatternKey relative(PatternKey key, Colour mover) { return mover == kBlack ? key : exchange_colours(key); }

// Symmetry 0..7: mirrored left to right if >= 4, then turned by symmetry % 4 quarters clockwise.
PatternKey transform(PatternKey key, int symmetry);
int transform_index(int index, int symmetry); // where the point `index` of the diamond (0..11) goes

std::array<PatternKey, kSymmetries> all_forms(PatternKey key); // transform by each symmetry, quicker than one by one

// The smallest key over the eight symmetries; for 3x3 and diamond keys alike.
PatternKey canonical(PatternKey key);

// A response pattern: the diamond around the previous move and which of its points is played (bits 36 and up),
// smallest over the eight symmetries.
PatternKey response_key(PatternKey diamond, int index);
inline constexpr int kResponseIndexShift = kCodeBits * kDiamondPoints;

// A nakade: the shape of a captured chain of at most kMaxNakade stones and which of its points is played (`played` is
// an index into `shape`, points being row * size + col), smallest over the symmetries, wherever it lies on the board.
inline constexpr int kMaxNakade = 6;
PatternKey nakade_key(std::span<const int> shape, int played, int size);

// Where the points of the pattern lie on a board of one size; kNoPoint stands for the wall.
struct PatternGeometry {
  std::array<std::array<Point, kDiamondPoints>, kMaxPoints> around{};

  static const PatternGeometry& of(int size);
};

} // namespace go
