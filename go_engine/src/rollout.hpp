// Playouts with a rollout policy, from any board to the end.
//
// The product of a move's lasting factors (its 3x3 pattern) is kept for every empty point and either colour, with the
// sum of each board row; after a move only the points whose pattern it changed are looked up again. What depends on the
// previous move (response, neighbour, nakade) or touches few points (save atari, ko) multiplies those few points when a
// move is drawn. The tree policy has factors for the whole board that change with every move; it is evaluated anew.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "pattern_board.hpp"
#include "playout.hpp"
#include "random.hpp"
#include "reply_table.hpp"
#include "rollout_policy.hpp"

namespace go {

// A position being played on by a policy. Only simple ko is watched: superko would need the history.
class RolloutState {
public:
  RolloutState(const RolloutPolicy& policy, const Board& board);

  bool over() const { return passes_ >= 2; }
  Colour to_play() const { return to_play_; }
  int pass_move() const { return board_.geometry().moves; }
  void probabilities(float* out); // as RolloutPolicy::probabilities, but superko is not looked at
  int choose(Random& random);     // a move drawn from the policy; the pass when no move is sensible
  void play(int move);            // assumes legal
  // From now on choose() first looks for a remembered reply, and takes it with this probability.
  void use_replies(const ReplyTable* replies, double probability) {
    replies_ = replies;
    reply_probability_ = probability;
  }
  PlayoutResult finish(Random& random, int max_plies); // to two passes or the cap, area score with the board's komi

private:
  static constexpr std::size_t kMaxSaving = 32;
  static constexpr std::size_t kMaxLocal = 64;
  struct Local {
    Point point;
    float base;
    float factor;
  };
  struct Fresh { // a point to look up again
    std::uint16_t cell;
    std::uint32_t ring;
  };
  struct alignas(64) Side { // one colour's view
    std::array<float, PatternBoard::kCells> weight{};
    alignas(64) std::array<float, PatternBoard::kRowLength> row_sum{};
    RowSet pending; // points to look up again
  };

  float weight(const Side& side, Point p) const { return side.weight[board_.cell(p)]; }
  Side& prepare();
  std::size_t gather(Side& side, std::span<Fresh> fresh) const;
  void look_up(Side& side, std::span<const Fresh> fresh, std::uint32_t rows);
  void evaluate_tree(Side& side);
  float tree_factor(Point p, PatternKey diamond) const;
  void collect_responses(const Side& side, PatternKey diamond);
  void collect_nakade(const Side& side);
  void multiply(const Side& side, Point p, float factor);
  bool local(Point p) const;
  Point remembered(const Side& side, Random& random) const;
  Point draw_local(float left) const;
  Point draw_other(const Side& side, float total, Random& random) const;
  Point draw_one_by_one(const Side& side, Random& random) const;

  const RolloutPolicy* policy_;
  const RolloutTables* tables_;
  const PatternGeometry* pattern_geometry_;
  PatternBoard board_;
  std::array<Side, 2> sides_;
  std::array<Local, kMaxLocal> local_;
  std::size_t local_count_ = 0;
  Colour to_play_;
  int passes_;
  int last_; // moves; -1 for none
  int before_last_;
  double komi_;
  const ReplyTable* replies_ = nullptr;
  double reply_probability_ = 0;
};

// n playouts from the same board; playout i draws from its own generator (seed, i), so that the result does not depend
// on the number of threads. With `replies`, which must not change meanwhile, they are played with that probability.
std::vector<PlayoutResult> rollout_playouts(const RolloutPolicy& policy, const Board& board, int n, std::uint64_t seed,
                                            int threads, const ReplyTable* replies = nullptr,
                                            double reply_probability = 0);

} // namespace go
