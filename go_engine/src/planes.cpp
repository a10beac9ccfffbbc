#include "planes.hpp"

#include <algorithm>
#include <bitset>
#include <cstring>

#include "ladder.hpp"
#include "symmetry.hpp"

namespace go {

using PointSet = std::bitset<kMaxPoints>;

// Exact liberties of every chain, found once for the whole position.
class ChainTable {
public:
  struct Entry {
    Point name;
    std::uint16_t liberties;
    PointSet set;
  };

  explicit ChainTable(const Position& position) : position_(position) {
    const Geometry& g = position.geometry();
    for (int move = 0; move < g.moves; ++move) {
      const Point p = g.point_of[move];
      if (position.colour(p) != kEmpty && position.chain_id(p) == p) add(p);
    }
  }
  const Entry* begin() const { return entries_.data(); }
  const Entry* end() const { return entries_.data() + count_; }
  const Entry& at(Point stone) const { return entries_[index_[position_.chain_id(stone)]]; }

private:
  void add(Point name) {
    Entry& entry = entries_[count_];
    index_[name] = static_cast<std::uint16_t>(count_++);
    entry.name = name;
    entry.set.reset();
    Point s = name;
    do {
      if (position_.neighbours(s, kEmpty) > 0) {
        for (int offset : position_.geometry().neighbour) {
          const Point q = static_cast<Point>(s + offset);
          if (position_.colour(q) == kEmpty) entry.set[q] = true;
        }
      }
      s = position_.next_stone(s);
    } while (s != name);
    entry.liberties = static_cast<std::uint16_t>(entry.set.count());
  }

