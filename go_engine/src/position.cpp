#include "position.hpp"

#include <bitset>
#include <utility>

namespace go {

void Position::clear(int size) {
  geometry_ = &Geometry::of(size);
  hash_ = 0;
  ko_ = kNoPoint;
  ko_colour_ = kEmpty;
  empty_count_ = 0;
  colour_.fill(kWall);
  around_.fill(0);
  head_.fill(kNoPoint);
  next_.fill(kNoPoint);
  chain_.fill(Chain{});
  empty_.fill(kNoPoint);
  empty_index_.fill(0);
  for (int move = 0; move < geometry_->moves; ++move) {
    const Point p = geometry_->point_of[move];
    colour_[p] = kEmpty;
    empty_[empty_count_] = p;
    empty_index_[p] = empty_count_++;
  }
  for (int move = 0; move < geometry_->moves; ++move) {
    const Point p = geometry_->point_of[move];
    for (int offset : geometry_->neighbour) {
      const bool wall = colour_[p + offset] == kWall;
      around_[p] += wall ? (1 << kShift[kBlack]) + (1 << kShift[kWhite]) : 1 << kShift[kEmpty];
    }
  }
}

// Puts one stone down: the point is no longer empty, its neighbours lose a liberty, own chains beside it are joined.
void Position::place(Point p, Colour c) {
  const int last = --empty_count_;
  const std::uint16_t index = empty_index_[p];
  const Point moved = empty_[last];
  empty_[index] = moved;
  empty_index_[moved] = index;

  colour_[p] = c;
  hash_ ^= Zobrist::keys().stone[c][p];
  head_[p] = p;
  next_[p] = p;
  Chain& own = chain_[p];
  own = Chain{0, 1, 0, 0};
  const int change = (1 << kShift[c]) - (1 << kShift[kEmpty]);
  for (int offset : geometry_->neighbour) {
    const Point q = static_cast<Point>(p + offset);
    around_[q] = static_cast<std::uint16_t>(around_[q] + change);
    if (colour_[q] == kEmpty) {
      own.add_liberty(q);
    } else if (colour_[q] != kWall) {
      chain_[head_[q]].remove_liberty(p);
    }
  }
  if (neighbours(p, c) > 0) {
    for (int offset : geometry_->neighbour) {
      const Point q = static_cast<Point>(p + offset);
      if (colour_[q] == c && head_[q] != head_[p]) join(head_[p], head_[q]);
    }
  }
}

// Joins two chains of one colour: the smaller takes the name of the larger and the two rings become one.
void Position::join(Point a, Point b) {
  if (chain_[a].stones < chain_[b].stones) std::swap(a, b);
  Chain& large = chain_[a];
  const Chain& small = chain_[b];
  large.pseudo_liberties = static_cast<std::uint16_t>(large.pseudo_liberties + small.pseudo_liberties);
  large.stones = static_cast<std::uint16_t>(large.stones + small.stones);
  large.liberty_sum += small.liberty_sum;
  large.liberty_squares += small.liberty_squares;
  Point stone = b;
  do {
    head_[stone] = a;
    stone = next_[stone];
  } while (stone != b);
  std::swap(next_[a], next_[b]);
}

// Takes a chain off the board; every point it leaves is a liberty again for the chains beside it.
int Position::capture(Point stone) {
  const Colour c = colour(stone);
  const auto& keys = Zobrist::keys().stone[c];
  const int change = (1 << kShift[kEmpty]) - (1 << kShift[c]);
  int stones = 0;
  Point s = stone;
  do {
    colour_[s] = kEmpty;
    hash_ ^= keys[s];
    empty_[empty_count_] = s;
    empty_index_[s] = empty_count_++;
    for (int offset : geometry_->neighbour) {
      const Point q = static_cast<Point>(s + offset);
      around_[q] = static_cast<std::uint16_t>(around_[q] + change);
      if (colour_[q] == opponent(c)) chain_[head_[q]].add_liberty(s);
    }
    ++stones;
    s = next_[s];
  } while (s != stone);
  return stones;
}

int Position::play(Point p, Colour c) {
  place(p, c);
  ko_ = kNoPoint;
  const Colour enemy = opponent(c);
  int taken = 0;
  Point last = kNoPoint;
  if (neighbours(p, enemy) > 0) {
    for (int offset : geometry_->neighbour) {
      const Point q = static_cast<Point>(p + offset);
      if (colour_[q] == enemy && chain_[head_[q]].captured()) {
        taken += capture(q);
        last = q;
      }
    }
  }
  if (taken == 1 && chain(p).stones == 1 &&
      chain(p).in_atari()) { // one stone took one stone: it may not be retaken at once
    ko_ = last;
    ko_colour_ = enemy;
  }
  return taken;
}

int Position::play(Point p, Colour c, Undo& undo) {
  undo.point = p;
  undo.colour = c;
  undo.ko = ko_;
  undo.ko_colour = ko_colour_;
  undo.hash = hash_;
  undo.empty_index = empty_index_[p];
  undo.self = {head_[p], next_[p], chain_[p]};
  undo.count = 0;
  for (int offset : geometry_->neighbour) {
    const Point q = static_cast<Point>(p + offset);
    if (colour_[q] == kEmpty || colour_[q] == kWall) continue;
    const Point name = head_[q];
    bool seen = false;
    for (int i = 0; i < undo.count; ++i) seen |= undo.neighbours[i].name == name;
    if (!seen) undo.neighbours[undo.count++] = {name, next_[name], chain_[name]};
  }
  return play(p, c);
}

void Position::undo(const Undo& undo) {
  const Point p = undo.point;
  // Stones taken come back first: the chains that gained liberties by that are still as they were left.
  for (int i = 0; i < undo.count; ++i) {
    const Point name = undo.neighbours[i].name;
    if (colour_[name] == kEmpty) restore(name, opponent(undo.colour));
  }
  // The chains next to the move: joining has changed `next_` at their names only, and the heads of their stones.
  for (int i = 0; i < undo.count; ++i) {
    const auto& [name, next, chain] = undo.neighbours[i];
    chain_[name] = chain;
    next_[name] = next;
  }
  for (int i = 0; i < undo.count; ++i) {
    const Point name = undo.neighbours[i].name;
    if (head_[name] == name) continue;
    Point s = name;
    do {
      head_[s] = name;
      s = next_[s];
    } while (s != name);
  }
  const int change = (1 << kShift[kEmpty]) - (1 << kShift[undo.colour]);
  for (int offset : geometry_->neighbour)
    around_[p + offset] = static_cast<std::uint16_t>(around_[p + offset] + change);
  colour_[p] = kEmpty;
  head_[p] = undo.self.name;
  next_[p] = undo.self.next;
  chain_[p] = undo.self.chain;
  if (undo.empty_index != empty_count_) {
    const Point moved = empty_[undo.empty_index];
    empty_[empty_count_] = moved;
    empty_index_[moved] = empty_count_;
  }
  empty_[undo.empty_index] = p;
  empty_index_[p] = undo.empty_index;
  ++empty_count_;
  ko_ = undo.ko;
  ko_colour_ = undo.ko_colour;
  hash_ = undo.hash;
}

// Puts a taken chain back, the reverse of `capture`: its stones are still tied in their ring.
void Position::restore(Point stone, Colour c) {
  const int change = (1 << kShift[c]) - (1 << kShift[kEmpty]);
  Point s = stone;
  do {
    colour_[s] = c;
    --empty_count_;
    for (int offset : geometry_->neighbour) {
      const Point q = static_cast<Point>(s + offset);
      around_[q] = static_cast<std::uint16_t>(around_[q] + change);
      if (colour_[q] == opponent(c)) chain_[head_[q]].remove_liberty(s);
    }
    s = next_[s];
  } while (s != stone);
}

std::uint64_t Position::hash_after(Point p, Colour c) const {
  const auto& keys = Zobrist::keys().stone;
  const Colour enemy = opponent(c);
  std::uint64_t hash = hash_ ^ keys[c][p];
  std::array<Point, 4> taken{};
  int count = 0;
  for (int offset : geometry_->neighbour) {
    const Point q = static_cast<Point>(p + offset);
    if (colour_[q] != enemy || !chain_[head_[q]].in_atari()) continue;
    const Point name = head_[q];
    bool seen = false;
    for (int i = 0; i < count; ++i) seen |= taken[i] == name;
    if (seen) continue;
    taken[count++] = name;
    Point s = name;
    do {
      hash ^= keys[enemy][s];
      s = next_[s];
    } while (s != name);
  }
  return hash;
}

int Position::liberties(Point stone, int limit, Point* out) const {
  std::bitset<kMaxPoints> seen;
  int count = 0;
  Point s = stone;
  do {
    for (int offset : geometry_->neighbour) {
      const Point q = static_cast<Point>(s + offset);
      if (colour_[q] != kEmpty || seen[q]) continue;
      seen[q] = true;
      if (out != nullptr) out[count] = q;
      if (++count >= limit) return count;
    }
    s = next_[s];
  } while (s != stone);
  return count;
}

int Position::area() const {
  std::array<int, 4> points{}; // by Colour; an empty region that touches both colours or none counts for nobody
  std::bitset<kMaxPoints> seen;
  std::array<Point, kMaxMoves> stack;
  for (int move = 0; move < geometry_->moves; ++move) {
    const Point start = geometry_->point_of[move];
    if (colour_[start] != kEmpty) {
      ++points[colour_[start]];
      continue;
    }
    if (seen[start]) continue;
    int region = 0;
    int borders = 0; // bit 1: touches Black, bit 2: touches White
    int depth = 0;
    stack[depth++] = start;
    seen[start] = true;
    while (depth > 0) {
      const Point p = stack[--depth];
      ++region;
      for (int offset : geometry_->neighbour) {
        const Point q = static_cast<Point>(p + offset);
        if (colour_[q] == kEmpty) {
          if (!seen[q]) {
            seen[q] = true;
            stack[depth++] = q;
          }
        } else if (colour_[q] != kWall) {
          borders |= colour_[q];
        }
      }
    }
    if (borders == kBlack || borders == kWhite) points[borders] += region;
  }
  return points[kBlack] - points[kWhite];
}

} // namespace go
