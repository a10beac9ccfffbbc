#include "pattern_board.hpp"

#include <algorithm>
#include <utility>

namespace go {
namespace {

// A point lies in the ring of the neighbour in direction i at the opposite place.
constexpr std::array<int, kRingPoints> kOppositeShift = {6, 9, 0, 3, 18, 21, 12, 15};

std::array<int, kRingPoints> ring_offsets(int stride) {
  return {-stride, 1, stride, -1, -stride + 1, stride + 1, stride - 1, -stride - 1};
}

} // namespace

PatternBoard::PatternBoard(const Board& board)
    : geometry_(&board.geometry()), pattern_geometry_(&PatternGeometry::of(board.size())) {
  const Position& position = board.position();
  const Geometry& g = *geometry_;
  colour_.fill(kWall);
  code_.fill(kWallCode);
  cell_.fill(0);
  ring_.fill(0);
  if (position.ko_colour() == board.to_play()) ko_ = position.ko();
  for (const Point p : board.last_taken()) taken_[taken_count_++] = p;
  for (int move = 0; move < g.moves; ++move) {
    const Point p = g.point_of[move];
    const int row = move / g.size + 1;
    cell_[p] = static_cast<std::uint16_t>(row * kRowLength + p - row * g.stride);
    colour_[p] = position.colour(p);
    if (colour_[p] == kEmpty) empty_[row] |= 1U << (p - row * g.stride);
  }
  index_chains(position);
  const auto offsets = ring_offsets(g.stride);
  for (int move = 0; move < g.moves; ++move) {
    const Point p = g.point_of[move];
    std::uint32_t key = 0;
    for (int i = 0; i < kRingPoints; ++i) key |= std::uint32_t{code_[p + offsets[i]]} << (kCodeBits * i);
    ring_[p] = key;
  }
}

void PatternBoard::index_chains(const Position& position) {
  const Geometry& g = *geometry_;
  for (int move = 0; move < g.moves; ++move) {
    const Point name = g.point_of[move];
    if (colour_[name] == kEmpty) {
      code_[name] = 0;
      continue;
    }
    if (position.chain_id(name) != name) continue;
    PointSet& liberties = liberties_[name];
    liberties.clear();
    stones_[name] = 0;
    Point stone = name;
    do {
      head_[stone] = name;
      next_[stone] = position.next_stone(stone);
      ++stones_[name];
      for (const int offset : g.neighbour) {
        if (colour_[stone + offset] == kEmpty) liberties.set(static_cast<Point>(stone + offset));
      }
      stone = next_[stone];
    } while (stone != name);
    count_[name] = static_cast<std::uint16_t>(liberties.count());
    const auto code = static_cast<std::uint8_t>(point_code(colour(name), count_[name]));
    do {
      code_[stone] = code;
      stone = next_[stone];
    } while (stone != name);
    if (count_[name] == 1) atari_[colour_[name] - 1].set(name);
  }
}

PatternKey PatternBoard::diamond(Point p) const {
  const auto& around = pattern_geometry_->around[p];
  PatternKey key = ring_[p];
  for (int i = kRingPoints; i < kDiamondPoints; ++i) key |= PatternKey{code_[around[i]]} << (kCodeBits * i);
  return key; // kNoPoint is a guard, hence coded as the wall
}

inline void PatternBoard::set_code(Point p, unsigned code) {
  const std::uint32_t change = code_[p] ^ code;
  code_[p] = static_cast<std::uint8_t>(code);
  const int stride = geometry_->stride;
  std::uint32_t* ring = ring_.data() + p;
  ring[-stride] ^= change << kOppositeShift[0];
  ring[1] ^= change << kOppositeShift[1];
  ring[stride] ^= change << kOppositeShift[2];
  ring[-1] ^= change << kOppositeShift[3];
  ring[-stride + 1] ^= change << kOppositeShift[4];
  ring[stride + 1] ^= change << kOppositeShift[5];
  ring[stride - 1] ^= change << kOppositeShift[6];
  ring[-stride - 1] ^= change << kOppositeShift[7];
  changed_.add_block(row(p), col(p));
}

// The chain has reached another class of liberties (1, 2, >= 3).
void PatternBoard::recode(Point chain, int liberties) {
  const unsigned code = point_code(colour(chain), liberties);
  PointSet& atari = atari_[colour_[chain] - 1];
  if (liberties == 1) {
    atari.set(chain);
  } else {
    atari.reset(chain);
  }
  Point stone = chain;
  do {
    set_code(stone, code);
    stone = next_[stone];
  } while (stone != chain);
}

inline void PatternBoard::lose_liberty(Point chain, Point p) {
  if (!liberties_[chain].test(p)) return;
  liberties_[chain].reset(p);
  if (--count_[chain] < kLibertyClasses && count_[chain] > 0) recode(chain, count_[chain]);
}

inline void PatternBoard::gain_liberty(Point chain, Point p) {
  if (liberties_[chain].test(p)) return;
  liberties_[chain].set(p);
  // The stone just played has no code yet; it gets one when its chain is known.
  if (++count_[chain] <= kLibertyClasses && count_[chain] > 1 && code_[chain] != 0) recode(chain, count_[chain]);
}

void PatternBoard::capture(Point chain) {
  const Colour other = opponent(colour(chain));
  atari_[colour_[chain] - 1].reset(chain);
  Point stone = chain;
  do {
    colour_[stone] = kEmpty;
    empty_[row(stone)] |= 1U << col(stone);
    set_code(stone, 0);
    for (const int offset : geometry_->neighbour) {
      const Point q = static_cast<Point>(stone + offset);
      if (colour_[q] == other) gain_liberty(head_[q], stone);
    }
    if (taken_count_ < kTakenRemembered) taken_[taken_count_] = stone;
    ++taken_count_;
    stone = next_[stone];
  } while (stone != chain);
}

void PatternBoard::play(Point p, Colour c) {
  ko_ = kNoPoint;
  taken_count_ = 0;
  if (p == kNoPoint) return;
  const Colour enemy = opponent(c);
  colour_[p] = c;
  empty_[row(p)] &= ~(1U << col(p));
  head_[p] = p;
  next_[p] = p;
  stones_[p] = 1;
  liberties_[p].clear();
  count_[p] = 0;
  std::array<Point, 4> own;
  std::size_t own_count = 0;
  for (const int offset : geometry_->neighbour) {
    const Point q = static_cast<Point>(p + offset);
    if (colour_[q] == kEmpty) {
      liberties_[p].set(q);
      ++count_[p];
    } else if (colour_[q] == enemy) {
      lose_liberty(head_[q], p);
    } else if (colour_[q] == c) {
      const Point name = head_[q];
      bool seen = false;
      for (std::size_t i = 0; i < own_count; ++i) seen |= own[i] == name;
      if (!seen) own[own_count++] = name;
    }
  }
  for (const int offset : geometry_->neighbour) {
    const Point q = static_cast<Point>(p + offset);
    if (colour_[q] == enemy && count_[head_[q]] == 0) capture(head_[q]);
  }
  connect(p, {own.data(), own_count});
  // One stone took one stone and can itself be taken: not at once.
  if (taken_count_ == 1 && own_count == 0 && count_[p] == 1) ko_ = taken_[0];
  if (taken_count_ > kTakenRemembered) taken_count_ = 0;
}

// Makes one chain of the new stone and the own chains next to it, under the name of the largest.
void PatternBoard::connect(Point p, std::span<const Point> chains) {
  PointSet all = liberties_[p];
  Point name = p;
  for (const Point chain : chains) {
    all |= liberties_[chain];
    if (stones_[chain] > stones_[name]) name = chain;
  }
  PointSet& atari = atari_[colour_[p] - 1];
  int count = count_[p];
  if (!chains.empty()) {
    all.reset(p);
    count = all.count();
    const unsigned code = point_code(colour(p), count);
    for (const Point chain : chains) {
      if (code_[chain] != code) recode(chain, count);
      atari.reset(chain);
    }
    for (std::size_t i = 0; i <= chains.size(); ++i) {
      const Point chain = i < chains.size() ? chains[i] : p;
      if (chain == name) continue;
      Point stone = chain;
      do {
        head_[stone] = name;
        stone = next_[stone];
      } while (stone != chain);
      std::swap(next_[name], next_[chain]);
      stones_[name] = static_cast<std::uint16_t>(stones_[name] + stones_[chain]);
    }
  }
  liberties_[name] = all;
  count_[name] = static_cast<std::uint16_t>(count);
  if (count == 1) atari.set(name);
  set_code(p, point_code(colour(p), count));
}

bool PatternBoard::two_liberties_after(Point p, Colour c) const {
  PointSet after;
  int empty = 0;
  std::array<Point, 4> own;
  std::size_t own_count = 0;
  std::array<Point, 4> taken;
  std::size_t taken_count = 0;
  for (const int offset : geometry_->neighbour) {
    const Point q = static_cast<Point>(p + offset);
    if (colour_[q] == kEmpty) {
      after.set(q);
      if (++empty == 2) return true;
    } else if (colour_[q] == c) {
      after |= liberties_[head_[q]];
      own[own_count++] = head_[q];
    } else if (colour_[q] != kWall && count_[head_[q]] == 1) {
      taken[taken_count++] = head_[q];
      after.set(q);
    }
  }
  after.reset(p);
  if (after.count() >= 2) return true;
  // Stones taken elsewhere along the chain leave liberties too.
  for (std::size_t i = 0; i < taken_count; ++i) {
    Point stone = taken[i];
    do {
      for (const int offset : geometry_->neighbour) {
        const Point q = static_cast<Point>(stone + offset);
        if (colour_[q] != c) continue;
        for (std::size_t k = 0; k < own_count; ++k) {
          if (own[k] == head_[q]) after.set(stone);
        }
      }
      stone = next_[stone];
    } while (stone != taken[i]);
  }
  return after.count() >= 2;
}

std::size_t PatternBoard::saving_moves(Colour c, std::span<Point> out) const {
  std::size_t count = 0;
  auto add = [&](Point p) {
    const auto end = out.begin() + static_cast<std::ptrdiff_t>(count);
    if (count < out.size() && std::find(out.begin(), end, p) == end) out[count++] = p;
  };
  in_atari(c).for_each([&](Point chain) {
    const Point liberty = liberties_[chain].first();
    const auto ring = static_cast<std::uint32_t>(relative(ring_[liberty], c));
    if (ring_forbids(ring)) return;
    if (!ring_may_be_self_atari(ring) || two_liberties_after(liberty, c)) add(liberty);
  });
  in_atari(opponent(c)).for_each([&](Point enemy) {
    const Point taking = liberties_[enemy].first();
    Point stone = enemy;
    do {
      for (const int offset : geometry_->neighbour) {
        const Point q = static_cast<Point>(stone + offset);
        if (colour_[q] != c || count_[head_[q]] != 1 || liberties_[head_[q]].test(taking)) continue;
        add(taking);
        return;
      }
      stone = next_[stone];
    } while (stone != enemy);
  });
  return count;
}

int PatternBoard::area() const {
  int score = 0;
  PointSet seen;
  std::array<Point, kMaxMoves> stack;
  for (int move = 0; move < geometry_->moves; ++move) {
    const Point start = geometry_->point_of[move];
    if (colour_[start] != kEmpty) {
      score += to_sign(colour(start));
      continue;
    }
    if (seen.test(start)) continue;
    int region = 0;
    int borders = 0;
    std::size_t depth = 0;
    stack[depth++] = start;
    seen.set(start);
    while (depth > 0) {
      const Point p = stack[--depth];
      ++region;
      for (const int offset : geometry_->neighbour) {
        const Point q = static_cast<Point>(p + offset);
        if (colour_[q] != kEmpty) {
          if (colour_[q] != kWall) borders |= colour_[q];
        } else if (!seen.test(q)) {
          seen.set(q);
          stack[depth++] = q;
        }
      }
    }
    if (borders == kBlack) score += region;
    if (borders == kWhite) score -= region;
  }
  return score;
}

} // namespace go
