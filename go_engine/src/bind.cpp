// The Python face of the core, all of it in this one file: convert, release the interpreter lock, call.
// It is long because the whole surface is here; each part of the core has one bind_* function.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "board.hpp"
#include "rollout.hpp"
#include "rollout_policy.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

// Hands a vector's memory to numpy without a copy.
template <typename T, std::size_t D>
nb::ndarray<nb::numpy, T, nb::ndim<D>> to_numpy(std::vector<T>&& values, const std::array<std::size_t, D>& shape) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<D>>(owned->data(), D, shape.data(), owner);
}

nb::ndarray<nb::numpy, bool, nb::ndim<1>> to_mask(const std::vector<std::uint8_t>& values) {
  auto* owned = new bool[values.size()];
  std::copy(values.begin(), values.end(), owned);
  nb::capsule owner(owned, [](void* p) noexcept { delete[] static_cast<bool*>(p); });
  const std::size_t shape[1] = {values.size()};
  return nb::ndarray<nb::numpy, bool, nb::ndim<1>>(owned, 1, shape, owner);
}

go::Colour parse_colour(int sign) {
  if (sign != 1 && sign != -1)
    throw std::invalid_argument("colour " + std::to_string(sign) + " is neither BLACK (1) nor WHITE (-1)");
  return go::from_sign(sign);
}

// ---------------------------------------------------------------------------------------------------------- board

nb::ndarray<nb::numpy, bool, nb::ndim<1>> legal_mask(const go::Board& board) {
  const auto& g = board.geometry();
  std::vector<std::uint8_t> mask(g.moves + 1, 1);
  for (int move = 0; move < g.moves; ++move) mask[move] = board.legal_point(g.point_of[move], board.to_play());
  return to_mask(mask);
}

nb::ndarray<nb::numpy, bool, nb::ndim<1>> sensible_mask(const go::Board& board) {
  const auto& g = board.geometry();
  std::vector<std::uint8_t> mask(g.moves);
  for (int move = 0; move < g.moves; ++move) mask[move] = board.sensible_point(g.point_of[move], board.to_play());
  return to_mask(mask);
}

nb::ndarray<nb::numpy, std::int8_t, nb::ndim<2>> grid(const go::Board& board) {
  const auto& g = board.geometry();
  std::vector<std::int8_t> signs(g.moves);
  for (int move = 0; move < g.moves; ++move) {
    signs[move] = static_cast<std::int8_t>(go::to_sign(board.position().colour(g.point_of[move])));
  }
  const std::size_t n = g.size;
  return to_numpy<std::int8_t, 2>(std::move(signs), {n, n});
}

nb::ndarray<nb::numpy, std::int16_t, nb::ndim<2>> liberties(const go::Board& board) {
  const auto& g = board.geometry();
  const go::Position& position = board.position();
  std::vector<std::int16_t> counts(g.moves);
  for (int move = 0; move < g.moves; ++move) {
    const go::Point p = g.point_of[move];
    if (position.colour(p) == go::kEmpty) continue;
    const go::Point name = position.chain_id(p);
    counts[move] = name == p ? static_cast<std::int16_t>(position.liberties(p, g.moves, nullptr)) : std::int16_t{0};
  }
  for (int move = 0; move < g.moves; ++move) {
    const go::Point p = g.point_of[move];
    if (position.colour(p) != go::kEmpty) counts[move] = counts[g.move_of[position.chain_id(p)]];
  }
  const std::size_t n = g.size;
  return to_numpy<std::int16_t, 2>(std::move(counts), {n, n});
}

