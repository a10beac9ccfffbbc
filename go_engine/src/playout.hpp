// Playouts in which every move is drawn uniformly from those that are legal and fill no own eye.
#pragma once

#include <cstdint>

#include "board.hpp"
#include "random.hpp"

namespace go {

struct PlayoutResult {
  int winner = 0; // 1 Black, -1 White, 0 a draw, by area and komi
  int moves = 0;  // plies played, passes included
};

constexpr int playout_cap(int size) { return 2 * size * size; } // plies after which a playout is scored as it stands

// A move drawn uniformly from the legal ones that fill no own eye (simple ko only), kNoPoint if there is none.
Point random_sensible_move(Position& position, Colour colour, Random& random);

// Plays the position on, in place, to two passes in a row (`passes` of which may have been made already) or to the cap.
PlayoutResult random_playout(Position& position, Colour to_play, int passes, double komi, Random& random);

// n playouts from the board; playout i depends on seed and i alone, never on the number of threads.
void random_playouts(const Board& board, int n, std::uint64_t seed, int threads, std::int8_t* winners,
                     std::int32_t* moves);

} // namespace go
