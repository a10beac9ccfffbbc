#include "rollout.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "threads.hpp"

namespace go {
namespace {

constexpr int kRowLength = PatternBoard::kRowLength;

float sum(const float* values) { // of kRowLength values, in an order that suits vectors
  std::array<float, kRowLength / 2> part;
  for (int i = 0; i < kRowLength / 2; ++i) part[i] = values[i] + values[i + kRowLength / 2];
  for (int width = kRowLength / 4; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) part[i] += part[i + width];
  }
  return part[0];
}

// The first of kRowLength values at which their running sum exceeds `left`, which is lessened by the values before it;
// -1 if none does (rounding).
int pick(const float* values, float& left) {
  constexpr int kStep = 4;
  for (int i = 0; i < kRowLength; i += kStep) {
    const float step = (values[i] + values[i + 1]) + (values[i + 2] + values[i + 3]);
    if (left >= step) {
      left -= step;
      continue;
    }
    for (int k = i; k < i + kStep; ++k) {
      if (left < values[k]) return k;
      left -= values[k];
    }
    return -1;
  }
  return -1;
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

// Brings the mover's weights up to date and collects the local ones. The look-ups are announced early and read late,
// with the work that needs none of them in between: the tables do not fit into the nearer caches.
RolloutState::Side& RolloutState::prepare() {
  Side& side = sides_[to_play_ - 1];
  std::array<Fresh, kMaxMoves> fresh;
  std::array<Point, kMaxSaving> saving;
  const std::uint32_t rows = side.pending.touched;
  const std::size_t fresh_count = policy_->tree() ? 0 : gather(side, fresh);
  const bool response = last_ >= 0 && last_ != pass_move();
  PatternKey diamond = 0;
  if (response) {
    diamond = relative(board_.diamond(board_.geometry().point_of[last_]), to_play_);
    tables_->prefetch_response(diamond);
  }
  const std::size_t saving_count = board_.in_atari(to_play_).any() ? board_.saving_moves(to_play_, saving) : 0;
  if (policy_->tree()) {
    evaluate_tree(side);
  } else {
    look_up(side, {fresh.data(), fresh_count}, rows);
  }
  local_count_ = 0;
  if (response) collect_responses(side, diamond);
  if (!board_.taken().empty()) collect_nakade(side);
  for (std::size_t i = 0; i < saving_count; ++i) multiply(side, saving[i], tables_->save_atari);
  if (board_.ko() != kNoPoint) multiply(side, board_.ko(), 0.0F);
  return side;
}

std::size_t RolloutState::gather(Side& side, std::span<Fresh> fresh) const {
  std::size_t count = 0;
  const std::uint32_t on_board = ((1U << board_.geometry().size) - 1) << 1;
  for (std::uint32_t rows = side.pending.touched & on_board; rows != 0; rows &= rows - 1) {
    const int row = std::countr_zero(rows);
    for (std::uint32_t points = side.pending.rows[row] & board_.empty_row(row); points != 0; points &= points - 1) {
      const int col = std::countr_zero(points);
      const auto ring = static_cast<std::uint32_t>(relative(board_.ring(board_.point(row, col)), to_play_));
      tables_->prefetch_ring(ring);
      fresh[count++] = {static_cast<std::uint16_t>(row * kRowLength + col), ring};
    }
  }
  side.pending.clear();
  return count;
}

void RolloutState::look_up(Side& side, std::span<const Fresh> fresh, std::uint32_t rows) {
  for (const auto& [cell, ring] : fresh) side.weight[cell] = tables_->ring(ring);
  for (rows &= ((1U << board_.geometry().size) - 1) << 1; rows != 0; rows &= rows - 1) {
    const int row = std::countr_zero(rows);
    side.row_sum[row] = sum(&side.weight[row * kRowLength]);
  }
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
    float* weights = &side.weight[row * kRowLength];
    for (std::uint32_t points = board_.empty_row(row); points != 0; points &= points - 1) {
      const int col = std::countr_zero(points);
      const Point p = board_.point(row, col);
      const PatternKey diamond = relative(board_.diamond(p), to_play_);
      const float factor = tables_->ring(static_cast<std::uint32_t>(diamond & kRingMask));
      weights[col] = factor == 0 ? 0 : factor * tree_factor(p, diamond);
    }
    side.row_sum[row] = sum(weights);
  }
}

bool RolloutState::local(Point p) const {
  return std::any_of(local_.begin(), local_.begin() + static_cast<std::ptrdiff_t>(local_count_),
                     [p](const Local& l) { return l.point == p; });
}

void RolloutState::multiply(const Side& side, Point p, float factor) {
  for (std::size_t i = 0; i < local_count_; ++i) {
    if (local_[i].point != p) continue;
    local_[i].factor *= factor;
    return;
  }
  const float base = weight(side, p);
  if (base > 0 && local_count_ < kMaxLocal) local_[local_count_++] = {p, base, factor};
}

void RolloutState::collect_responses(const Side& side, PatternKey diamond) {
  const auto [row, place] = tables_->response(diamond);
  const auto& around = pattern_geometry_->around[board_.geometry().point_of[last_]];
  for (int i = 0; i < kDiamondPoints; ++i) {
    const int there = place[i];
    const Point p = around[there];
    local_[local_count_] = {p, weight(side, p), row->factor[i] * tables_->neighbour[there]};
    local_count_ += local_[local_count_].base > 0; // 0 beyond the edge
  }
}

void RolloutState::collect_nakade(const Side& side) {
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
  const Side& side = prepare();
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
  for (int tries = 0; tries < kTries; ++tries) {
    float left = static_cast<float>(random.uniform()) * total;
    const int row = pick(side.row_sum.data(), left);
    const int col = row < 0 ? -1 : pick(&side.weight[row * kRowLength], left);
    if (col < 0) continue;
    const Point p = board_.point(row, col);
    if (!local(p)) return p;
  }
  // Nearly all of the weight is local, or all of it and the rest is rounding.
  return draw_one_by_one(side, random);
}

Point RolloutState::draw_one_by_one(const Side& side, Random& random) const {
  float rest = 0;
  auto for_each_other = [&](auto&& f) {
    for (int move = 0; move < board_.geometry().moves; ++move) {
      const Point p = board_.geometry().point_of[move];
      const float w = weight(side, p);
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

// The stored reply to the last move, if there is one that may be played.
Point RolloutState::remembered(const Side& side, Random& random) const {
  if (last_ < 0 || last_ == pass_move() || random.uniform() >= reply_probability_) return kNoPoint;
  const Point p = replies_->find(board_, to_play_, board_.geometry().point_of[last_]);
  return p != board_.ko() && weight(side, p) > 0 ? p : kNoPoint; // the weight at kNoPoint is 0
}

int RolloutState::choose(Random& random) {
  const Side& side = prepare();
  if (replies_ != nullptr) {
    const Point reply = remembered(side, random);
    if (reply != kNoPoint) return board_.geometry().move_of[reply];
  }
  const float total = sum(side.row_sum.data());
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
    side.pending.add(changed);
    side.weight[board_.cell(p)] = 0;
  }
  changed.clear();
}

PlayoutResult RolloutState::finish(Random& random, int max_plies) {
  PlayoutResult result;
  while (!over() && result.moves < max_plies) {
    play(choose(random));
    ++result.moves;
  }
  const double score = board_.area() - komi_;
  result.winner = (score > 0) - (score < 0);
  return result;
}

std::vector<PlayoutResult> rollout_playouts(const RolloutPolicy& policy, const Board& board, int n, std::uint64_t seed,
                                            int threads, const ReplyTable* replies, double reply_probability) {
  constexpr int kBlock = 4; // playouts taken by a thread at a time
  std::vector<PlayoutResult> results(static_cast<std::size_t>(std::max(n, 0)));
  RolloutState start(policy, board);
  if (replies != nullptr) start.use_replies(replies, reply_probability);
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