void bind_board(nb::module_& m) {
  nb::exception<go::IllegalMove>(m, "IllegalMoveError", PyExc_ValueError);
  nb::class_<go::Board>(m, "Board", "A game in progress: stones, whose turn it is, history for the ko rule, komi.")
      .def(
          "__init__",
          [](go::Board* self, int size, double komi, const std::string& ko_rule) {
            new (self) go::Board(size, komi, go::parse_ko_rule(ko_rule));
          },
          "size"_a = 19, "komi"_a = 7.5, "ko_rule"_a = "positional")
      .def_prop_ro("size", &go::Board::size)
      .def_prop_rw("komi", &go::Board::komi, &go::Board::set_komi)
      .def_prop_ro("ko_rule", [](const go::Board& b) { return go::to_string(b.ko_rule()); })
      .def_prop_rw(
          "to_play", [](const go::Board& b) { return go::to_sign(b.to_play()); },
          [](go::Board& b, int colour) { b.set_to_play(parse_colour(colour)); })
      .def_prop_ro("move_number", &go::Board::move_number)
      .def_prop_ro("pass_move", &go::Board::pass_move)
      .def_prop_ro("is_over", &go::Board::over, "True after two passes in a row.")
      .def_prop_ro("last_move",
                   [](const go::Board& b) { return b.last_move() < 0 ? std::nullopt : std::optional(b.last_move()); })
      .def(
          "play",
          [](go::Board& b, int move, std::optional<int> colour) {
            return b.play(move, colour ? parse_colour(*colour) : b.to_play());
          },
          "move"_a, "colour"_a = nb::none(),
          "Plays a move (row * size + col, size * size passes); returns the number of stones captured. Raises "
          "IllegalMoveError.")
      .def(
          "is_legal", [](const go::Board& b, int move) { return b.legal(move, b.to_play()); }, "move"_a)
      .def("legal_mask", &legal_mask, "bool[size * size + 1]: the legal moves of to_play, pass last (always legal).")
      .def("sensible_mask", &sensible_mask, "bool[size * size]: legal moves that do not fill an own eye.")
      .def(
          "setup",
          [](go::Board& b, const std::vector<int>& black, const std::vector<int>& white, int to_play,
             const std::vector<int>& empty) { b.setup(black, white, empty, parse_colour(to_play)); },
          "black"_a = std::vector<int>{}, "white"_a = std::vector<int>{}, "to_play"_a = 1,
          "empty"_a = std::vector<int>{},
          "Adds and removes stones (handicap, AB/AW/AE); the resulting position is the first of the game.")
      .def("grid", &grid, "int8[size, size]: BLACK, WHITE, EMPTY.")
      .def("liberties", &liberties, "int16[size, size]: liberties of the chain on each point, 0 if empty.")
      .def_prop_ro("ko_point",
                   [](const go::Board& b) -> std::optional<int> {
                     if (b.position().ko() == go::kNoPoint) return std::nullopt;
                     return b.geometry().move_of[b.position().ko()];
                   })
      .def_prop_ro("hash", &go::Board::hash, "64-bit Zobrist hash of the stones.")
      .def("copy", [](const go::Board& b) { return go::Board(b); })
      .def("__copy__", [](const go::Board& b) { return go::Board(b); })
      .def(
          "__deepcopy__", [](const go::Board& b, nb::handle) { return go::Board(b); }, "memo"_a)
      .def("__str__", &go::Board::to_string)
      .def_static(
          "from_text",
          [](const std::string& diagram, double komi, const std::string& ko_rule) {
            return go::Board::from_text(diagram, komi, go::parse_ko_rule(ko_rule));
          },
          "diagram"_a, "komi"_a = 7.5, "ko_rule"_a = "positional", "Reads rows of X, O and . (spaces are skipped).")
      .def("area_score", &go::Board::area_score, "Black's area - White's - komi, every stone alive as it stands.");
  m.def("vertex", &go::vertex, "move"_a, "size"_a, "GTP's name of a move, e.g. 'E5' or 'pass'.");
}

// -------------------------------------------------------------------------------------------------------- rollouts

template <typename T> using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename T> std::vector<T> tensor(const nb::dict& tensors, const std::string& name) {
  if (!tensors.contains(name.c_str())) throw std::invalid_argument("tensor '" + name + "' is missing");
  const auto values = nb::cast<Vector<T>>(tensors[name.c_str()]);
  return {values.data(), values.data() + values.size()};
}

go::PatternWeights pattern_weights(const nb::dict& tensors, const std::string& name) {
  return {tensor<std::uint64_t>(tensors, name + ".keys"), tensor<float>(tensors, name + ".weights")};
}

template <std::size_t N> std::array<float, N> fixed_weights(const nb::dict& tensors, const std::string& name) {
  const auto values = tensor<float>(tensors, name);
  if (values.size() != N) {
    throw std::invalid_argument("tensor '" + name + "' has " + std::to_string(values.size()) + " weights, not " +
                                std::to_string(N));
  }
  std::array<float, N> result{};
  std::copy(values.begin(), values.end(), result.begin());
  return result;
}

go::RolloutWeights rollout_weights(bool tree, const nb::dict& tensors) {
  go::RolloutWeights w;
  w.tree = tree;
  w.response = fixed_weights<1>(tensors, "response")[0];
  w.save_atari = fixed_weights<1>(tensors, "save_atari")[0];
  w.neighbour = fixed_weights<go::kNeighbourFeatures>(tensors, "neighbour");
  w.nakade = pattern_weights(tensors, "nakade");
  w.response_pattern = pattern_weights(tensors, "response_pattern");
  w.pattern = pattern_weights(tensors, "pattern");
  if (tree) {
    w.self_atari = fixed_weights<1>(tensors, "self_atari")[0];
    w.distance = fixed_weights<go::kDistanceFeatures>(tensors, "distance");
    w.diamond = pattern_weights(tensors, "diamond");
  }
  return w;
}

