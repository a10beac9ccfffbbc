#include "reply_table.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "random.hpp"

namespace go {
namespace {

constexpr int kMinBits = 4;
constexpr int kMaxBits = 30;
constexpr int kMoveBits = 9; // a point: below 512
constexpr int kTagBits = 27; // of the previous move's context; the remaining 28 bits are of the reply's
constexpr int kReplyBits = 64 - kMoveBits - kTagBits;
static_assert(kMaxPoints <= 1 << kMoveBits);

int liberty_class(const Position& position, Point p) { return position.liberties(p, kLibertyClasses, nullptr); }
int liberty_class(const PatternBoard& board, Point p) { return std::min(board.liberties(p), kLibertyClasses); }
int stone_class(const Position& position, Point p) { return std::min<int>(position.chain(p).stones, kLibertyClasses); }
int stone_class(const PatternBoard& board, Point p) { return std::min(board.stones(p), kLibertyClasses); }

template <typename BoardView> std::uint64_t context_of(const BoardView& board, Point centre, Colour mover) {
  const auto& around = PatternGeometry::of(board.geometry().size).around[centre];
  std::uint64_t key = 0;
  auto add = [&](Point p) {
    const Colour colour = p == kNoPoint ? kWall : board.colour(p);
    const bool stone = colour == kBlack || colour == kWhite;
    key = key << kCodeBits | point_code(colour, stone ? liberty_class(board, p) : 0);
    key = key << 2 | static_cast<std::uint64_t>(stone ? stone_class(board, p) : 0);
  };
  add(centre);
  for (int i = 0; i < kRingPoints; ++i) add(around[i]);
  return mix(key ^ mix((static_cast<std::uint64_t>(centre) << 1) | (mover == kBlack)));
}

// A slot: the tag of the previous move's context (never 0), the tag of the reply's context, the reply.
std::uint64_t pack(std::uint64_t previous, std::uint64_t reply, Point move) {
  const std::uint64_t tag = (previous & ((std::uint64_t{1} << kTagBits) - 1)) | 1;
  const std::uint64_t reply_tag = reply & ((std::uint64_t{1} << kReplyBits) - 1);
  return tag << (64 - kTagBits) | reply_tag << kMoveBits | move;
}

} // namespace

std::uint64_t reply_context(const Position& position, Point centre, Colour mover) {
  return context_of(position, centre, mover);
}
std::uint64_t reply_context(const PatternBoard& board, Point centre, Colour mover) {
  return context_of(board, centre, mover);
}

ReplyTable::ReplyTable(int bits) {
  if (bits < kMinBits || bits > kMaxBits) {
    throw std::invalid_argument("a reply table of 2^" + std::to_string(bits) + " slots: the power is not in " +
                                std::to_string(kMinBits) + ".." + std::to_string(kMaxBits));
  }
  slots_ = std::vector<std::atomic<std::uint64_t>>(std::size_t{1} << bits);
  shift_ = 64 - bits;
}

void ReplyTable::clear() {
  for (auto& one : slots_) one.store(0, std::memory_order_relaxed);
}

std::atomic<std::uint64_t>& ReplyTable::slot(std::uint64_t context) { return slots_[context >> shift_]; }
const std::atomic<std::uint64_t>& ReplyTable::slot(std::uint64_t context) const { return slots_[context >> shift_]; }

template <typename BoardView>
void ReplyTable::store_reply(const BoardView& board, Colour mover, Point previous, Point move) {
  const std::uint64_t context = context_of(board, previous, mover);
  slot(context).store(pack(context, context_of(board, move, mover), move), std::memory_order_relaxed);
}

void ReplyTable::store(const Position& position, Colour mover, Point previous, Point move) {
  store_reply(position, mover, previous, move);
}
void ReplyTable::store(const PatternBoard& board, Colour mover, Point previous, Point move) {
  store_reply(board, mover, previous, move);
}

Point ReplyTable::find(const PatternBoard& board, Colour mover, Point previous) const {
  const std::uint64_t context = context_of(board, previous, mover);
  const std::uint64_t word = slot(context).load(std::memory_order_relaxed);
  const auto move = static_cast<Point>(word & ((1U << kMoveBits) - 1));
  if (word == 0 || move >= board.geometry().points || board.geometry().move_of[move] < 0) return kNoPoint;
  if (board.colour(move) != kEmpty) return kNoPoint;
  return pack(context, context_of(board, move, mover), move) == word ? move : kNoPoint;
}

} // namespace go
