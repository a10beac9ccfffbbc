// Replies remembered from the search tree for the rollouts: the generalised last-good-reply table (Methods: rollout
// policy).
//
// The tree stores the most probable move of every step it descends through, with its context: the 3x3 around the
// previous move and the 3x3 around the move itself, each with colours, liberties (1, 2, >= 3) and sizes of chains (1,
// 2,
// >= 3 stones). A rollout that meets the context of a previous move looks up the reply, and takes it when the context
// around the reply is the same too. Slots are single words, so that many threads may read and write without locks; a
// newer reply takes the place of an older one.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "pattern_board.hpp"
#include "position.hpp"

namespace go {

inline constexpr double kReplyProbability = 0.9; // with which a rollout of the search takes a reply that fits

class ReplyTable {
public:
  static constexpr int kDefaultBits = 13; // small enough to stay in a near cache

  explicit ReplyTable(int bits = kDefaultBits); // 2^bits slots; throws std::invalid_argument out of 4..30
  ReplyTable(const ReplyTable&) = delete;
  ReplyTable& operator=(const ReplyTable&) = delete;
  void clear();

  // `previous` is the move just played, `move` the reply of `mover`; both are points on the board.
  void store(const Position& position, Colour mover, Point previous, Point move);
  void store(const PatternBoard& board, Colour mover, Point previous, Point move);
  // The reply to `previous` if both contexts match, else kNoPoint. It may break the ko rule: the caller checks.
  Point find(const PatternBoard& board, Colour mover, Point previous) const;

private:
  template <typename BoardView> void store_reply(const BoardView& board, Colour mover, Point previous, Point move);
  std::atomic<std::uint64_t>& slot(std::uint64_t context);
  const std::atomic<std::uint64_t>& slot(std::uint64_t context) const;

  std::vector<std::atomic<std::uint64_t>> slots_; // 0: free
  int shift_;
};

// A hash of what the table sees around a point; equal for a Position and a PatternBoard of the same stones.
std::uint64_t reply_context(const Position& position, Point centre, Colour mover);
std::uint64_t reply_context(const PatternBoard& board, Point centre, Colour mover);

} // namespace go