nb::dict rollout_tensors(const go::RolloutWeights& w) {
  nb::dict tensors;
  auto fixed = [&](const char* name, const float* values, std::size_t n) {
    tensors[name] = to_numpy<float, 1>(std::vector<float>(values, values + n), {n});
  };
  auto patterns = [&](const std::string& name, const go::PatternWeights& table) {
    tensors[(name + ".keys").c_str()] = to_numpy<std::uint64_t, 1>(std::vector(table.keys), {table.size()});
    tensors[(name + ".weights").c_str()] = to_numpy<float, 1>(std::vector(table.weights), {table.size()});
  };
  fixed("response", &w.response, 1);
  fixed("save_atari", &w.save_atari, 1);
  fixed("neighbour", w.neighbour.data(), w.neighbour.size());
  patterns("nakade", w.nakade);
  patterns("response_pattern", w.response_pattern);
  patterns("pattern", w.pattern);
  if (w.tree) {
    fixed("self_atari", &w.self_atari, 1);
    fixed("distance", w.distance.data(), w.distance.size());
    patterns("diamond", w.diamond);
  }
  return tensors;
}

nb::tuple playout_arrays(const std::vector<go::PlayoutResult>& results) {
  std::vector<std::int8_t> winners;
  std::vector<std::int32_t> moves;
  for (const auto& result : results) {
    winners.push_back(static_cast<std::int8_t>(result.winner));
    moves.push_back(result.moves);
  }
  const std::size_t n = results.size();
  return nb::make_tuple(to_numpy<std::int8_t, 1>(std::move(winners), {n}),
                        to_numpy<std::int32_t, 1>(std::move(moves), {n}));
}

const char* feature_name(go::Feature kind) {
  switch (kind) {
  case go::Feature::kSaveAtari: return "save_atari";
  case go::Feature::kNeighbour: return "neighbour";
  case go::Feature::kNakade: return "nakade";
  case go::Feature::kResponsePattern: return "response_pattern";
  case go::Feature::kPattern: return "pattern";
  case go::Feature::kSelfAtari: return "self_atari";
  case go::Feature::kDistance: return "distance";
  case go::Feature::kDiamond: return "diamond";
  }
  return "";
}

std::vector<std::pair<std::string, std::uint64_t>> rollout_features(const go::Board& board, int move, bool tree) {
  if (move == board.pass_move() || !board.legal(move, board.to_play())) {
    throw go::IllegalMove("no features: " + go::vertex(move, board.size()) + " is not a legal point to play");
  }
  std::vector<go::FeatureKey> features;
  go::BoardFeatures(board).collect(board.geometry().point_of[move], tree, features);
  std::vector<std::pair<std::string, std::uint64_t>> named;
  for (const auto& [kind, key] : features) named.emplace_back(feature_name(kind), key);
  return named;
}

void bind_rollout_policy(nb::module_& m) {
  nb::class_<go::RolloutPolicy>(m, "RolloutPolicy", "Linear softmax over pattern features (ED Table 4).")
      .def(
          "__init__",
          [](go::RolloutPolicy* self, bool tree, const nb::dict& tensors) {
            new (self) go::RolloutPolicy(rollout_weights(tree, tensors));
          },
          "tree"_a, "tensors"_a,
          "tree: with the tree policy's features; tensors: name -> uint64 pattern keys (ascending) or float32 weights.")
      .def_prop_ro("tree", &go::RolloutPolicy::tree)
      .def("tensors", [](const go::RolloutPolicy& p) { return rollout_tensors(p.weights()); })
      .def(
          "probabilities",
          [](const go::RolloutPolicy& policy, const go::Board& board, bool slow) {
            std::vector<float> out(static_cast<std::size_t>(board.geometry().moves));
            if (slow) {
              policy.slow_probabilities(board, out.data());
            } else {
              policy.probabilities(board, out.data());
            }
            const std::size_t n = out.size();
            return to_numpy<float, 1>(std::move(out), {n});
          },
          "board"_a, "slow"_a = false,
          "float32[size * size]: probability of each sensible move of board.to_play, 0 elsewhere; all 0 when there is "
          "none. slow: straight from the definition of the features.")
      .def(
          "playouts",
          [](const go::RolloutPolicy& policy, const go::Board& board, int n, std::uint64_t seed, int threads) {
            std::vector<go::PlayoutResult> results;
            {
              nb::gil_scoped_release release;
              results = go::rollout_playouts(policy, board, n, seed, threads);
            }
            return playout_arrays(results);
          },
          "board"_a, "n"_a, "seed"_a, "threads"_a = 1,
          "Plays n games from the board to the end; (winners int8[n], moves int32[n]). Seeded per playout: the same "
          "for "
          "any number of threads.");
  m.def("rollout_features", &rollout_features, "board"_a, "move"_a, "tree"_a = false,
        "The features of a legal move as (kind, index or pattern key), from their definition.");
  m.def("canonical_pattern", &go::canonical, "key"_a, "The smallest of a pattern key's eight symmetric forms.");
}

} // namespace

NB_MODULE(_core, m) {
  m.doc() = "C++ core of go_engine";
  m.attr("BLACK") = 1;
  m.attr("WHITE") = -1;
  m.attr("EMPTY") = 0;
  bind_board(m);
  bind_rollout_policy(m);
}
