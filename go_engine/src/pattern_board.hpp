// The board of the playouts: stones, exact liberties, and the 3x3 key of every point, all kept up to date move by move.
//
// Position counts pseudo-liberties, which is enough to tell captures and atari; the patterns need to tell 2 liberties
// from 3, so here every chain has the set of its liberties. A change of a point's code is pushed into the keys of the
// eight points around it, and the points whose key changed are collected until the reader clears them.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "board.hpp"
#include "pattern.hpp"
#include "ring_rules.hpp"

namespace go {

class alignas(64) PointSet {
public:
  bool test(Point p) const { return (words_[p >> 6] >> (p & 63)) & 1; }
  void set(Point p) { words_[p >> 6] |= bit(p); }
  void reset(Point p) { words_[p >> 6] &= ~bit(p); }
  void clear() { words_.fill(0); }
  bool any() const {
    std::uint64_t all = 0;
    for (const std::uint64_t w : words_) all |= w;
    return all != 0;
  }
  int count() const {
    int n = 0;
    for (const std::uint64_t w : words_) n += std::popcount(w);
    return n;
  }
  Point first() const { // requires any()
    std::size_t i = 0;
    while (words_[i] == 0) ++i;
    return static_cast<Point>(i * 64 + static_cast<std::size_t>(std::countr_zero(words_[i])));
  }
  void operator|=(const PointSet& other) {
    for (std::size_t i = 0; i < kWords; ++i) words_[i] |= other.words_[i];
  }
  template <typename F> void for_each(F&& f) const {
    for (std::size_t i = 0; i < kWords; ++i) {
      for (std::uint64_t w = words_[i]; w != 0; w &= w - 1) {
        f(static_cast<Point>(i * 64 + static_cast<std::size_t>(std::countr_zero(w))));
      }
    }
  }

private:
  static constexpr std::size_t kWords = 8; // one cache line; 421 points need seven
  static std::uint64_t bit(Point p) { return std::uint64_t{1} << (p & 63); }
  std::array<std::uint64_t, kWords> words_{};
};

// Points by board row (1..size): bit `col` of rows[row], and which rows have any.
struct RowSet {
  static constexpr int kRows = 24; // at least kMaxSize + 2; whole vectors
  std::array<std::uint32_t, kRows> rows{};
  std::uint32_t touched = 0;

  void add_block(int row, int col) { // the 3x3 around a point
    const std::uint32_t bits = 7U << (col - 1);
    rows[row - 1] |= bits;
    rows[row] |= bits;
    rows[row + 1] |= bits;
    touched |= 7U << (row - 1);
  }
  void add(const RowSet& other) {
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] |= other.rows[i];
    touched |= other.touched;
  }
  void clear() {
    rows.fill(0);
    touched = 0;
  }
};

class PatternBoard {
public:
  explicit PatternBoard(const Board& board);

  const Geometry& geometry() const { return *geometry_; }
  Colour colour(Point p) const { return static_cast<Colour>(colour_[p]); }
  // Cells number the points by row and column (from 1) with a fixed row length; 0 for guards.
  static constexpr int kRowLength = 32;
  static constexpr int kCells = RowSet::kRows * kRowLength;
  int cell(Point p) const { return cell_[p]; }
  int row(Point p) const { return cell_[p] / kRowLength; }
  int col(Point p) const { return cell_[p] % kRowLength; }
  Point point(int row, int col) const { return static_cast<Point>(row * geometry_->stride + col); }
  std::uint32_t empty_row(int row) const { return empty_[row]; } // bit `col`
  Point ko() const { return ko_; }                               // where the player to move may not retake

  PatternKey ring(Point p) const { return ring_[p]; } // in absolute colours, like diamond
  PatternKey diamond(Point p) const;

  int liberties(Point stone) const { return count_[head_[stone]]; }
  int stones(Point stone) const { return stones_[head_[stone]]; } // of its chain
  const PointSet& liberty_set(Point stone) const { return liberties_[head_[stone]]; }
  Point chain_id(Point stone) const { return head_[stone]; }
  const PointSet& in_atari(Colour c) const { return atari_[c - 1]; } // the names of the chains in atari
  bool two_liberties_after(Point p, Colour c) const; // would the chain of this legal move have two or more?

  // The moves that save an own chain in atari, each once: those on its last liberty that leave it two or more, and
  // those that take a chain beside it which is in atari. Some may be illegal for a ko or fill an eye. Returns how many.
  std::size_t saving_moves(Colour c, std::span<Point> out) const;

  void play(Point p, Colour c); // assumes legal; the pass is kNoPoint
  // The stones taken by the last move, empty if more than kTakenRemembered.
  std::span<const Point> taken() const { return {taken_.data(), taken_count_}; }
  RowSet& changed() { return changed_; } // points whose ring key changed, and those that became empty

  int area() const; // Black's area minus White's, every stone alive as it stands

private:
  void set_code(Point p, unsigned code);
  void recode(Point chain, int liberties);
  void lose_liberty(Point chain, Point p);
  void gain_liberty(Point chain, Point p);
  void capture(Point chain);
  void connect(Point p, std::span<const Point> chains);
  void index_chains(const Position& position);

  const Geometry* geometry_;
  const PatternGeometry* pattern_geometry_;
  Point ko_ = kNoPoint;
  std::size_t taken_count_ = 0; // may exceed kTakenRemembered while a move is being played
  std::array<Point, kTakenRemembered> taken_{};
  std::array<PointSet, 2> atari_{};
  RowSet changed_;
  std::array<std::uint32_t, RowSet::kRows> empty_{};
  std::array<std::uint8_t, kMaxPoints + 3> colour_;
  std::array<std::uint8_t, kMaxPoints + 3> code_;
  std::array<std::uint16_t, kMaxPoints + 3> cell_;
  std::array<std::uint32_t, kMaxPoints + 3> ring_;
  std::array<Point, kMaxPoints> head_;
  std::array<Point, kMaxPoints> next_;
  std::array<std::uint16_t, kMaxPoints> stones_; // of a chain, at its name; likewise:
  std::array<std::uint16_t, kMaxPoints> count_;  // of liberties
  std::array<PointSet, kMaxPoints> liberties_;   // left unset where no chain has its name
};

} // namespace go
