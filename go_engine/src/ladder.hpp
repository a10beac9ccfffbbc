// Ladders, read exactly: a chain is hunted by nothing but ataris.
//
// The hunter may give atari on one of the two liberties of the target, or take it. The hunted may extend at the last
// liberty, or take any chain next to the target that is in atari. The target has got away when it has three
// liberties with the hunter to move, or two of which neither starts a capture. Simple ko and suicide as in the rules.
#pragma once

#include "position.hpp"

namespace go {

inline constexpr int kLadderNodes = 10000; // moves that one question may try; beyond, the target counts as got away

class LadderReader {
public:
  explicit LadderReader(const Position& position, int max_nodes = kLadderNodes)
      : position_(position), max_nodes_(max_nodes) {}

  // Does `move`, one of the two liberties of the chain at `target` and legal for its opponent, catch the chain?
  bool captures(Point move, Point target);
  // Does `move`, legal for the chain at `target` which has one liberty, save it?
  bool escapes(Point move, Point target);
  int nodes() const { return nodes_; } // that the last question took
  // The moves that may save a chain in atari: its last liberty first, then those that take a chain in atari next to it,
  // which need not be legal. `moves` has room for kMaxMoves; returns their number.
  int rescues(Point target, Point* moves) const;

private:
  bool got_away(Point target);
  bool caught(Point target);
  bool saves(Point move, Point target);
  bool catches(Point move, Point target);

  Position position_;
  int max_nodes_;
  int nodes_ = 0;
};

} // namespace go
