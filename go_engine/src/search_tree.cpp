#include "search_tree.hpp"

#include <algorithm>
#include <new>
#include <numeric>
#include <utility>

namespace go {
namespace {

class NodeLock {
public:
  explicit NodeLock(Node& node) : node_(node) {
    while (node_.locked.exchange(true, std::memory_order_acquire)) {
    }
  }
  ~NodeLock() { node_.locked.store(false, std::memory_order_release); }
  NodeLock(const NodeLock&) = delete;
  NodeLock& operator=(const NodeLock&) = delete;

private:
  Node& node_;
};

bool is_open(const Node& node, int move) { return node.opened_moves[move / 64] >> (move % 64) & 1; }

} // namespace

Ref Tree::store_entries(Arena::Cursor& cursor, const PriorList& list) {
  const Ref ref = arena_.allocate(cursor, list.moves.size() * sizeof(PriorEntry));
  if (ref == 0) return 0;
  PriorEntry* entry = entries(ref);
  for (std::size_t i = 0; i < list.moves.size(); ++i) entry[i] = {list.moves[i], encode_prior(list.priors[i])};
  const auto by_prior = [](const PriorEntry& a, const PriorEntry& b) { return a.prior > b.prior; };
  if (!std::is_sorted(entry, entry + list.moves.size(), by_prior)) {
    std::stable_sort(entry, entry + list.moves.size(), by_prior);
  }
  return ref;
}

Ref Tree::create(Arena::Cursor& cursor, const PriorList& list) {
  const Ref ref = arena_.allocate(cursor, sizeof(Node));
  if (ref == 0) return 0;
  Node& node = *new (arena_.at<void>(ref)) Node;
  node.placeholder = store_entries(cursor, list);
  if (node.placeholder == 0) return 0;
  node.entries.store(node.placeholder, std::memory_order_relaxed);
  node.count = static_cast<std::uint16_t>(list.moves.size());
  node.candidate.store(entries(node.placeholder)[0].prior, std::memory_order_relaxed);
  nodes_.fetch_add(1, std::memory_order_relaxed);
  return ref;
}

// Finds the most probable move that is not open yet and shows its prior to those who choose.
void Tree::advance_candidate(Node& node) const {
  const PriorEntry* entry = entries(node.entries.load(std::memory_order_relaxed));
  while (node.next < node.count && is_open(node, entry[node.next].move)) ++node.next;
  node.candidate.store(node.next < node.count ? entry[node.next].prior : 0, std::memory_order_relaxed);
}

Edge* Tree::add_edge(Arena::Cursor& cursor, Node& node, PriorEntry entry) {
  const int i = node.opened.load(std::memory_order_relaxed);
  const int block = std::bit_width(static_cast<unsigned>(i / Node::kFirstBlock + 1)) - 1;
  const int first = Node::kFirstBlock * ((1 << block) - 1);
  if (i == first) {
    const int length = std::min(Node::kFirstBlock << block, node.count - first);
    const Ref ref = arena_.allocate(cursor, length * sizeof(Edge));
    if (ref == 0) return nullptr;
    node.blocks[block].store(ref, std::memory_order_relaxed);
  }
  Edge* place = arena_.at<Edge>(node.blocks[block].load(std::memory_order_relaxed)) + (i - first);
  Edge* edge = new (place) Edge(entry.move, entry.prior);
  node.opened_moves[entry.move / 64] |= std::uint64_t{1} << (entry.move % 64);
  node.opened.store(static_cast<std::uint16_t>(i + 1), std::memory_order_release);
  return edge;
}

Edge* Tree::open(Arena::Cursor& cursor, Node& node) {
  const NodeLock lock(node);
  if (node.next >= node.count) return nullptr; // another thread was faster
  const PriorEntry entry = entries(node.entries.load(std::memory_order_relaxed))[node.next];
  Edge* edge = add_edge(cursor, node, entry);
  if (edge != nullptr) advance_candidate(node);
  return edge;
}

Edge* Tree::select(Arena::Cursor& cursor, Node& node, const SelectionRule& rule) {
  const int opened = node.opened.load(std::memory_order_acquire);
  const float scale = rule.c_puct * std::sqrt(static_cast<float>(node.visits.load(std::memory_order_relaxed)));
  Edge* best = nullptr;
  float best_score = 0;
  for (int first = 0, block = 0; first < opened; first += Node::kFirstBlock << block, ++block) {
    Edge* edges = arena_.at<Edge>(node.blocks[block].load(std::memory_order_relaxed));
    const int length = std::min(Node::kFirstBlock << block, opened - first);
    for (int i = 0; i < length; ++i) {
      const EdgeCounts counts = edges[i].counts();
      const float prior = decode_prior(edges[i].prior.load(std::memory_order_relaxed));
      const float score = rule.value(counts) + scale * prior / static_cast<float>(1 + counts.rollouts);
      if (best == nullptr || score > best_score) {
        best = &edges[i];
        best_score = score;
      }
    }
  }
  if (opened < node.count) { // an edge without visits has Q = 0
    const float score = scale * decode_prior(node.candidate.load(std::memory_order_relaxed));
    if (best == nullptr || score > best_score) {
      Edge* fresh = open(cursor, node);
      if (fresh != nullptr) return fresh;
      if (best == nullptr && node.opened.load(std::memory_order_acquire) > 0) return &edge(node, 0);
    }
  }
  return best;
}

bool Tree::replace_priors(Arena::Cursor& cursor, Node& node, const PriorList& list) {
  const Ref ref = store_entries(cursor, list);
  if (ref == 0) return false;
  std::array<std::uint16_t, kMaxMoves + 1> prior{};
  const PriorEntry* entry = entries(ref);
  for (int i = 0; i < node.count; ++i) prior[entry[i].move] = entry[i].prior;
  const NodeLock lock(node);
  node.entries.store(ref, std::memory_order_release);
  const int opened = node.opened.load(std::memory_order_relaxed);
  for (int i = 0; i < opened; ++i) {
    Edge& e = edge(node, i);
    e.prior.store(prior[e.move()], std::memory_order_relaxed);
  }
  node.next = 0;
  advance_candidate(node);
  return true;
}

Edge* Tree::find(const Node& node, int move) const {
  const int opened = node.opened.load(std::memory_order_acquire);
  for (int i = 0; i < opened; ++i) {
    Edge& e = edge(node, i);
    if (e.move() == move) return &e;
  }
  return nullptr;
}

// One node with its edges, whose children the caller fills in.
Ref Tree::copy_node(Arena::Cursor& cursor, const Tree& other, const Node& from) {
  auto copy_entries = [&](Ref source) {
    const Ref ref = arena_.allocate(cursor, from.count * sizeof(PriorEntry));
    if (ref != 0) std::copy_n(other.entries(source), from.count, entries(ref));
    return ref;
  };
  const Ref ref = arena_.allocate(cursor, sizeof(Node));
  if (ref == 0) return 0;
  Node& node = *new (arena_.at<void>(ref)) Node;
  const Ref current = from.entries.load(std::memory_order_relaxed);
  node.placeholder = copy_entries(from.placeholder);
  node.entries = current == from.placeholder ? node.placeholder : copy_entries(current);
  node.count = from.count;
  if (node.placeholder == 0 || node.entries == 0) return 0;
  node.visits = from.visits.load(std::memory_order_relaxed);
  const bool answered = from.policy.load(std::memory_order_relaxed) == PolicyState::kAnswered;
  node.policy = answered ? PolicyState::kAnswered : PolicyState::kUnasked;
  for (int i = 0; i < from.opened.load(std::memory_order_relaxed); ++i) {
    const Edge& source = other.edge(from, i);
    const PriorEntry entry{static_cast<std::uint16_t>(source.move()), source.prior.load(std::memory_order_relaxed)};
    Edge* edge = add_edge(cursor, node, entry);
    if (edge == nullptr) return 0;
    edge->rollout_word = source.rollout_word.load(std::memory_order_relaxed);
    edge->value_word = source.value_word.load(std::memory_order_relaxed);
    edge->move_flag = source.move_flag.load(std::memory_order_relaxed);
  }
  advance_candidate(node);
  nodes_.fetch_add(1, std::memory_order_relaxed);
  return ref;
}

Ref Tree::copy(Arena::Cursor& cursor, const Tree& other, Ref root) {
  const Ref copied = copy_node(cursor, other, other.node(root));
  std::vector<std::pair<Ref, Ref>> open{{root, copied}};
  while (!open.empty() && copied != 0) {
    const auto [source_ref, target_ref] = open.back();
    open.pop_back();
    const Node& source = other.node(source_ref);
    const Node& target = node(target_ref);
    for (int i = 0; i < source.opened.load(std::memory_order_relaxed); ++i) {
      const Ref child = other.edge(source, i).child.load(std::memory_order_relaxed);
      if (child == 0 || child == Edge::kClaimed) continue;
      const Ref ref = copy_node(cursor, other, other.node(child));
      edge(target, i).child = ref; // 0 when the memory is used up: the edge is a leaf again
      if (ref != 0) open.emplace_back(child, ref);
    }
  }
  return copied;
}

} // namespace go
