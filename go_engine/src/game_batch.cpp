#include "game_batch.hpp"

#include <cmath>
#include <string>

#include "planes.hpp"
#include "random.hpp"
#include "threads.hpp"

namespace go {
namespace {

constexpr int kBlock = 16; // games that a thread takes at once

// work(k) for k in 0..n-1, on several threads.
template <typename Work> void for_each(int n, int threads, const Work& work) {
  parallel_for(n, kBlock, threads, [&](int begin, int end) {
    for (int k = begin; k < end; ++k) work(k);
  });
}

// The generator of one draw. Streams of even and odd number keep the two kinds of draws of one ply apart.
Random generator(std::uint64_t seed, const Board& board, bool uniform_draw) {
  return Random(seed, 2 * static_cast<std::uint64_t>(board.move_number()) + (uniform_draw ? 1 : 0));
}

} // namespace

int sample_sensible(const Board& board, const float* probabilities, double temperature, double uniform) {
  const Geometry& g = board.geometry();
  std::array<std::int16_t, kMaxMoves> candidates;
  std::array<double, kMaxMoves> weights;
  int n = 0;
  double largest = 0.0;
  int best = board.pass_move();
  const Position& position = board.position();
  for (int move = 0; move < g.moves; ++move) {
    const Point p = g.point_of[move];
    if (position.colour(p) != kEmpty || !board.sensible_point(p, board.to_play())) continue;
    const double weight = probabilities[move];
    if (std::isnan(weight)) throw std::invalid_argument("a move probability is not a number");
    if (n == 0 || weight > largest) {
      largest = weight;
      best = move;
    }
    candidates[n] = static_cast<std::int16_t>(move);
    weights[n++] = weight;
  }
  if (n <= 1 || (temperature == 0.0 && largest > 0.0)) return best;

  double total = 0.0;
  for (int i = 0; i < n; ++i) {
    if (largest <= 0.0) {
      weights[i] = 1.0;
    } else if (temperature != 1.0) {
      weights[i] = std::pow(std::max(weights[i], 0.0) / largest, 1.0 / temperature);
    }
    total += weights[i];
  }
  double left = uniform * total;
  for (int i = 0; i < n; ++i) {
    left -= weights[i];
    if (left < 0.0) return candidates[i];
  }
  return best; // rounding ate the last sliver of the total
}

GameBatch::GameBatch(int count, int size, double komi, KoRule ko_rule, int max_plies)
    : fresh_(size, komi, ko_rule), max_plies_(max_plies > 0 ? max_plies : 2 * size * size) {
  if (count < 0 || count > kMaxGames) {
    throw std::invalid_argument("a batch cannot hold " + std::to_string(count) + " games");
  }
  if (max_plies < 0) throw std::invalid_argument("max_plies " + std::to_string(max_plies) + " is negative");
  boards_.assign(count, fresh_);
  moves_.resize(count);
  to_play_.resize(count);
  over_.resize(count);
  capped_.resize(count);
  winners_.resize(count);
  move_numbers_.resize(count);
  for (int game = 0; game < count; ++game) refresh(game);
}

void GameBatch::check_indices(const std::int32_t* indices, int n) const {
  for (int k = 0; k < n; ++k) {
    if (indices[k] < 0 || indices[k] >= count()) {
      throw std::out_of_range("game " + std::to_string(indices[k]) + " is not in a batch of " +
                              std::to_string(count()));
    }
  }
}

void GameBatch::refresh(int game) {
  const Board& board = boards_[game];
  to_play_[game] = static_cast<std::int8_t>(to_sign(board.to_play()));
  move_numbers_[game] = board.move_number();
  capped_[game] = !board.over() && board.move_number() >= max_plies_;
  over_[game] = board.over() || capped_[game];
  const double score = over_[game] ? board.area_score() : 0.0;
  winners_[game] = static_cast<std::int8_t>((score > 0) - (score < 0));
}

void GameBatch::play(const std::int32_t* indices, const std::int32_t* moves, int n) {
  for (int k = 0; k < n; ++k) {
    const int game = indices[k];
    if (over_[game]) throw std::invalid_argument("game " + std::to_string(game) + " is over");
    try {
      boards_[game].play(moves[k]);
    } catch (const IllegalMove& error) {
      throw IllegalMove("game " + std::to_string(game) + ": " + error.what());
    }
    moves_[game].push_back(moves[k]);
    refresh(game);
  }
}

void GameBatch::reset(const std::int32_t* indices, int n) {
  for (int k = 0; k < n; ++k) {
    boards_[indices[k]] = fresh_;
    moves_[indices[k]].clear();
    refresh(indices[k]);
  }
}

void GameBatch::planes(const std::int32_t* indices, int n, bool player_colour, std::uint8_t* out, int threads) const {
  const std::size_t row = static_cast<std::size_t>(plane_count(player_colour)) * points();
  for_each(n, threads, [&](int k) { write_planes(boards_[indices[k]], player_colour, out + k * row); });
}

void GameBatch::sensible(const std::int32_t* indices, int n, bool* out, int threads) const {
  const Geometry& g = fresh_.geometry();
  for_each(n, threads, [&](int k) {
    const Board& board = boards_[indices[k]];
    bool* row = out + static_cast<std::size_t>(k) * g.moves;
    for (int move = 0; move < g.moves; ++move) row[move] = board.sensible_point(g.point_of[move], board.to_play());
  });
}

void GameBatch::legal(const std::int32_t* indices, int n, bool* out, int threads) const {
  const Geometry& g = fresh_.geometry();
  for_each(n, threads, [&](int k) {
    const Board& board = boards_[indices[k]];
    bool* row = out + static_cast<std::size_t>(k) * (g.moves + 1);
    for (int move = 0; move <= g.moves; ++move) row[move] = board.legal(move, board.to_play());
  });
}

void GameBatch::sample(const std::int32_t* indices, int n, const float* probabilities, double temperature,
                       const std::uint64_t* seeds, std::int32_t* out, int threads) const {
  if (!(temperature >= 0.0)) throw std::invalid_argument("the temperature must not be negative");
  for_each(n, threads, [&](int k) {
    const Board& board = boards_[indices[k]];
    const double uniform = generator(seeds[k], board, false).uniform();
    out[k] = sample_sensible(board, probabilities + static_cast<std::size_t>(k) * points(), temperature, uniform);
  });
}

void GameBatch::sample_legal(const std::int32_t* indices, int n, const std::uint64_t* seeds, std::int32_t* out) const {
  for (int k = 0; k < n; ++k) {
    const Board& board = boards_[indices[k]];
    const Geometry& g = board.geometry();
    std::array<std::int16_t, kMaxMoves> legal;
    int found = 0;
    for (int move = 0; move < g.moves; ++move) {
      if (board.legal_point(g.point_of[move], board.to_play())) legal[found++] = static_cast<std::int16_t>(move);
    }
    out[k] = found == 0 ? -1 : legal[generator(seeds[k], board, true).below(static_cast<std::uint32_t>(found))];
  }
}

} // namespace go
