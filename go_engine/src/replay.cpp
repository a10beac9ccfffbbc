#include "replay.hpp"

#include "planes.hpp"

namespace go {
namespace {

Colour colour_of(const GameRecord& game, std::size_t move) {
  const int sign = game.colours[move];
  if (sign != 1 && sign != -1) {
    throw std::invalid_argument("colour " + std::to_string(sign) + " of move " + std::to_string(move + 1) +
                                " is neither BLACK (1) nor WHITE (-1)");
  }
  return from_sign(sign);
}

void check(const GameRecord& game, const PositionChoice& choice) {
  if (choice.plies.size() != choice.symmetries.size()) {
    throw std::invalid_argument(std::to_string(choice.plies.size()) + " plies but " +
                                std::to_string(choice.symmetries.size()) + " symmetries");
  }
  int previous = 0;
  for (const int ply : choice.plies) {
    if (ply < previous) throw std::invalid_argument("plies are not ascending from 0");
    if (ply > static_cast<int>(game.moves.size())) {
      throw std::invalid_argument("ply " + std::to_string(ply) + " of a game of " + std::to_string(game.moves.size()) +
                                  " moves");
    }
    previous = ply;
  }
}

} // namespace

Board start_of(const GameRecord& game, KoRule rule) {
  if (game.moves.size() != game.colours.size()) {
    throw std::invalid_argument(std::to_string(game.moves.size()) + " moves but " +
                                std::to_string(game.colours.size()) + " colours");
  }
  Board board(game.size, 0.0, rule);
  if (!game.black.empty() || !game.white.empty() || game.to_play != kBlack) {
    board.setup(game.black, game.white, {}, game.to_play);
  }
  return board;
}

GameFault check_game(const GameRecord& game, KoRule rule) {
  Board board = start_of(game, rule);
  for (std::size_t i = 0; i < game.moves.size(); ++i) {
    const Colour colour = colour_of(game, i);
    if (!board.try_play(game.moves[i], colour)) return {static_cast<int>(i), board.why_illegal(game.moves[i], colour)};
  }
  return {};
}

std::size_t PlaneFormat::bytes(int size) const {
  return packed ? packed_bytes(size, player_colour) : plane_count(player_colour) * size * size;
}

void replay_planes(const GameRecord& game, const PositionChoice& choice, PlaneFormat format, std::uint8_t* out) {
  check(game, choice);
  Board board = start_of(game, KoRule::kSimple);
  const std::size_t bytes = format.bytes(game.size);
  std::size_t wanted = 0;
  for (std::size_t ply = 0; wanted < choice.plies.size(); ++ply) {
    if (choice.plies[wanted] == static_cast<int>(ply)) {
      if (ply < game.moves.size()) board.set_to_play(colour_of(game, ply)); // records do not always alternate
      const Features features(board);
      for (; wanted < choice.plies.size() && choice.plies[wanted] == static_cast<int>(ply); ++wanted, out += bytes) {
        if (format.packed) {
          features.write_packed(format.player_colour, choice.symmetries[wanted], out);
        } else {
          features.write(format.player_colour, choice.symmetries[wanted], out);
        }
      }
    }
    if (wanted < choice.plies.size()) board.play(game.moves[ply], colour_of(game, ply));
  }
}

} // namespace go
