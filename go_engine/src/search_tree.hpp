// The tree of the search: nodes, edges with the paper's statistics, and the choice of an edge.
//
// A node has an entry (move, prior) for every move that may be tried, most probable first; statistics exist only for
// the edges that have been tried ("opened"), always a prefix of that order but for moves that overtook it when the
// network's priors came. A node of 361 moves therefore costs 1.5 kB and 24 bytes for every opened edge.
//
// Statistics are updated without locks: N_r and W_r share one 64-bit word, N_v and W_v another (W_v in fixed point), so
// that a reader always sees a count together with its sum, and sums do not depend on the order of the threads. A small
// lock per node guards what happens rarely: opening an edge and exchanging the priors.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "geometry.hpp"
#include "search_arena.hpp"

namespace go {

// A probability in 16 bits: the middle bits of a float (exponent and 9 bits of the fraction), 0.1% precise.
constexpr int kPriorShift = 14;
inline std::uint16_t encode_prior(float p) {
  const auto bits = std::bit_cast<std::uint32_t>(p < 0 ? 0.0F : p > 1 ? 1.0F : p);
  return static_cast<std::uint16_t>((bits + (1U << (kPriorShift - 1))) >> kPriorShift);
}
inline float decode_prior(std::uint16_t code) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(code) << kPriorShift);
}

// What an edge holds: counts and sums of rollouts and of values, seen by the player who chooses the edge.
struct EdgeCounts {
  std::int32_t rollouts = 0; // N_r
  float wins = 0;            // W_r, wins minus losses
  std::int32_t values = 0;   // N_v
  float value_sum = 0;       // W_v
};

struct Edge {
  explicit Edge(std::uint16_t move_number, std::uint16_t prior_code) : prior(prior_code), move_flag(move_number) {}

  std::atomic<std::uint64_t> rollout_word{0};
  std::atomic<std::uint64_t> value_word{0};
  std::atomic<Ref> child{0};
  std::atomic<std::uint16_t> prior;
  std::atomic<std::uint16_t> move_flag; // the move, and whether the value of its position has been asked for

  static constexpr std::uint16_t kValueAsked = 1U << 15;
  static constexpr Ref kClaimed = 0xffffffff; // a thread is making the child

  int move() const { return move_flag.load(std::memory_order_relaxed) & (kValueAsked - 1); }
  bool ask_value() { // true for the first who asks
    return !(move_flag.fetch_or(kValueAsked, std::memory_order_relaxed) & kValueAsked);
  }
  void forget_value() { move_flag.fetch_and(kValueAsked - 1, std::memory_order_relaxed); }

  void add_rollouts(int count, double wins) {
    rollout_word.fetch_add(pack<kWins>(count, wins), std::memory_order_relaxed);
  }
  void add_value(double value) { value_word.fetch_add(pack<kValues>(1, value), std::memory_order_relaxed); }
  EdgeCounts counts() const {
    EdgeCounts counts;
    unpack<kWins>(rollout_word.load(std::memory_order_relaxed), counts.rollouts, counts.wins);
    unpack<kValues>(value_word.load(std::memory_order_relaxed), counts.values, counts.value_sum);
    return counts;
  }

private:
  struct Layout {
    int sum_bits; // of the word; the count has the rest
    double unit;  // steps of the sum in 1
  };
  static constexpr Layout kWins{32, 1};      // rollouts, each -1, 0 or 1
  static constexpr Layout kValues{39, 8192}; // up to 2^25 values

  template <Layout layout> static std::uint64_t pack(int count, double sum) {
    const auto fixed = static_cast<std::int64_t>(std::lround(sum * layout.unit));
    return (static_cast<std::uint64_t>(std::int64_t{count}) << layout.sum_bits) + static_cast<std::uint64_t>(fixed);
  }
  template <Layout layout> static void unpack(std::uint64_t word, std::int32_t& count, float& sum) {
    const std::int64_t fixed = static_cast<std::int64_t>(word << (64 - layout.sum_bits)) >> (64 - layout.sum_bits);
    count = static_cast<std::int32_t>((word - static_cast<std::uint64_t>(fixed)) >> layout.sum_bits);
    sum = static_cast<float>(fixed) * static_cast<float>(1 / layout.unit);
  }
};
static_assert(sizeof(Edge) == 24);

