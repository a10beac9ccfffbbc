#include "rollout.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "threads.hpp"

namespace go {
namespace {

float sum(const std::array<float, 32>& row) {
  std::array<float, 16> halves;
  for (std::size_t i = 0; i < 16; ++i) halves[i] = row[i] + row[i + 16];
  for (std::size_t width = 8; width > 0; width /= 2) {
    for (std::size_t i = 0; i < width; ++i) halves[i] += halves[i + width];
  }
  return halves[0];
}

int distance(int a, int b, int size) { return std::abs(a / size - b / size) + std::abs(a % size - b % size); }

} // namespace

RolloutState::RolloutState(const RolloutPolicy& policy, const Board& board)
    : policy_(&policy), tables_(&policy.tables()), pattern_geometry_(&PatternGeometry::of(board.size())), board_(board),
      to_play_(board.to_play()), passes_(board.passes()), last_(board.last_move()),
      before_last_(board.move_before_last()), komi_(board.komi()) {
  const std::uint32_t all = ((1U << board.size()) - 1) << 1; // columns and rows count from 1
  for (Side& side : sides_) {
    for (int row = 1; row <= board.size(); ++row) side.pending.rows[row] = all;
    side.pending.touched = all;
  }
}

RolloutState::Side& RolloutState::refresh() {
  Side& side = sides_[to_play_ - 1];
  if (policy_->tree()) {
    evaluate_tree(side);
  } else {
    refresh_rows(side);
  }
  return side;
}

void RolloutState::refresh_rows(Side& side) {
  RowSet& pending = side.pending;
  const std::uint32_t rows = pending.touched & (((1U << board_.geometry().size) - 1) << 1);
  for (std::uint32_t left = rows; left != 0; left &= left - 1) {
    const int row = std::countr_zero(left);
    auto& weights = side.weight[row];
    for (std::uint32_t points = pending.rows[row] & board_.empty_row(row); points != 0; points &= points - 1) {
      const int col = std::countr_zero(points);
      const PatternKey key = relative(board_.ring(board_.point(row, col)), to_play_);
      weights[col] = tables_->ring(static_cast<std::uint32_t>(key));
    }
    side.sum[row] = sum(weights);
  }
  pending.clear();
}

float RolloutState::tree_factor(Point p, PatternKey diamond) const {
  float factor = tables_->diamond(diamond);
  const auto ring = static_cast<std::uint32_t>(diamond & kRingMask);
  if (ring_may_be_self_atari(ring) && !board_.two_liberties_after(p, to_play_)) factor *= tables_->self_atari;
  const int size = board_.geometry().size;
  const int here = board_.geometry().move_of[p];
  for (int which = 0; which < 2; ++which) {
    const int previous = which == 0 ? last_ : before_last_;
    if (previous < 0 || previous == pass_move()) continue;
    factor *= tables_->distance[which * kDistances + std::min(distance(here, previous, size), kDistances - 1)];
  }
  return factor;
}

void RolloutState::evaluate_tree(Side& side) {
  for (int row = 1; row <= board_.geometry().size; ++row) {
    auto& weights = side.weight[row];
    for (std::uint32_t points = board_.empty_row(row); points != 0; points &= points - 1) {
      const int col = std::countr_zero(points);
      const Point p = board_.point(row, col);
      const PatternKey diamond = relative(board_.diamond(p), to_play_);
      const float factor = tables_->ring(static_cast<std::uint32_t>(diamond & kRingMask));
      weights[col] = factor == 0 ? 0 : factor * tree_factor(p, diamond);
    }
    side.sum[row] = sum(weights);
  }
}

bool RolloutState::local(Point p) const {
  return std::any_of(local_.begin(), local_.begin() + static_cast<std::ptrdiff_t>(local_count_),
                     [p](const Local& l) { return l.point == p; });
}

void RolloutState::multiply(Side& side, Point p, float factor) {
  for (std::size_t i = 0; i < local_count_; ++i) {
    if (local_[i].point != p) continue;
    local_[i].factor *= factor;
    return;
  }
  const float base = weight(side, p);
  if (base > 0 && local_count_ < kMaxLocal) local_[local_count_++] = {p, base, factor};
}

void RolloutState::collect_local(Side& side) {
  local_count_ = 0;
  if (last_ >= 0 && last_ != pass_move()) {
    const Point centre = board_.geometry().point_of[last_];
    const auto& factors = tables_->response(relative(board_.diamond(centre), to_play_));
    const auto& around = pattern_geometry_->around[centre];
    for (int i = 0; i < kDiamondPoints; ++i) {
      const float base = weight(side, around[i]); // 0 beyond the edge
      if (base > 0) local_[local_count_++] = {around[i], base, factors[i]};
    }
  }
  if (!board_.taken().empty()) collect_nakade(side);
  if (board_.in_atari(to_play_).any()) {
    std::array<Point, kMaxLocal / 2> saving;
    const std::size_t count = board_.saving_moves(to_play_, saving);
    for (std::size_t i = 0; i < count; ++i) multiply(side, saving[i], tables_->save_atari);
  }
  if (board_.ko() != kNoPoint) multiply(side, board_.ko(), 0.0F);
}

void RolloutState::collect_nakade(Side& side) {
  const auto taken = board_.taken();
  if (taken.size() == 1) {
    multiply(side, taken[0], tables_->lone_nakade);
    return;
  }
  const PatternWeights& known = policy_->weights().nakade;
  for (const Point p : taken) {
    const std::ptrdiff_t i = known.find(nakade_at(p, taken, board_.geometry()));
    if (i >= 0) multiply(side, p, std::exp(known.weights[static_cast<std::size_t>(i)]));
  }
}

void RolloutState::probabilities(float* out) {
  Side& side = refresh();
  collect_local(side);
  const Geometry& g = board_.geometry();
  std::fill(out, out + g.moves, 0.0F);
  for (int move = 0; move < g.moves; ++move) out[move] = weight(side, g.point_of[move]);
  for (std::size_t i = 0; i < local_count_; ++i) out[g.move_of[local_[i].point]] *= local_[i].factor;
  double total = 0;
  for (int move = 0; move < g.moves; ++move) total += out[move];
  if (total == 0) return;
  for (int move = 0; move < g.moves; ++move) out[move] = static_cast<float>(out[move] / total);
}

Point RolloutState::draw_local(float left) const {
  Point chosen = kNoPoint;
  for (std::size_t i = 0; i < local_count_; ++i) {
    const float mass = local_[i].base * local_[i].factor;
    if (mass <= 0) continue;
    chosen = local_[i].point;
    left -= mass;
    if (left < 0) break;
  }
  return chosen;
}

// A point outside the local ones, drawn by its weight: points are drawn from the whole board until one is not local.
Point RolloutState::draw_other(const Side& side, float total, Random& random) const {
  constexpr int kTries = 32;
  const int size = board_.geometry().size;
  for (int tries = 0; tries < kTries; ++tries) {
    float left = static_cast<float>(random.uniform()) * total;
    int row = 1;
    while (row < size && left >= side.sum[row]) left -= side.sum[row++];
    const auto& weights = side.weight[row];
    int chosen = 0;
    for (int col = 1; col <= size; ++col) {
      if (weights[col] <= 0) continue;
      chosen = col;
      left -= weights[col];
      if (left < 0) break;
    }
    if (chosen == 0) continue; // rounding: behind the last weight of the board
    const Point p = board_.point(row, chosen);
    if (!local(p)) return p;
  }
  // Nearly all of the weight is local, or all of it and the rest is rounding: go through the points one by one.
  float rest = 0;
  auto for_each_other = [&](auto&& f) {
    for (int move = 0; move < board_.geometry().moves; ++move) {
      const Point p = board_.geometry().point_of[move];
      const float w = side.weight[board_.row(p)][board_.col(p)];
      if (w > 0 && !local(p)) f(p, w);
    }
  };
  for_each_other([&](Point, float w) { rest += w; });
  float left = static_cast<float>(random.uniform()) * rest;
  Point chosen = kNoPoint;
  for_each_other([&](Point p, float w) {
    if (left >= 0) chosen = p;
    left -= w;
  });
  return chosen;
}

int RolloutState::choose(Random& random) {
  Side& side = refresh();
  collect_local(side);
  float total = 0;
  for (int row = 1; row <= board_.geometry().size; ++row) total += side.sum[row];
  if (total <= 0) return pass_move();
  float near = 0;
  float near_base = 0;
  for (std::size_t i = 0; i < local_count_; ++i) {
    near += local_[i].base * local_[i].factor;
    near_base += local_[i].base;
  }
  const float other = std::max(total - near_base, 0.0F);
  const float left = static_cast<float>(random.uniform()) * (near + other);
  Point p = left < near ? draw_local(left) : draw_other(side, total, random);
  if (p == kNoPoint) p = draw_local(0); // what looked like other weight was rounding
  return p == kNoPoint ? pass_move() : board_.geometry().move_of[p];
}

void RolloutState::play(int move) {
  const Point p = board_.geometry().point_of[move]; // kNoPoint for the pass
  board_.play(p, to_play_);
  passes_ = p == kNoPoint ? passes_ + 1 : 0;
  to_play_ = opponent(to_play_);
  before_last_ = last_;
  last_ = move;
  if (p == kNoPoint) return;
  RowSet& changed = board_.changed();
  for (Side& side : sides_) {
    for (std::size_t row = 0; row < changed.rows.size(); ++row) side.pending.rows[row] |= changed.rows[row];
    side.pending.touched |= changed.touched;
    weight(side, p) = 0;
  }
  changed.clear();
}

int RolloutState::known_reply(const ReplyTable& replies, Random& random) {
  if (last_ < 0 || last_ == pass_move()) return -1;
  const Reply reply = replies.find(to_play_, last_, board_.ring(board_.geometry().point_of[last_]));
  if (reply.move < 0) return -1;
  const Point p = board_.geometry().point_of[reply.move];
  if (board_.colour(p) != kEmpty || p == board_.ko() || !reply.fits(board_.ring(p))) return -1;
  if (random.uniform() >= kReplyProbability || weight(refresh(), p) <= 0) return -1; // no weight: not sensible
  return reply.move;
}

PlayoutResult RolloutState::finish(Random& random, int max_plies, const ReplyTable* replies) {
  PlayoutResult result;
  while (!over() && result.moves < max_plies) {
    const int reply = replies == nullptr ? -1 : known_reply(*replies, random);
    play(reply >= 0 ? reply : choose(random));
    ++result.moves;
  }
  const double score = board_.area() - komi_;
  result.winner = (score > 0) - (score < 0);
  return result;
}

std::vector<PlayoutResult> rollout_playouts(const RolloutPolicy& policy, const Board& board, int n, std::uint64_t seed,
                                            int threads) {
  constexpr int kBlock = 4; // playouts taken by a thread at a time
  std::vector<PlayoutResult> results(static_cast<std::size_t>(std::max(n, 0)));
  const RolloutState start(policy, board);
  parallel_for(n, kBlock, threads, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      Random random(seed, static_cast<std::uint64_t>(i));
      RolloutState state = start;
      results[static_cast<std::size_t>(i)] = state.finish(random, playout_cap(board.size()));
    }
  });
  return results;
}

} // namespace go
