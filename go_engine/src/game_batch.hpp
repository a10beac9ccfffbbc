// Many games side by side for self-play: what is needed between two calls of a network, without a Python object per
// game. Games are named by their number in the batch; `indices` below are such numbers.
//
// Nothing here draws random numbers of its own: a draw depends on the seed that the caller gives for a game and on the
// game's move number alone, so the same games come out in whatever groups they are played.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "board.hpp"

namespace go {

// A move for `board`, drawn with probability proportional to p^(1/temperature) among the sensible moves of the side to
// play; the pass when there is none. Temperature 0 takes the most probable. When every sensible move has probability 0
// they are equally likely. `uniform` is the random number, in [0, 1). Throws std::invalid_argument for a NaN.
int sample_sensible(const Board& board, const float* probabilities, double temperature, double uniform);

class GameBatch {
public:
  static constexpr int kMaxGames = 1 << 16; // some 20 kB each

  // `max_plies` = 0 takes the usual cap of 2 * size * size.
  GameBatch(int count, int size, double komi, KoRule ko_rule, int max_plies);

  int count() const { return static_cast<int>(boards_.size()); }
  int size() const { return fresh_.size(); }
  int points() const { return fresh_.pass_move(); }
  double komi() const { return fresh_.komi(); }
  int max_plies() const { return max_plies_; }
  const Board& board(int game) const { return boards_[game]; }
  const std::vector<std::int32_t>& moves(int game) const { return moves_[game]; }

  // One entry a game, kept up to date by play and reset.
  const std::vector<std::int8_t>& to_play() const { return to_play_; }            // BLACK = 1, WHITE = -1
  const std::vector<std::uint8_t>& over() const { return over_; }                 // two passes, or the cap reached
  const std::vector<std::uint8_t>& capped() const { return capped_; }             // over by the cap
  const std::vector<std::int8_t>& winners() const { return winners_; }            // sign of the area score once over
  const std::vector<std::int32_t>& move_numbers() const { return move_numbers_; } // plies played

  // Plays moves[k] in game indices[k]. Throws IllegalMove (or std::invalid_argument for a finished game) naming the
  // game; games earlier in the list have then been played.
  void play(const std::int32_t* indices, const std::int32_t* moves, int n);
  void reset(const std::int32_t* indices, int n);

  // Row k of `out` belongs to game indices[k].
  void planes(const std::int32_t* indices, int n, bool player_colour, std::uint8_t* out, int threads) const;
  void sensible(const std::int32_t* indices, int n, bool* out, int threads) const; // points() a row
  void legal(const std::int32_t* indices, int n, bool* out, int threads) const;    // points() + 1 a row

  // Draws a move for every game listed: see sample_sensible. `probabilities` has points() a row.
  void sample(const std::int32_t* indices, int n, const float* probabilities, double temperature,
              const std::uint64_t* seeds, std::int32_t* out, int threads) const;
  // A point drawn uniformly among the legal ones, own eyes included; -1 where no point is legal.
  void sample_legal(const std::int32_t* indices, int n, const std::uint64_t* seeds, std::int32_t* out) const;

  // For callers on several threads: the batch itself locks nothing.
  std::mutex& mutex() const { return mutex_; }
  void check_indices(const std::int32_t* indices, int n) const; // throws std::out_of_range

private:
  void refresh(int game);

  mutable std::mutex mutex_;
  Board fresh_;
  int max_plies_;
  std::vector<Board> boards_;
  std::vector<std::vector<std::int32_t>> moves_;
  std::vector<std::int8_t> to_play_;
  std::vector<std::uint8_t> over_;
  std::vector<std::uint8_t> capped_;
  std::vector<std::int8_t> winners_;
  std::vector<std::int32_t> move_numbers_;
};

} // namespace go
