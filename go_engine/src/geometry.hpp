// Board geometry shared by everything in the core: colours, points and their neighbours.
//
// The board lies in a one-dimensional array with one guard column between the rows and a guard row above and below, so
// that the four neighbours of a point are fixed offsets and no bounds are ever checked. A *move* is the public number
// row * size + col (size * size passes); a *point* is an index into the guarded array. Point 0 is a guard, hence
// "none".
#pragma once

#include <array>
#include <cstdint>

namespace go {

inline constexpr int kMinSize = 2;
inline constexpr int kMaxSize = 19;
inline constexpr int kMaxMoves = kMaxSize * kMaxSize;
inline constexpr int kMaxPoints = (kMaxSize + 2) * (kMaxSize + 1) + 1;

using Point = std::uint16_t;
inline constexpr Point kNoPoint = 0;

enum Colour : std::uint8_t { kEmpty = 0, kBlack = 1, kWhite = 2, kWall = 3 };

constexpr Colour opponent(Colour colour) { return static_cast<Colour>(3 - colour); }

// The public numbering of colours: BLACK = 1, WHITE = -1, EMPTY = 0.
constexpr int to_sign(Colour colour) { return colour == kBlack ? 1 : colour == kWhite ? -1 : 0; }
constexpr Colour from_sign(int sign) { return sign > 0 ? kBlack : sign < 0 ? kWhite : kEmpty; }

// Tables of one board size. Obtain them with Geometry::of, which builds all sizes once.
struct Geometry {
  int size = 0;
  int stride = 0;                                 // distance between vertically neighbouring points
  int moves = 0;                                  // number of points on the board, also the number of the pass
  int points = 0;                                 // length of the guarded array
  std::array<Point, kMaxMoves + 1> point_of{};    // move -> point; the pass maps to kNoPoint
  std::array<std::int16_t, kMaxPoints> move_of{}; // point -> move, -1 for guards
  std::array<int, 4> neighbour{};                 // offsets: up, left, right, down
  std::array<int, 4> diagonal{};                  // offsets

  static const Geometry& of(int size); // throws std::invalid_argument for a size out of range
};

// Zobrist keys: one per (colour, point) and one for "White to play" (situational superko only). The same numbers in
// every process, so that hashes can be stored.
struct Zobrist {
  std::array<std::array<std::uint64_t, kMaxPoints>, 3> stone{}; // index by Colour; kEmpty is all zero
  std::uint64_t white_to_play = 0;

  static const Zobrist& keys();
};

} // namespace go
