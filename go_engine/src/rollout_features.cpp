#include "rollout_features.hpp"

#include <algorithm>
#include <cstdlib>

namespace go {

PatternKey nakade_at(Point move, std::span<const Point> taken, const Geometry& geometry) {
  std::array<Point, kMaxNakade> piece{move};
  std::size_t count = 1;
  for (std::size_t i = 0; i < count; ++i) {
    for (const int offset : geometry.neighbour) {
      const Point q = static_cast<Point>(piece[i] + offset);
      const auto end = piece.begin() + static_cast<std::ptrdiff_t>(count);
      if (std::ranges::find(taken, q) != taken.end() && std::find(piece.begin(), end, q) == end) piece[count++] = q;
    }
  }
  std::array<int, kMaxNakade> shape{};
  for (std::size_t i = 0; i < count; ++i) shape[i] = geometry.move_of[piece[i]];
  return nakade_key({shape.data(), count}, 0, geometry.size);
}

BoardFeatures::BoardFeatures(const Board& board) : board_(board) {
  const Position& position = board.position();
  for (int move = 0; move < board.geometry().moves; ++move) {
    const Point p = board.geometry().point_of[move];
    if (position.colour(p) == board.to_play() && position.chain_id(p) == p && position.chain(p).in_atari()) {
      own_in_atari_.push_back(p);
    }
  }
}

PatternKey BoardFeatures::diamond(Point centre) const {
  const Position& position = board_.position();
  const auto& around = PatternGeometry::of(board_.size()).around[centre];
  PatternKey key = 0;
  for (int i = 0; i < kDiamondPoints; ++i) {
    const Point q = around[static_cast<std::size_t>(i)];
    const Colour colour = q == kNoPoint ? kWall : position.colour(q);
    const bool stone = colour == kBlack || colour == kWhite;
    const int liberties = stone ? position.liberties(q, kLibertyClasses, nullptr) : 0;
    key |= PatternKey{point_code(colour, liberties)} << (kCodeBits * i);
  }
  return relative(key, board_.to_play());
}

bool BoardFeatures::saves_atari(Point move) const {
  if (own_in_atari_.empty()) return false;
  Position after = board_.position();
  after.play(move, board_.to_play());
  return std::ranges::any_of(own_in_atari_, [&](Point stone) { return after.liberties(stone, 2, nullptr) >= 2; });
}

bool BoardFeatures::self_atari(Point move) const {
  if (board_.position().neighbours(move, kEmpty) >= 2) return false;
  Position after = board_.position();
  after.play(move, board_.to_play());
  return after.liberties(move, 2, nullptr) == 1;
}

void BoardFeatures::collect_nakade(Point move, std::vector<FeatureKey>& out) const {
  const auto taken = board_.last_taken();
  if (std::ranges::find(taken, move) == taken.end()) return;
  out.push_back({Feature::kNakade, nakade_at(move, taken, board_.geometry())});
}

void BoardFeatures::collect_distance(Point move, int previous, PatternKey offset, std::vector<FeatureKey>& out) const {
  const Geometry& g = board_.geometry();
  if (previous < 0 || previous == board_.pass_move()) return;
  const int here = g.move_of[move];
  const int distance = std::abs(here / g.size - previous / g.size) + std::abs(here % g.size - previous % g.size);
  out.push_back({Feature::kDistance, offset + static_cast<PatternKey>(std::min(distance, kDistances - 1))});
}

void BoardFeatures::collect(Point move, bool tree, std::vector<FeatureKey>& out) const {
  const PatternKey here = diamond(move);
  out.push_back({Feature::kPattern, canonical(here & kRingMask)});
  if (saves_atari(move)) out.push_back({Feature::kSaveAtari, 0});
  collect_nakade(move, out);
  const int last = board_.last_move();
  if (last >= 0 && last != board_.pass_move()) {
    const Point centre = board_.geometry().point_of[last];
    const auto& around = PatternGeometry::of(board_.size()).around[centre];
    const auto found = std::ranges::find(around, move);
    if (found != around.end()) {
      const int index = static_cast<int>(found - around.begin());
      if (index < kRingPoints) out.push_back({Feature::kNeighbour, static_cast<PatternKey>(index)});
      out.push_back({Feature::kResponsePattern, response_key(diamond(centre), index)});
    }
  }
  if (!tree) return;
  if (self_atari(move)) out.push_back({Feature::kSelfAtari, 0});
  collect_distance(move, board_.last_move(), 0, out);
  collect_distance(move, board_.move_before_last(), kDistances, out);
  out.push_back({Feature::kDiamond, canonical(here)});
}

} // namespace go
