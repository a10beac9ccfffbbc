// Replaying recorded games: are they legal, and what do the planes look like before chosen moves?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "board.hpp"

namespace go {

struct GameRecord {
  int size = kMaxSize;
  std::vector<int> black; // setup stones
  std::vector<int> white;
  std::vector<int> moves;
  std::vector<std::int8_t> colours; // of each move, 1 or -1
  Colour to_play = kBlack;          // at the start
};

// Which positions of a game are wanted: before move plies[i] (0 = at the start), moved by symmetries[i].
struct PositionChoice {
  std::vector<int> plies; // ascending, repeats allowed, at most the number of moves
  std::vector<int> symmetries;
};

struct GameFault {
  int move = -1; // index of the first illegal move, -1 if there is none
  std::string reason;
};

// Throws std::invalid_argument for a bad size, setup or lists of different lengths.
Board start_of(const GameRecord& game, KoRule rule);
GameFault check_game(const GameRecord& game, KoRule rule);

struct PlaneFormat {
  bool player_colour = false;
  bool packed = false;
  std::size_t bytes(int size) const; // of one position
};

// Writes the chosen positions of one game, replayed under simple ko, one after the other. Throws IllegalMove.
void replay_planes(const GameRecord& game, const PositionChoice& choice, PlaneFormat format, std::uint8_t* out);

} // namespace go
