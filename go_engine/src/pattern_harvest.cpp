#include "pattern_harvest.hpp"

#include <algorithm>
#include <bit>
#include <mutex>

#include "pattern_table.hpp"
#include "threads.hpp"
#include "training_state.hpp"

namespace go {
namespace {

struct Counts {
  std::uint32_t played = 0;
  std::uint32_t seen = 0;
};

class Counter {
public:
  void played(PatternKey key) { ++table_.insert(key, {}).played; }
  void seen(PatternKey key) { ++table_.insert(key, {}).seen; }
  void add(const Counter& other) {
    other.table_.for_each([&](PatternKey key, const Counts& counts) {
      Counts& mine = table_.insert(key, {});
      mine.played += counts.played;
      mine.seen += counts.seen;
    });
  }
  // By canonical key; the counted keys are as on the board, or canonical already.
  template <typename F> std::vector<PatternCount> sorted(F&& canonical_of) const {
    Counter merged;
    table_.for_each([&](PatternKey key, const Counts& counts) {
      Counts& mine = merged.table_.insert(canonical_of(key), {});
      mine.played += counts.played;
      mine.seen += counts.seen;
    });
    std::vector<PatternCount> result;
    merged.table_.for_each(
        [&](PatternKey key, const Counts& counts) { result.push_back({key, counts.played, counts.seen}); });
    std::ranges::sort(result, {}, &PatternCount::key);
    return result;
  }

private:
  PatternTable<PatternKey, Counts> table_;
};

struct Counters {
  std::uint64_t positions = 0;
  Counter nakade, response_pattern, pattern, diamond;

  void add(const Counters& other) {
    positions += other.positions;
    nakade.add(other.nakade);
    response_pattern.add(other.response_pattern);
    pattern.add(other.pattern);
    diamond.add(other.diamond);
  }
};

} // namespace

// Follows one game. A ring is seen when it comes up, not again at every move for which it stays.
class Harvester {
public:
  Harvester(Counters& counters, bool tree) : counters_(counters), tree_(tree) {}

  void follow(const FeatureIndex& none, const GameRecord& game) {
    TrainingState state(none, game);
    while (state.next()) {
      ++counters_.positions;
      const PatternBoard& board = state.board();
      const Colour mover = state.mover();
      const Point move = state.move();
      state.for_each_new_ring([&](std::uint32_t ring) { counters_.pattern.seen(ring); });
      counters_.pattern.played(relative(board.ring(move), mover));
      if (tree_) counters_.diamond.played(canonical(relative(board.diamond(move), mover)));
      if (state.previous() >= 0) count_response(board, mover, move, state.previous());
      const auto taken = board.taken();
      if (std::ranges::find(taken, move) != taken.end()) {
        counters_.nakade.played(nakade_at(move, taken, board.geometry()));
      }
    }
  }

private:
  void count_response(const PatternBoard& board, Colour mover, Point move, int previous) {
    const Geometry& g = board.geometry();
    const Point centre = g.point_of[static_cast<std::size_t>(previous)];
    const auto& around = PatternGeometry::of(g.size).around[centre];
    const auto found = std::ranges::find(around, move);
    if (found == around.end()) return;
    const PatternKey diamond = relative(board.diamond(centre), mover);
    counters_.response_pattern.played(response_key(diamond, static_cast<int>(found - around.begin())));
  }

  Counters& counters_;
  bool tree_;
};

Harvest harvest_patterns(std::span<const GameRecord> games, bool tree, int threads) {
  constexpr int kBlock = 64; // games
  const FeatureIndex none{RolloutWeights{}};
  Counters total;
  std::mutex lock;
  const int share = (static_cast<int>(games.size()) + threads - 1) / std::max(threads, 1);
  parallel_for(static_cast<int>(games.size()), std::max(share, kBlock), threads, [&](int begin, int end) {
    Counters counters;
    Harvester harvester(counters, tree);
    for (int i = begin; i < end; ++i) harvester.follow(none, games[static_cast<std::size_t>(i)]);
    const std::lock_guard guard(lock);
    total.add(counters);
  });
  const auto same = [](PatternKey key) { return key; };
  Harvest result;
  result.positions = total.positions;
  result.nakade = total.nakade.sorted(same);
  result.response_pattern = total.response_pattern.sorted(same);
  result.pattern = total.pattern.sorted([](PatternKey key) { return canonical(key); });
  result.diamond = total.diamond.sorted(same);
  return result;
}

} // namespace go
