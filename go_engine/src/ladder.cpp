#include "ladder.hpp"

#include <bitset>

namespace go {

bool LadderReader::captures(Point move, Point target) {
  nodes_ = 0;
  return catches(move, target);
}

bool LadderReader::escapes(Point move, Point target) {
  nodes_ = 0;
  return saves(move, target);
}

// The hunter gives atari at `move`: is the target lost then?
bool LadderReader::catches(Point move, Point target) {
  const Colour hunter = opponent(position_.colour(target));
  if (!position_.legal(move, hunter) || ++nodes_ > max_nodes_) return false;
  Position::Undo undo;
  position_.play(move, hunter, undo);
  const bool result = caught(target);
  position_.undo(undo);
  return result;
}

// The hunted plays `move`: is the target safe then?
bool LadderReader::saves(Point move, Point target) {
  const Colour hunted = position_.colour(target);
  if (!position_.legal(move, hunted)) return false;
  if (++nodes_ > max_nodes_) return true;
  Position::Undo undo;
  position_.play(move, hunted, undo);
  const bool result = got_away(target);
  position_.undo(undo);
  return result;
}

// Hunter to move.
bool LadderReader::got_away(Point target) {
  Point liberty[3];
  const int liberties = position_.liberties(target, 3, liberty);
  if (liberties != 2) return liberties > 2;
  return !catches(liberty[0], target) && !catches(liberty[1], target);
}

// Hunted to move, the target in atari.
bool LadderReader::caught(Point target) {
  if (saves(position_.chain(target).atari_liberty(), target)) return false; // mostly so: no need to look for chasers
  Point moves[kMaxMoves];
  const int count = rescues(target, moves);
  for (int i = 1; i < count; ++i) {
    if (saves(moves[i], target)) return false;
  }
  return true;
}

int LadderReader::rescues(Point target, Point* moves) const {
  const Colour hunter = opponent(position_.colour(target));
  int count = 0;
  moves[count++] = position_.chain(target).atari_liberty();
  std::bitset<kMaxPoints> seen;
  seen[moves[0]] = true;
  Point s = target;
  do {
    if (position_.neighbours(s, hunter) > 0) {
      for (int offset : position_.geometry().neighbour) {
        const Point q = static_cast<Point>(s + offset);
        if (position_.colour(q) != hunter || !position_.chain(q).in_atari()) continue;
        const Point take = position_.chain(q).atari_liberty();
        if (!seen[take]) moves[count++] = take;
        seen[take] = true;
      }
    }
    s = position_.next_stone(s);
  } while (s != target);
  return count;
}

} // namespace go
