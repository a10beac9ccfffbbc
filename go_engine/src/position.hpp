// The stones on the board and what follows from them: chains, liberties, captures, simple ko, eyes, area.
//
// This is the part that playouts and ladders use: no history, no komi, trivially copyable, no allocation.
// Liberties are counted as *pseudo-liberties*: an empty point counts once for every stone of the chain that touches it.
// Beside the count a chain keeps the sum and the sum of squares of those points; all of them are one and the same point
// exactly when count * squares == sum * sum (Cauchy-Schwarz), which tells atari without visiting the chain.
#pragma once

#include <array>
#include <cstdint>

#include "geometry.hpp"

namespace go {

struct Chain {
  std::uint16_t pseudo_liberties = 0;
  std::uint16_t stones = 0;
  std::uint32_t liberty_sum = 0;
  std::uint32_t liberty_squares = 0;

  bool captured() const { return pseudo_liberties == 0; }
  bool in_atari() const { // exactly one liberty
    return static_cast<std::uint64_t>(pseudo_liberties) * liberty_squares ==
               static_cast<std::uint64_t>(liberty_sum) * liberty_sum &&
           pseudo_liberties != 0;
  }
  Point atari_liberty() const { return static_cast<Point>(liberty_sum / pseudo_liberties); } // requires in_atari
  void add_liberty(Point p) {
    ++pseudo_liberties;
    liberty_sum += p;
    liberty_squares += static_cast<std::uint32_t>(p) * p;
  }
  void remove_liberty(Point p) {
    --pseudo_liberties;
    liberty_sum -= p;
    liberty_squares -= static_cast<std::uint32_t>(p) * p;
  }
};

class Position {
public:
  explicit Position(int size) { clear(size); }
  void clear(int size);

  const Geometry& geometry() const { return *geometry_; }
  int size() const { return geometry_->size; }
  Colour colour(Point p) const { return static_cast<Colour>(colour_[p]); }
  Point chain_id(Point stone) const { return head_[stone]; }
  const Chain& chain(Point stone) const { return chain_[head_[stone]]; }
  Point next_stone(Point stone) const { return next_[stone]; } // the stones of a chain form a ring
  Point ko() const { return ko_; }                             // point of a simple ko just taken, else kNoPoint
  Colour ko_colour() const { return ko_colour_; }              // who may not play there now
  std::uint64_t hash() const { return hash_; }
  int stones() const { return geometry_->moves - empty_count_; }
  int empty_count() const { return empty_count_; }
  Point empty(int i) const { return empty_[i]; } // the empty points in no particular order
  int neighbours(Point p, Colour c) const {
    return (around_[p] >> kShift[c]) & 0xf;
  } // the edge counts for both colours

  // The rules. `legal` knows suicide and simple ko; superko needs the history that Board keeps.
  bool legal(Point p, Colour c) const;
  bool suicide(Point p, Colour c) const;
  bool captures(Point p, Colour c) const; // would a stone there take something?
  bool eye(Point p, Colour c) const;      // own stones around, at most one enemy diagonal, none at the edge
  int play(Point p, Colour c);            // assumes legal; returns the number of stones taken

  // Play and take back in reverse order, for readers: cheaper than a copy a move.
  struct Undo;
  int play(Point p, Colour c, Undo& undo);
  void undo(const Undo& undo);

  void pass() { ko_ = kNoPoint; }
  std::uint64_t hash_after(Point p, Colour c) const; // of the stones after a legal move, without playing it

  // Exact liberties of a chain, read up to `limit` of them into `out` (which may be null); returns how many were found.
  int liberties(Point stone, int limit, Point* out) const;

  int area() const; // Black's area minus White's, every stone alive as it stands

  // For setup: puts a stone and joins chains; nothing is taken, so a chain may be left without liberties.
  void place(Point p, Colour c);
  // Exchanges two of the empty points, so that a sampler without replacement can put refused ones behind a shrinking
  // end.
  void swap_empty(int i, int j);

private:
  static constexpr std::array<int, 4> kShift = {8, 0, 4, 0};

  void join(Point a, Point b);
  int capture(Point stone);
  void restore(Point stone, Colour c);

  const Geometry* geometry_;
  std::uint64_t hash_;
  Point ko_;
  Colour ko_colour_;
  std::uint16_t empty_count_;
  std::array<std::uint8_t, kMaxPoints + 3> colour_;
  std::array<std::uint16_t, kMaxPoints>
      around_;                         // packed counts of the four neighbours: black, white, empty (4 bits each)
  std::array<Point, kMaxPoints> head_; // chain of a stone, named by one of its stones
  std::array<Point, kMaxPoints> next_;
  std::array<Chain, kMaxPoints> chain_; // valid at chain names
  std::array<Point, kMaxMoves> empty_;
  std::array<std::uint16_t, kMaxPoints> empty_index_;
};

// What a move changes beyond what can be computed back from the board after it.
struct Position::Undo {
  struct Neighbour { // a chain next to the move
    Point name;
    Point next;
    Chain chain;
  };
  Point point;
  Colour colour;
  Point ko;
  Colour ko_colour;
  std::uint64_t hash;
  std::uint16_t empty_index;
  Neighbour self; // what stood in the tables at the point itself
  int count;
  std::array<Neighbour, 4> neighbours;
};

inline bool Position::suicide(Point p, Colour c) const {
  if (neighbours(p, kEmpty) > 0) return false;
  for (int offset : geometry_->neighbour) {
    const Point q = static_cast<Point>(p + offset);
    if (colour_[q] == kWall) continue;
    // An own chain with another liberty lives on; an enemy chain whose last liberty is p is taken.
    if ((colour_[q] == c) != chain_[head_[q]].in_atari()) return false;
  }
  return true;
}

inline bool Position::legal(Point p, Colour c) const {
  if (colour_[p] != kEmpty) return false;
  if (p == ko_ && c == ko_colour_) return false;
  return !suicide(p, c);
}

inline bool Position::captures(Point p, Colour c) const {
  if (neighbours(p, opponent(c)) == 0) return false;
  for (int offset : geometry_->neighbour) {
    const Point q = static_cast<Point>(p + offset);
    if (colour_[q] == opponent(c) && chain_[head_[q]].in_atari()) return true;
  }
  return false;
}

inline bool Position::eye(Point p, Colour c) const {
  if (neighbours(p, c) != 4) return false;
  int enemies = 0;
  int edges = 0;
  for (int offset : geometry_->diagonal) {
    const Point q = static_cast<Point>(p + offset);
    enemies += colour_[q] == opponent(c);
    edges += colour_[q] == kWall;
  }
  return enemies + (edges > 0) < 2;
}

inline void Position::swap_empty(int i, int j) {
  const Point a = empty_[i];
  const Point b = empty_[j];
  empty_[i] = b;
  empty_[j] = a;
  empty_index_[b] = static_cast<std::uint16_t>(i);
  empty_index_[a] = static_cast<std::uint16_t>(j);
}

} // namespace go