  const Position& position_;
  int count_ = 0;
  std::array<Entry, kMaxMoves> entries_;
  std::array<std::uint16_t, kMaxPoints> index_;
};

namespace {

// What a move at an empty point would do, were it played.
struct MoveEffect {
  int captured = 0;  // enemy stones taken
  int stones = 1;    // of the own chain after it
  int liberties = 0; // of the own chain after it; 0 means suicide
};

// The distinct chains of one colour next to a point.
struct ChainsBeside {
  ChainsBeside(const Position& position, const ChainTable& chains, Point p, Colour c) {
    if (position.neighbours(p, c) == 0) return;
    for (int offset : position.geometry().neighbour) {
      const Point q = static_cast<Point>(p + offset);
      if (position.colour(q) != c) continue;
      const ChainTable::Entry* chain = &chains.at(q);
      bool seen = false;
      for (int i = 0; i < count; ++i) seen |= list[i] == chain;
      if (!seen) list[count++] = chain;
    }
  }
  bool contains(Point name) const {
    for (int i = 0; i < count; ++i) {
      if (list[i]->name == name) return true;
    }
    return false;
  }
  int count = 0;
  std::array<const ChainTable::Entry*, 4> list;
};

// The stones of a chain about to be taken that will be liberties of the chain that p joins.
void add_taken(const Position& position, Point taken, Point p, Colour c, const ChainsBeside& own, PointSet& liberties) {
  Point s = taken;
  do {
    for (int offset : position.geometry().neighbour) {
      const Point q = static_cast<Point>(s + offset);
      if (q == p || (position.colour(q) == c && own.contains(position.chain_id(q)))) liberties[s] = true;
    }
    s = position.next_stone(s);
  } while (s != taken);
}

MoveEffect effect_of(const Position& position, const ChainTable& chains, Point p, Colour c) {
  MoveEffect effect;
  const ChainsBeside own(position, chains, p, c);
  const ChainsBeside enemy(position, chains, p, opponent(c));
  PointSet liberties;
  for (int i = 0; i < enemy.count; ++i) {
    if (enemy.list[i]->liberties != 1) continue;
    effect.captured += position.chain(enemy.list[i]->name).stones;
    add_taken(position, enemy.list[i]->name, p, c, own, liberties);
  }
  if (own.count == 0 && effect.captured == 0) {
    effect.liberties = position.neighbours(p, kEmpty);
    return effect;
  }
  for (int i = 0; i < own.count; ++i) {
    effect.stones += position.chain(own.list[i]->name).stones;
    liberties |= own.list[i]->set;
  }
  for (int offset : position.geometry().neighbour) {
    const Point q = static_cast<Point>(p + offset);
    if (position.colour(q) == kEmpty) liberties[q] = true;
  }
  liberties[p] = false;
  effect.liberties = static_cast<int>(liberties.count());
  return effect;
}

} // namespace

Features::Features(const Board& board) : size_(board.size()), black_(board.to_play() == kBlack) {
  const Position& position = board.position();
  const Geometry& g = board.geometry();
  const Colour player = board.to_play();
  const ChainTable chains(position);
  for (int move = 0; move < g.moves; ++move) {
    const Point p = g.point_of[move];
    if (position.colour(p) != kEmpty) {
      add(position.colour(p) == player ? kOwnStones : kEnemyStones, move);
      add_value(kTurnsSince, board.turns_since(p), move);
      add_value(kLiberties, chains.at(p).liberties, move);
      continue;
    }
    add(kEmptyPoints, move);
    const MoveEffect effect = effect_of(position, chains, p, player);
    const bool ko = p == position.ko() && player == position.ko_colour();
    if (effect.liberties == 0 || ko || board.repeats(p, player)) continue;
    add_value(kCaptureSize, effect.captured, move);
    if (effect.liberties == 1) add_value(kSelfAtariSize, effect.stones, move);
    add_value(kLibertiesAfter, effect.liberties, move);
    if (!position.eye(p, player)) add(kSensible, move);
  }
  add_ladders(board, chains);
}

void Features::add_ladders(const Board& board, const ChainTable& chains) {
  const Position& position = board.position();
  const Colour player = board.to_play();
  LadderReader reader(position);
  PointSet capture;
  PointSet escape;
  for (const ChainTable::Entry& chain : chains) {
    const bool own = position.colour(chain.name) == player;
    if (own && chain.liberties == 1) {
      Point moves[kMaxMoves];
      const int count = reader.rescues(chain.name, moves);
      for (int i = 0; i < count; ++i) {
        const Point m = moves[i];
        if (!escape[m] && board.legal_point(m, player) && reader.escapes(m, chain.name)) escape[m] = true;
      }
    } else if (!own && chain.liberties == 2) {
      Point moves[2];
      position.liberties(chain.name, 2, moves);
      for (const Point m : moves) {
        if (!capture[m] && board.legal_point(m, player) && reader.captures(m, chain.name)) capture[m] = true;
      }
    }
  }
  const Geometry& g = board.geometry();
  for (int move = 0; move < g.moves; ++move) {
    if (capture[g.point_of[move]]) add(kLadderCapture, move);
    if (escape[g.point_of[move]]) add(kLadderEscape, move);
  }
}

template <typename T> void Features::write(bool player_colour, int symmetry, T* out, T one) const {
  const int area = size_ * size_;
  const MoveMap& map = symmetry_map(size_, symmetry);
  std::fill_n(out, plane_count(player_colour) * area, T{});
  std::fill_n(out + kOnes * area, area, one);
  if (player_colour && black_) std::fill_n(out + kPlayerBlack * area, area, one);
  for (int i = 0; i < count_; ++i) out[ones_[i].plane * area + map[ones_[i].move]] = one;
}

template void Features::write(bool, int, std::uint8_t*, std::uint8_t) const;
template void Features::write(bool, int, std::uint16_t*, std::uint16_t) const;
template void Features::write(bool, int, float*, float) const;

void Features::write_packed(bool player_colour, int symmetry, std::uint8_t* out) const {
  const int area = size_ * size_;
  const MoveMap& map = symmetry_map(size_, symmetry);
  std::memset(out, 0, packed_bytes(size_, player_colour));
  const auto set = [out](int cell) { out[cell >> 3] = static_cast<std::uint8_t>(out[cell >> 3] | 0x80 >> (cell & 7)); };
  for (int move = 0; move < area; ++move) set(kOnes * area + move);
  for (int move = 0; player_colour && black_ && move < area; ++move) set(kPlayerBlack * area + move);
  for (int i = 0; i < count_; ++i) set(ones_[i].plane * area + map[ones_[i].move]);
}

void write_planes(const Board& board, bool player_colour, std::uint8_t* out) {
  Features(board).write(player_colour, 0, out);
}

} // namespace go
