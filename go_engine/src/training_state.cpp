#include "training_state.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace go {

TrainingState::TrainingState(const FeatureIndex& features, const GameRecord& game)
    : features_(&features), game_(&game), board_(start_of(game, KoRule::kSimple)) {
  const std::uint32_t all = ((1U << game.size) - 1) << 1;
  for (Side& side : sides_) {
    for (int row = 1; row <= game.size; ++row) side.pending.rows[row] = all;
    side.pending.touched = all;
  }
}

void TrainingState::play(Point p, Colour c) {
  board_.play(p, c);
  previous_ = {board_.geometry().move_of[p], previous_[0]}; // -1 for a pass
  RowSet& changed = board_.changed();
  for (Side& side : sides_) side.pending.add(changed);
  changed.clear();
}

bool TrainingState::sensible(Point p) const {
  if (board_.colour(p) != kEmpty || p == board_.ko()) return false;
  return !ring_forbids(static_cast<std::uint32_t>(relative(board_.ring(p), mover_)));
}

bool TrainingState::next() {
  if (example_) play(point_, mover_);
  example_ = false;
  const Geometry& g = board_.geometry();
  for (; ply_ < game_->moves.size(); ++ply_) {
    mover_ = from_sign(game_->colours[ply_]);
    point_ = g.point_of[static_cast<std::size_t>(game_->moves[ply_])];
    if (point_ != kNoPoint && board_.colour(point_) != kEmpty) return false;
    if (point_ != kNoPoint && sensible(point_)) {
      example_ = true;
      ++ply_;
      return true;
    }
    // A pass, or a move into an own eye: no example, but played all the same; suicide and ko end the game.
    const auto ring = static_cast<std::uint32_t>(relative(board_.ring(point_), mover_));
    if (point_ != kNoPoint && (point_ == board_.ko() || ring_is_suicide(ring))) return false;
    play(point_, mover_);
  }
  return false;
}

void TrainingState::refresh(Side& side) {
  RowSet& pending = side.pending;
  const int size = board_.geometry().size;
  const bool tree = features_->tree();
  // The 12-point pattern reaches one point further than the ring: spread what changed by a point.
  std::array<std::uint32_t, RowSet::kRows + 1> wide{};
  for (int row = 1; tree && row <= size; ++row) {
    const std::uint32_t near = pending.rows[row - 1] | pending.rows[row] | pending.rows[row + 1];
    wide[row] = near | pending.rows[row] << 1 | pending.rows[row] >> 1;
  }
  for (int row = 1; row <= size; ++row) {
    const std::uint32_t empty = board_.empty_row(row);
    for (std::uint32_t points = pending.rows[row] & empty; points != 0; points &= points - 1) {
      const int col = std::countr_zero(points);
      const PatternKey key = relative(board_.ring(board_.point(row, col)), mover_);
      side.ring[row][col] = features_->ring(static_cast<std::uint32_t>(key));
    }
    for (std::uint32_t points = wide[row] & empty; points != 0; points &= points - 1) {
      const int col = std::countr_zero(points);
      side.diamond[row][col] = features_->diamond(relative(board_.diamond(board_.point(row, col)), mover_));
    }
  }
  pending.clear();
}

void TrainingState::candidates(Candidates& out) {
  Side& side = sides_[mover_ - 1];
  refresh(side);
  out.count = 0;
  out.extra_count = 0;
  out.index.fill(-1);
  for (int row = 1; row <= board_.geometry().size; ++row) {
    for (std::uint32_t points = board_.empty_row(row); points != 0; points &= points - 1) {
      const int col = std::countr_zero(points);
      const FeatureId id = side.ring[row][col];
      const Point p = board_.point(row, col);
      if (id == FeatureIndex::kForbidden || p == board_.ko()) continue;
      out.point[out.count] = p;
      out.ring[out.count] = id;
      out.diamond[out.count] = side.diamond[row][col];
      out.index[p] = static_cast<std::int16_t>(out.count++);
    }
  }
  add_local(out);
  if (features_->tree()) add_tree(out);
}

void TrainingState::add_local(Candidates& out) const {
  const Geometry& g = board_.geometry();
  if (previous_[0] >= 0) {
    const Point centre = g.point_of[static_cast<std::size_t>(previous_[0])];
    const auto* row = features_->responses(relative(board_.diamond(centre), mover_));
    const auto& around = PatternGeometry::of(g.size).around[centre];
    for (int i = 0; i < kDiamondPoints; ++i) {
      if (i < kNeighbourFeatures) out.add(around[i], FeatureIndex::neighbour(i));
      if (row == nullptr || (*row)[i] == FeatureIndex::kUnknown) continue;
      out.add(around[i], (*row)[i]);
      out.add(around[i], FeatureIndex::kResponse);
    }
  }
  const auto taken = board_.taken();
  for (const Point p : taken) out.add(p, features_->nakade(nakade_at(p, taken, g)));
  if (board_.in_atari(mover_).any()) {
    std::array<Point, 32> saving;
    const std::size_t count = board_.saving_moves(mover_, saving);
    for (std::size_t i = 0; i < count; ++i) out.add(saving[i], FeatureIndex::kSaveAtari);
  }
}

void TrainingState::add_tree(Candidates& out) const {
  const Geometry& g = board_.geometry();
  for (int k = 0; k < out.count; ++k) {
    const Point p = out.point[k];
    const auto ring = static_cast<std::uint32_t>(relative(board_.ring(p), mover_));
    out.self_atari[k] = ring_may_be_self_atari(ring) && !board_.two_liberties_after(p, mover_);
  }
  for (std::size_t which = 0; which < 2; ++which) {
    out.has_distance[which] = previous_[which] >= 0;
    if (!out.has_distance[which]) continue;
    const int row = previous_[which] / g.size + 1;
    const int col = previous_[which] % g.size + 1;
    for (int k = 0; k < out.count; ++k) {
      const int distance = std::abs(board_.row(out.point[k]) - row) + std::abs(board_.col(out.point[k]) - col);
      out.distance[which][k] = static_cast<std::uint8_t>(std::min(distance, kDistances - 1));
    }
  }
}

} // namespace go
