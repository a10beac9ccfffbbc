// A recorded game being replayed, with the features of every candidate move as training reads them.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "feature_index.hpp"
#include "pattern_board.hpp"
#include "replay.hpp"

namespace go {

// The sensible moves of a position and their features.
struct Candidates {
  struct Extra { // a feature that few candidates have
    std::uint16_t candidate;
    FeatureId feature;
  };
  static constexpr std::size_t kMaxExtras = 512;

  int count = 0;
  std::array<Point, kMaxMoves> point;
  std::array<FeatureId, kMaxMoves> ring;
  std::array<FeatureId, kMaxMoves> diamond; // of the tree policy; so are:
  std::array<std::uint8_t, kMaxMoves> self_atari;
  std::array<std::array<std::uint8_t, kMaxMoves>, 2> distance; // to the previous move and the one before
  std::array<bool, 2> has_distance{};
  std::size_t extra_count = 0;
  std::array<Extra, kMaxExtras> extra;
  std::array<std::int16_t, kMaxPoints> index; // candidate on a point, -1 if none

  void add(Point p, FeatureId feature) {
    if (index[p] >= 0 && extra_count < kMaxExtras)
      extra[extra_count++] = {static_cast<std::uint16_t>(index[p]), feature};
  }
};

class TrainingState {
public:
  TrainingState(const FeatureIndex& features, const GameRecord& game);

  // Goes on to the next position whose move is an example: a sensible move. False at the end of the game, which is also
  // where a move is illegal under simple ko.
  bool next();
  void candidates(Candidates& out);     // of the current position
  Point move() const { return point_; } // that was played there
  Colour mover() const { return mover_; }
  int previous() const { return previous_[0]; } // move before it; -1 for a pass or none
  const PatternBoard& board() const { return board_; }

  // The rings of sensible moves that came up since the mover's last turn, as it sees them. Not to be mixed with
  // candidates(), which looks at the same changes.
  template <typename F> void for_each_new_ring(F&& f) {
    RowSet& pending = sides_[mover_ - 1].pending;
    for (int row = 1; row <= board_.geometry().size; ++row) {
      for (std::uint32_t points = pending.rows[row] & board_.empty_row(row); points != 0; points &= points - 1) {
        const Point p = board_.point(row, std::countr_zero(points));
        const auto ring = static_cast<std::uint32_t>(relative(board_.ring(p), mover_));
        if (!ring_forbids(ring)) f(ring);
      }
    }
    pending.clear();
  }

private:
  struct Side {
    std::array<std::array<FeatureId, 32>, RowSet::kRows> ring{};
    std::array<std::array<FeatureId, 32>, RowSet::kRows> diamond{};
    RowSet pending;
  };
  void play(Point p, Colour c);
  void refresh(Side& side);
  void add_local(Candidates& out) const;
  void add_tree(Candidates& out) const;
  bool sensible(Point p) const;

  const FeatureIndex* features_;
  const GameRecord* game_;
  PatternBoard board_;
  std::array<Side, 2> sides_;
  std::size_t ply_ = 0;
  Point point_ = kNoPoint;
  Colour mover_ = kBlack;
  bool example_ = false; // the current position has not been played on yet
  std::array<int, 2> previous_ = {-1, -1};
};

} // namespace go
