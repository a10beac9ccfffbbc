// The features of the rollout and tree policies (Extended Data Table 4), computed plainly from a board.
//
// This is the definition that the fast evaluations are tested against; it is written to be read, not to be quick.
// All of them are binary: a move has a feature or not. Fixed kinds are named by an index, pattern kinds by their key.
#pragma once

#include <span>
#include <vector>

#include "board.hpp"
#include "pattern.hpp"

namespace go {

enum class Feature {
  kSaveAtari,       // an own chain in atari has two liberties or more afterwards
  kNeighbour,       // 8-connected to the previous move; index: its place in the diamond
  kNakade,          // inside the shape of a chain that the previous move took
  kResponsePattern, // in the diamond around the previous move
  kPattern,         // 3x3 around the move
  kSelfAtari,       // the chain of the move is left with one liberty
  kDistance,        // Manhattan distance to the previous move (index 0..16) and to the one before it (17..33)
  kDiamond,         // 12 points around the move
};
// The table's remaining feature, "response", is one for every move that matches a response pattern that is kept.

inline constexpr int kDistances = 17; // 0..15 and "16 or more", for each of the previous two moves
inline constexpr int kDistanceFeatures = 2 * kDistances;
inline constexpr int kNeighbourFeatures = kRingPoints;

struct FeatureKey {
  Feature kind;
  PatternKey key;
};

// The nakade key of one of the points just taken. The chains that were taken cannot touch each other, so the pieces
// into which the points fall are those chains.
PatternKey nakade_at(Point move, std::span<const Point> taken, const Geometry& geometry);

class BoardFeatures {
public:
  explicit BoardFeatures(const Board& board);

  // The features of a legal move, appended to `out`; those of the tree policy too if `tree`.
  void collect(Point move, bool tree, std::vector<FeatureKey>& out) const;

  PatternKey diamond(Point centre) const; // as the player to move sees it, not canonical

private:
  bool saves_atari(Point move) const;
  bool self_atari(Point move) const;
  void collect_nakade(Point move, std::vector<FeatureKey>& out) const;
  void collect_distance(Point move, int previous, PatternKey offset, std::vector<FeatureKey>& out) const;

  const Board& board_;
  std::vector<Point> own_in_atari_; // one stone of each own chain in atari
};

} // namespace go