enum class PolicyState : std::uint8_t { kUnasked, kPending, kAnswered };

struct PriorEntry {
  std::uint16_t move;
  std::uint16_t prior;
};

struct Node {
  static constexpr int kFirstBlock = 4; // edges in the first block; each further one is twice as long
  static constexpr int kBlocks = 7;

  std::atomic<std::uint32_t> visits{0}; // sum of N_r over the edges
  std::atomic<Ref> entries{0};          // PriorEntry[count], most probable first
  Ref placeholder = 0;                  // the entries that the node was born with
  std::array<std::atomic<Ref>, kBlocks> blocks{};
  std::array<std::uint64_t, (kMaxMoves + 64) / 64> opened_moves{}; // under the lock
  std::atomic<std::uint16_t> opened{0};
  std::atomic<std::uint16_t> candidate{0}; // prior of the next edge to open
  std::uint16_t count = 0;
  std::uint16_t next = 0; // under the lock: where to look for the next edge to open
  std::atomic<bool> locked{false};
  std::atomic<PolicyState> policy{PolicyState::kUnasked};
};

// How an edge is chosen: argmax of Q + c_puct P sqrt(sum N_r) / (1 + N_r).
struct SelectionRule {
  float c_puct = 5;
  float mixing = 0.5; // lambda: 0 values alone, 1 rollouts alone

  // Q mixes the two averages, each with its own count. While one of them is missing the other stands alone.
  float value(const EdgeCounts& c) const {
    const float rollouts = c.rollouts > 0 ? c.wins / static_cast<float>(c.rollouts) : 0;
    if (mixing >= 1) return rollouts;
    if (c.values == 0) return mixing > 0 ? rollouts : 0;
    const float values = c.value_sum / static_cast<float>(c.values);
    if (mixing <= 0 || c.rollouts <= 0) return values;
    return (1 - mixing) * values + mixing * rollouts;
  }
};

struct PriorList { // a node in the making
  std::vector<std::uint16_t> moves;
  std::vector<float> priors;
};

class Tree {
public:
  explicit Tree(std::size_t capacity_bytes) : arena_(capacity_bytes) {}

  // Makes a node of these moves; equal priors keep their order. Returns 0 when the memory is used up.
  Ref create(Arena::Cursor& cursor, const PriorList& list);
  // Exchanges the priors of all moves, opened or not. Does nothing when the memory is used up.
  bool replace_priors(Arena::Cursor& cursor, Node& node, const PriorList& list);
  // The edge to follow, opened if it is new; null only when none is open and the memory is used up.
  Edge* select(Arena::Cursor& cursor, Node& node, const SelectionRule& rule);
  // Copies what hangs below a node of another tree, without its unanswered requests. Returns 0 when it does not fit.
  Ref copy(Arena::Cursor& cursor, const Tree& other, Ref root);

  Node& node(Ref ref) const { return *arena_.at<Node>(ref); }
  Edge& edge(const Node& node, int i) const;
  PriorEntry* entries(Ref ref) const { return arena_.at<PriorEntry>(ref); }
  Edge* find(const Node& node, int move) const; // an opened edge, or null

  std::size_t nodes() const { return nodes_.load(std::memory_order_relaxed); }
  const Arena& arena() const { return arena_; }

private:
  Ref store_entries(Arena::Cursor& cursor, const PriorList& list);
  Edge* open(Arena::Cursor& cursor, Node& node);
  Edge* add_edge(Arena::Cursor& cursor, Node& node, PriorEntry entry);
  Ref copy_node(Arena::Cursor& cursor, const Tree& other, const Node& from);
  void advance_candidate(Node& node) const;

  Arena arena_;
  std::atomic<std::size_t> nodes_{0};
};

inline Edge& Tree::edge(const Node& node, int i) const {
  const int block = std::bit_width(static_cast<unsigned>(i / Node::kFirstBlock + 1)) - 1;
  const int first = Node::kFirstBlock * ((1 << block) - 1);
  return arena_.at<Edge>(node.blocks[block].load(std::memory_order_relaxed))[i - first];
}

} // namespace go
