// The feature planes of the paper (Extended Data Table 2), from the point of view of the side to move.
//
// An integer feature of value v >= 1 sets plane min(v, 8) of its group of eight, 0 sets none. Positions are sparse in
// these planes, so a position is first described by the list of its ones, which is then written in whatever form and
// under whatever symmetry the reader wants.
#pragma once

#include <array>
#include <cstdint>

#include "board.hpp"

namespace go {

enum Plane : std::uint8_t {
  kOwnStones = 0,
  kEnemyStones = 1,
  kEmptyPoints = 2,
  kOnes = 3,
  kTurnsSince = 4,      // 8 planes: 1 for the stone played last
  kLiberties = 12,      // 8 planes: of the chain on each point
  kCaptureSize = 20,    // 8 planes: stones that a move would take
  kSelfAtariSize = 28,  // 8 planes: stones of the own chain that a move would leave with one liberty
  kLibertiesAfter = 36, // 8 planes: of the own chain after a move
  kLadderCapture = 44,
  kLadderEscape = 45,
  kSensible = 46, // legal and no own eye filled
  kZeros = 47,
  kPlayerBlack = 48, // for value networks only
};
inline constexpr int kPlanes = 48;
inline constexpr int kPlanesWithColour = 49;
constexpr int plane_count(bool player_colour) { return player_colour ? kPlanesWithColour : kPlanes; }

// The ones of a position in all planes but the constant ones (kOnes, kZeros, kPlayerBlack).
class Features {
public:
  explicit Features(const Board& board);

  // Writes [planes, size, size] of zeros and ones, moved by symmetry k (see symmetry.hpp). T is std::uint8_t, float, or
  // std::uint16_t for 16-bit floats; `one` is 1 in that form, and 0 is all bits clear in each.
  template <typename T> void write(bool player_colour, int symmetry, T* out, T one = 1) const;
  // The same, eight cells a byte, the first in the highest bit; the last byte is filled up with zeros.
  void write_packed(bool player_colour, int symmetry, std::uint8_t* out) const;

private:
  struct One {
    std::uint8_t plane;
    std::uint16_t move;
  };
  static constexpr int kOnesPerPoint = 7; // at most: colour, four of moves, both ladders

  void add(int plane, int move) {
    ones_[count_++] = {static_cast<std::uint8_t>(plane), static_cast<std::uint16_t>(move)};
  }
  void add_value(int group, int value, int move) {
    if (value > 0) add(group + (value < 8 ? value : 8) - 1, move);
  }
  void add_ladders(const Board& board, const class ChainTable& chains);

  int size_;
  bool black_;
  int count_ = 0;
  std::array<One, kMaxMoves * kOnesPerPoint> ones_;
};

constexpr int packed_bytes(int size, bool player_colour) { return (plane_count(player_colour) * size * size + 7) / 8; }

// One board into uint8[48 or 49, size, size].
void write_planes(const Board& board, bool player_colour, std::uint8_t* out);

} // namespace go
