// The Python face of the core, all of it in this one file: convert, release the interpreter lock, call.
// It is long because the whole surface is here; each part of the core has one bind_* function.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <mutex>
#include <optional>

#include "board.hpp"
#include "game_batch.hpp"
#include "ladder.hpp"
#include "pattern_harvest.hpp"
#include "planes.hpp"
#include "playout.hpp"
#include "replay.hpp"
#include "rollout.hpp"
#include "rollout_policy.hpp"
#include "rollout_training.hpp"
#include "search.hpp"
#include "search_group.hpp"
#include "symmetry.hpp"
#include "threads.hpp"

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

// --------------------------------------------------------------------------------------------------------- planes

using PlaneArray = nb::ndarray<nb::numpy, std::uint8_t>;

// A fresh numpy array of bytes, not initialised.
PlaneArray new_bytes(std::initializer_list<std::size_t> shape) {
  std::size_t total = 1;
  for (const std::size_t n : shape) total *= n;
  auto* owned = new std::uint8_t[total];
  nb::capsule owner(owned, [](void* p) noexcept { delete[] static_cast<std::uint8_t*>(p); });
  return PlaneArray(owned, shape.size(), shape.begin(), owner);
}

PlaneArray planes(const go::Board& board, bool player_colour) {
  const std::size_t n = board.size();
  PlaneArray out = new_bytes({static_cast<std::size_t>(go::plane_count(player_colour)), n, n});
  go::write_planes(board, player_colour, out.data());
  return out;
}

constexpr nb::dlpack::dtype kBfloat16{static_cast<std::uint8_t>(nb::dlpack::dtype_code::Bfloat), 16, 1};
constexpr std::uint16_t kBfloat16One = 0x3f80;

// The caller's array of planes: bytes, or what a network takes (numpy has no bfloat16, but torch's tensors come as
// well).
using OutArray = nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<4>, nb::c_contig, nb::device::cpu>;
using AnyOut = nb::ndarray<nb::ndim<4>, nb::c_contig, nb::device::cpu>;

void check_shape(const AnyOut& out, const std::array<std::size_t, 4>& shape) {
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (out.shape(i) != shape[i]) {
      throw std::invalid_argument("out has " + std::to_string(out.shape(i)) + " entries along axis " +
                                  std::to_string(i) + ", not " + std::to_string(shape[i]));
    }
  }
}

// Writes the planes of every board, one after the other, as numbers 0 and `one` of type T.
template <typename T>
void write_batch(const std::vector<const go::Board*>& boards, bool player_colour, int threads, T* to, T one) {
  constexpr std::size_t kCopied = 256; // boards copied at a time, so that other Python threads may play on meanwhile
  constexpr int kBlock = 4;
  std::vector<go::Board> copies;
  for (std::size_t begin = 0; begin < boards.size(); begin += kCopied) {
    const std::size_t end = std::min(boards.size(), begin + kCopied);
    copies.clear();
    for (std::size_t i = begin; i < end; ++i) copies.push_back(*boards[i]);
    nb::gil_scoped_release release;
    go::parallel_for(static_cast<int>(copies.size()), kBlock, threads, [&](int first, int last) {
      for (int i = first; i < last; ++i) {
        const std::size_t cells = static_cast<std::size_t>(go::plane_count(player_colour)) * copies[i].pass_move();
        go::Features(copies[i]).write(player_colour, 0, to + (begin + i) * cells, one);
      }
    });
  }
}

nb::object planes_batch(const nb::list& list, nb::object out, int threads, bool player_colour) {
  std::vector<const go::Board*> boards;
  for (const nb::handle item : list) {
    boards.push_back(&nb::cast<const go::Board&>(item));
    if (boards.back()->size() != boards.front()->size()) {
      throw std::invalid_argument("boards of different sizes in one batch");
    }
  }
  const std::size_t size = boards.empty() ? go::kMaxSize : boards.front()->size();
  const std::size_t planes = go::plane_count(player_colour);
  if (out.is_none()) out = nb::cast(new_bytes({boards.size(), planes, size, size}));
  AnyOut array;
  if (!nb::try_cast<AnyOut>(out, array, false))
    throw nb::type_error("out must be a writable C-contiguous array [n, planes, size, size]");
  check_shape(array, {boards.size(), planes, size, size});
  if (array.dtype() == nb::dtype<std::uint8_t>()) {
    write_batch<std::uint8_t>(boards, player_colour, threads, static_cast<std::uint8_t*>(array.data()), 1);
  } else if (array.dtype() == nb::dtype<float>()) {
    write_batch<float>(boards, player_colour, threads, static_cast<float*>(array.data()), 1.0F);
  } else if (array.dtype() == kBfloat16) {
    write_batch<std::uint16_t>(boards, player_colour, threads, static_cast<std::uint16_t*>(array.data()), kBfloat16One);
  } else {
    throw nb::type_error("out must be of uint8, float32 or bfloat16");
  }
  return out;
}

// Does the move, legal for to_play, catch the enemy chain (of two liberties) or save the own one (of one)?
std::pair<bool, int> read_ladder(const go::Board& board, int move, int target, int max_nodes) {
  const go::Geometry& g = board.geometry();
  const go::Position& position = board.position();
  if (target < 0 || target >= g.moves || position.colour(g.point_of[target]) == go::kEmpty) {
    throw std::invalid_argument("target " + go::vertex(target, g.size) + " is no stone");
  }
  if (move < 0 || move >= g.moves || !board.legal(move, board.to_play())) {
    throw std::invalid_argument("move " + go::vertex(move, g.size) + " is not legal");
  }
  const go::Point p = g.point_of[move];
  const go::Point chain = g.point_of[target];
  const bool own = position.colour(chain) == board.to_play();
  const int wanted = own ? 1 : 2;
  if (position.liberties(chain, 3, nullptr) != wanted) {
    throw std::invalid_argument("the chain at " + go::vertex(target, g.size) + " has not " + std::to_string(wanted) +
                                (own ? " liberty" : " liberties"));
  }
  go::LadderReader reader(position, max_nodes);
  const bool works = own ? reader.escapes(p, chain) : reader.captures(p, chain);
  return {works, reader.nodes()};
}

void bind_planes(nb::module_& m) {
  m.attr("LADDER_NODES") = go::kLadderNodes;
  m.def("read_ladder", &read_ladder, "board"_a, "move"_a, "target"_a, "max_nodes"_a = go::kLadderNodes,
        "Does a legal move of to_play catch the enemy chain of two liberties at `target` in a ladder, or save the own "
        "chain of one liberty there from one? Returns (works, moves tried). Beyond max_nodes moves the hunted is taken "
        "to get away.");
  m.def("planes", &planes, "board"_a, "player_colour"_a = false,
        "uint8[48 or 49, size, size]: the feature planes for the side to move.");
  m.def("planes_batch", &planes_batch, "boards"_a, "out"_a = nb::none(), "threads"_a = 1, "player_colour"_a = false,
        nb::sig("def planes_batch(boards: list[Board], out: object = None, threads: int = 1, player_colour: bool = "
                "False) -> NDArray[numpy.uint8]"),
        "uint8[n, 48 or 49, size, size]; or written to `out` and that returned: an array of that shape of uint8, "
        "float32 or (a torch tensor) bfloat16.");
  m.def(
      "symmetry_table",
      [](int size) {
        std::vector<std::int16_t> table;
        for (int k = 0; k < go::kSymmetries; ++k) {
          const go::MoveMap& map = go::symmetry_map(size, k);
          table.insert(table.end(), map.begin(), map.begin() + size * size + 1);
        }
        return to_numpy<std::int16_t, 2>(std::move(table),
                                         {go::kSymmetries, static_cast<std::size_t>(size * size + 1)});
      },
      "size"_a, "int16[8, size * size + 1]: where each symmetry moves each move; the pass stays.");
}

// -------------------------------------------------------------------------------------------------------- playouts

void bind_playouts(nb::module_& m) {
  m.def(
      "random_playouts",
      [](const go::Board& board, int n, std::uint64_t seed, int threads) {
        if (n < 0) throw std::invalid_argument("n is negative");
        std::vector<std::int8_t> winners(n);
        std::vector<std::int32_t> moves(n);
        const go::Board start = board;
        {
          nb::gil_scoped_release release;
          go::random_playouts(start, n, seed, threads, winners.data(), moves.data());
        }
        const std::size_t length = n;
        return nb::make_tuple(to_numpy<std::int8_t, 1>(std::move(winners), {length}),
                              to_numpy<std::int32_t, 1>(std::move(moves), {length}));
      },
      "board"_a, "n"_a, "seed"_a, "threads"_a = 1,
      "n playouts, uniform over moves that fill no own eye, simple ko: (winners int8[n], plies int32[n]).");
}

// ---------------------------------------------------------------------------------------------------------- replay

using Moves = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::vector<int> to_vector(const Moves& array) { return {array.data(), array.data() + array.shape(0)}; }

go::GameRecord to_record(int size, const Moves& black, const Moves& white, const Moves& moves, const Moves& colours,
                         int to_play) {
  go::GameRecord game;
  game.size = size;
  game.black = to_vector(black);
  game.white = to_vector(white);
  game.moves = to_vector(moves);
  for (const int sign : to_vector(colours))
    game.colours.push_back(static_cast<std::int8_t>(go::to_sign(parse_colour(sign))));
  game.to_play = parse_colour(to_play);
  return game;
}

using GameTuple = std::tuple<int, Moves, Moves, Moves, Moves, Moves, Moves, int>;

// Rows of all games one after the other: uint8[rows, planes, size, size] or, packed, uint8[rows, bytes].
PlaneArray replay_planes_games(const nb::list& tuples, int threads, bool player_colour, bool packed) {
  std::vector<go::GameRecord> games;
  std::vector<go::PositionChoice> choices;
  std::vector<std::size_t> first_row;
  std::size_t rows = 0;
  const std::size_t size = nb::len(tuples) == 0 ? go::kMaxSize : std::get<0>(nb::cast<GameTuple>(tuples[0]));
  for (const nb::handle tuple : tuples) {
    const auto& [game_size, black, white, moves, colours, plies, symmetries, to_play] = nb::cast<GameTuple>(tuple);
    if (static_cast<std::size_t>(game_size) != size)
      throw std::invalid_argument("games of different sizes in one batch");
    games.push_back(to_record(game_size, black, white, moves, colours, to_play));
    choices.push_back({to_vector(plies), to_vector(symmetries)});
    first_row.push_back(rows);
    rows += choices.back().plies.size();
  }
  go::Geometry::of(static_cast<int>(size)); // checks the size
  const go::PlaneFormat format{player_colour, packed};
  const std::size_t bytes = format.bytes(static_cast<int>(size));
  PlaneArray out = packed ? new_bytes({rows, bytes})
                          : new_bytes({rows, static_cast<std::size_t>(go::plane_count(player_colour)), size, size});
  std::uint8_t* to = out.data();
  {
    nb::gil_scoped_release release;
    go::parallel_for(static_cast<int>(games.size()), 1, threads, [&](int begin, int end) {
      for (int i = begin; i < end; ++i) {
        try {
          go::replay_planes(games[i], choices[i], format, to + first_row[i] * bytes);
        } catch (const go::IllegalMove& error) {
          throw go::IllegalMove("game " + std::to_string(i) + ": " + error.what());
        } catch (const std::invalid_argument& error) {
          throw std::invalid_argument("game " + std::to_string(i) + ": " + error.what());
        }
      }
    });
  }
  return out;
}

void bind_replay(nb::module_& m) {
  m.def("replay_planes_games", &replay_planes_games, "games"_a, "threads"_a, "player_colour"_a, "packed"_a,
        "See go_engine.replay.");
  m.def(
      "check_game",
      [](int size, const Moves& black, const Moves& white, const Moves& moves, const Moves& colours,
         const std::string& ko_rule, int to_play) {
        const go::GameRecord game = to_record(size, black, white, moves, colours, to_play);
        const go::KoRule rule = go::parse_ko_rule(ko_rule);
        nb::gil_scoped_release release;
        const go::GameFault fault = go::check_game(game, rule);
        return std::pair(fault.move, fault.reason);
      },
      "size"_a, "black"_a, "white"_a, "moves"_a, "colours"_a, "ko_rule"_a, "to_play"_a, "See go_engine.replay.");
}

// ----------------------------------------------------------------------------------------------------- game batches

using Indices = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Seeds = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using MoveProbabilities = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Work on a batch: without the interpreter lock, but by one Python thread at a time. (Unlocked in reverse order, so
// that nobody waits for the interpreter while holding the batch.)
struct Alone {
  explicit Alone(const go::GameBatch& batch) : guard(batch.mutex()) {}
  nb::gil_scoped_release unlocked;
  std::lock_guard<std::mutex> guard;
};

// Checks a list of game numbers and returns its length.
int checked(const go::GameBatch& batch, const Indices& indices) {
  const int n = static_cast<int>(indices.shape(0));
  batch.check_indices(indices.data(), n);
  return n;
}

void require_length(std::size_t length, int n, const char* what) {
  if (length != static_cast<std::size_t>(n)) {
    throw std::invalid_argument(std::to_string(n) + " games but " + std::to_string(length) + " " + what);
  }
}

// A read-only view of numbers that the batch keeps up to date.
template <typename T, typename Stored>
nb::ndarray<nb::numpy, const T, nb::ndim<1>> view(const std::vector<Stored>& values) {
  static_assert(sizeof(T) == sizeof(Stored));
  return nb::ndarray<nb::numpy, const T, nb::ndim<1>>(values.data(), {values.size()});
}

nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<4>> game_planes(const go::GameBatch& batch, const Indices& indices,
                                                              std::optional<OutArray> out, bool player_colour,
                                                              int threads) {
  const int n = checked(batch, indices);
  const std::size_t size = batch.size();
  const std::size_t shape[4] = {static_cast<std::size_t>(n), player_colour ? 49U : 48U, size, size};
  if (!out) {
    auto* owned = new std::uint8_t[shape[0] * shape[1] * size * size + 1];
    nb::capsule owner(owned, [](void* p) noexcept { delete[] static_cast<std::uint8_t*>(p); });
    out = OutArray(owned, 4, shape, owner);
  } else if (out->shape(0) < shape[0] || out->shape(1) != shape[1] || out->shape(2) != size || out->shape(3) != size) {
    throw std::invalid_argument("out has the wrong shape for " + std::to_string(n) + " games of size " +
                                std::to_string(size));
  }
  std::uint8_t* data = out->data();
  {
    const Alone alone(batch);
    batch.planes(indices.data(), n, player_colour, data, threads);
  }
  return nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<4>>(*out);
}

template <typename Write>
nb::ndarray<nb::numpy, bool, nb::ndim<2>> game_mask(const go::GameBatch& batch, const Indices& indices,
                                                    std::size_t columns, const Write& write) {
  const int n = checked(batch, indices);
  const std::size_t shape[2] = {static_cast<std::size_t>(n), columns};
  auto* owned = new bool[shape[0] * shape[1] + 1];
  nb::capsule owner(owned, [](void* p) noexcept { delete[] static_cast<bool*>(p); });
  {
    const Alone alone(batch);
    write(n, owned);
  }
  return nb::ndarray<nb::numpy, bool, nb::ndim<2>>(owned, 2, shape, owner);
}

nb::ndarray<nb::numpy, std::int32_t, nb::ndim<1>> game_sample(const go::GameBatch& batch, const Indices& indices,
                                                              const MoveProbabilities& probabilities,
                                                              double temperature, const Seeds& seeds, int threads) {
  const int n = checked(batch, indices);
  require_length(seeds.shape(0), n, "seeds");
  if (probabilities.shape(0) < static_cast<std::size_t>(n) ||
      probabilities.shape(1) != static_cast<std::size_t>(batch.points())) {
    throw std::invalid_argument("probabilities must be [" + std::to_string(n) + ", " + std::to_string(batch.points()) +
                                "]");
  }
  std::vector<std::int32_t> moves(n);
  {
    const Alone alone(batch);
    batch.sample(indices.data(), n, probabilities.data(), temperature, seeds.data(), moves.data(), threads);
  }
  return to_numpy<std::int32_t, 1>(std::move(moves), {static_cast<std::size_t>(n)});
}

void bind_game_batch(nb::module_& m) {
  using go::GameBatch;
  const auto inside = nb::rv_policy::reference_internal;
  nb::class_<GameBatch>(m, "GameBatch",
                        "Many games side by side, named by their numbers 0..n-1: positional superko by default, two "
                        "passes or max_plies (0: 2 * size * size) end a game, which is then scored as it stands.")
      .def(
          "__init__",
          [](GameBatch* self, int n, int size, double komi, const std::string& ko_rule, int max_plies) {
            new (self) GameBatch(n, size, komi, go::parse_ko_rule(ko_rule), max_plies);
          },
          "n"_a, "size"_a = 9, "komi"_a = 7.5, "ko_rule"_a = "positional", "max_plies"_a = 0)
      .def("__len__", &GameBatch::count)
      .def_prop_ro("size", &GameBatch::size)
      .def_prop_ro("komi", &GameBatch::komi)
      .def_prop_ro("max_plies", &GameBatch::max_plies)
      .def_prop_ro(
          "to_play", [](const GameBatch& b) { return view<std::int8_t>(b.to_play()); }, inside,
          "int8[n]: BLACK or WHITE. These five are live views: copy what must not change.")
      .def_prop_ro(
          "over", [](const GameBatch& b) { return view<bool>(b.over()); }, inside, "bool[n]")
      .def_prop_ro(
          "capped", [](const GameBatch& b) { return view<bool>(b.capped()); }, inside,
          "bool[n]: over because max_plies was reached.")
      .def_prop_ro(
          "winners", [](const GameBatch& b) { return view<std::int8_t>(b.winners()); }, inside,
          "int8[n]: sign of the area score of a game that is over, else 0.")
      .def_prop_ro(
          "move_numbers", [](const GameBatch& b) { return view<std::int32_t>(b.move_numbers()); }, inside,
          "int32[n]: plies played.")
      .def(
          "play",
          [](GameBatch& b, const Indices& indices, const Indices& moves) {
            const int n = checked(b, indices);
            require_length(moves.shape(0), n, "moves");
            const Alone alone(b);
            b.play(indices.data(), moves.data(), n);
          },
          "indices"_a, "moves"_a,
          "Plays moves[k] in game indices[k]. Raises IllegalMoveError naming the game; games before it in the list "
          "have then been played.")
      .def(
          "reset",
          [](GameBatch& b, const Indices& indices) {
            const int n = checked(b, indices);
            const Alone alone(b);
            b.reset(indices.data(), n);
          },
          "indices"_a, "Starts these games anew.")
      .def("planes", &game_planes, "indices"_a, "out"_a.noconvert() = nb::none(), "player_colour"_a = false,
           "threads"_a = 1,
           "uint8[m, 48 or 49, size, size] for the side to play; `out` may have more rows than there are games.")
      .def(
          "sensible",
          [](const GameBatch& b, const Indices& indices, int threads) {
            return game_mask(b, indices, b.points(),
                             [&](int n, bool* out) { b.sensible(indices.data(), n, out, threads); });
          },
          "indices"_a, "threads"_a = 1, "bool[m, size * size]: legal moves that do not fill an own eye.")
      .def(
          "legal",
          [](const GameBatch& b, const Indices& indices, int threads) {
            return game_mask(b, indices, b.points() + 1,
                             [&](int n, bool* out) { b.legal(indices.data(), n, out, threads); });
          },
          "indices"_a, "threads"_a = 1, "bool[m, size * size + 1]: legal moves, pass last.")
      .def(
          "moves",
          [](const GameBatch& b, int game) {
            b.check_indices(&game, 1);
            std::vector<std::int32_t> moves;
            {
              const Alone alone(b);
              moves = b.moves(game);
            }
            const std::size_t n = moves.size();
            return to_numpy<std::int32_t, 1>(std::move(moves), {n});
          },
          "game"_a, "int32[plies]: the moves of one game.")
      .def("sample", &game_sample, "indices"_a, "probabilities"_a, "temperature"_a, "seeds"_a, "threads"_a = 1,
           "int32[m]: a move each, drawn with probability ~ p^(1/temperature) among the sensible moves (temperature 0: "
           "the most probable); the pass where none is sensible. A draw depends on the game's seed and move number "
           "alone. `probabilities` may have more rows than there are games.")
      .def(
          "sample_legal",
          [](const GameBatch& b, const Indices& indices, const Seeds& seeds) {
            const int n = checked(b, indices);
            require_length(seeds.shape(0), n, "seeds");
            std::vector<std::int32_t> moves(n);
            {
              const Alone alone(b);
              b.sample_legal(indices.data(), n, seeds.data(), moves.data());
            }
            return to_numpy<std::int32_t, 1>(std::move(moves), {static_cast<std::size_t>(n)});
          },
          "indices"_a, "seeds"_a, "int32[m]: a point drawn uniformly among the legal ones, -1 where none is legal.")
      .def(
          "board",
          [](const GameBatch& b, int game) {
            b.check_indices(&game, 1);
            const Alone alone(b);
            return go::Board(b.board(game));
          },
          "game"_a, "A copy of one game's board.");
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

go::Point reply_point(const go::Board& board, int move) {
  if (move < 0 || move >= board.pass_move()) throw std::invalid_argument(std::to_string(move) + " is no point");
  return board.geometry().point_of[move];
}

void bind_reply_table(nb::module_& m) {
  nb::class_<go::ReplyTable>(m, "ReplyTable", "Replies of the search tree that rollouts may repeat in like contexts.")
      .def(nb::init<int>(), "bits"_a = go::ReplyTable::kDefaultBits, "2^bits slots")
      .def("clear", &go::ReplyTable::clear)
      .def(
          "store",
          [](go::ReplyTable& table, const go::Board& board, int previous, int move) {
            table.store(board.position(), board.to_play(), reply_point(board, previous), reply_point(board, move));
          },
          "board"_a, "previous"_a, "move"_a, "Remembers the move of board.to_play in reply to the previous one.")
      .def(
          "find",
          [](const go::ReplyTable& table, const go::Board& board, int previous) -> std::optional<int> {
            const go::Point p = table.find(go::PatternBoard(board), board.to_play(), reply_point(board, previous));
            if (p == go::kNoPoint) return std::nullopt;
            return board.geometry().move_of[p];
          },
          "board"_a, "previous"_a, "The reply to the previous move where both contexts match.");
}

// Throws IllegalMove unless the moves can be played from the board one after the other, under simple ko.
void check_moves(const go::Board& board, const std::vector<int>& moves) {
  go::Position position = board.position();
  go::Colour colour = board.to_play();
  for (const int move : moves) {
    const bool known = move >= 0 && move <= board.pass_move();
    const go::Point p = known ? board.geometry().point_of[move] : go::kNoPoint;
    if (!known || (p != go::kNoPoint && !position.legal(p, colour))) {
      throw go::IllegalMove("illegal move " + go::vertex(move, board.size()));
    }
    if (p == go::kNoPoint) {
      position.pass();
    } else {
      position.play(p, colour);
    }
    colour = opponent(colour);
  }
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
          [](const go::RolloutPolicy& policy, const go::Board& board, int n, std::uint64_t seed, int threads,
             const go::ReplyTable* replies, double reply_probability) {
            if (n < 0) throw std::invalid_argument("n is negative");
            std::vector<go::PlayoutResult> results;
            const go::Board start = board;
            {
              nb::gil_scoped_release release;
              results = go::rollout_playouts(policy, start, n, seed, threads, replies, reply_probability);
            }
            return playout_arrays(results);
          },
          "board"_a, "n"_a, "seed"_a, "threads"_a = 1, "replies"_a = nb::none(), "reply_probability"_a = 1.0,
          "Plays n games from the board to the end; (winners int8[n], moves int32[n]). Seeded per playout: the same "
          "for "
          "any number of threads.");
  m.def(
      "rollout_trace",
      [](const go::RolloutPolicy& policy, const go::Board& board, const std::vector<int>& moves) {
        check_moves(board, moves);
        go::RolloutState state(policy, board);
        const std::size_t points = static_cast<std::size_t>(board.geometry().moves);
        std::vector<float> rows(moves.size() * points);
        for (std::size_t i = 0; i < moves.size(); ++i) {
          state.probabilities(rows.data() + i * points);
          state.play(moves[i]);
        }
        return to_numpy<float, 2>(std::move(rows), {moves.size(), points});
      },
      "policy"_a, "board"_a, "moves"_a,
      "float32[len(moves), size * size]: the incremental probabilities before each of some legal moves.");
  m.def(
      "rollout_choices",
      [](const go::RolloutPolicy& policy, const go::Board& board, int n, std::uint64_t seed,
         const go::ReplyTable* replies, double reply_probability) {
        go::Random random(seed);
        go::RolloutState state(policy, board);
        if (replies != nullptr) state.use_replies(replies, reply_probability);
        std::vector<std::int32_t> moves(static_cast<std::size_t>(std::max(n, 0)));
        for (auto& move : moves) move = state.choose(random);
        const std::size_t count = moves.size();
        return to_numpy<std::int32_t, 1>(std::move(moves), {count});
      },
      "policy"_a, "board"_a, "n"_a, "seed"_a, "replies"_a = nb::none(), "reply_probability"_a = 1.0,
      "int32[n]: n draws of a move for the board, as playouts make them.");
  m.def("rollout_features", &rollout_features, "board"_a, "move"_a, "tree"_a = false,
        "The features of a legal move as (kind, index or pattern key), from their definition.");
  m.def("canonical_pattern", &go::canonical, "key"_a, "The smallest of a pattern key's eight symmetric forms.");
}

// ------------------------------------------------------------------------------------------ training of rollouts

// Games as flat arrays: those of game i lie between offsets i and i + 1.
struct RolloutGames {
  std::vector<go::GameRecord> games;
};

template <typename T>
std::vector<int> slice(const Vector<T>& values, const Vector<std::int64_t>& offsets, std::size_t i) {
  if (i + 1 >= offsets.size() || offsets.data()[i] < 0 || offsets.data()[i] > offsets.data()[i + 1] ||
      offsets.data()[i + 1] > static_cast<std::int64_t>(values.size())) {
    throw std::invalid_argument("offsets of game " + std::to_string(i) + " do not fit the values");
  }
  return {values.data() + offsets.data()[i], values.data() + offsets.data()[i + 1]};
}

RolloutGames rollout_games(int size, const Vector<std::int16_t>& moves, const Vector<std::int8_t>& colours,
                           const Vector<std::int64_t>& offsets, const Vector<std::int16_t>& black,
                           const Vector<std::int64_t>& black_offsets, const Vector<std::int16_t>& white,
                           const Vector<std::int64_t>& white_offsets) {
  RolloutGames result;
  const std::size_t count = offsets.size() == 0 ? 0 : offsets.size() - 1;
  for (std::size_t i = 0; i < count; ++i) {
    go::GameRecord game;
    game.size = size;
    game.moves = slice(moves, offsets, i);
    for (const int colour : slice(colours, offsets, i)) {
      game.colours.push_back(static_cast<std::int8_t>(go::to_sign(parse_colour(colour))));
    }
    for (const int move : game.moves) {
      if (move < 0 || move > size * size)
        throw std::invalid_argument("game " + std::to_string(i) + ": " + std::to_string(move) + " is no move");
    }
    game.black = slice(black, black_offsets, i);
    game.white = slice(white, white_offsets, i);
    result.games.push_back(std::move(game));
  }
  return result;
}

nb::dict harvest(const RolloutGames& games, bool tree, int threads, std::optional<std::size_t> first) {
  go::Harvest result;
  const std::span<const go::GameRecord> all(games.games);
  {
    nb::gil_scoped_release release;
    result = go::harvest_patterns(all.first(std::min(first.value_or(all.size()), all.size())), tree, threads);
  }
  nb::dict tables;
  tables["positions"] = result.positions;
  auto add = [&](const char* name, const std::vector<go::PatternCount>& counts) {
    std::vector<std::uint64_t> keys;
    std::vector<std::uint32_t> played;
    std::vector<std::uint32_t> seen;
    for (const auto& count : counts) {
      keys.push_back(count.key);
      played.push_back(count.played);
      seen.push_back(count.seen);
    }
    const std::size_t n = keys.size();
    tables[name] = nb::make_tuple(to_numpy<std::uint64_t, 1>(std::move(keys), {n}),
                                  to_numpy<std::uint32_t, 1>(std::move(played), {n}),
                                  to_numpy<std::uint32_t, 1>(std::move(seen), {n}));
  };
  add("nakade", result.nakade);
  add("response_pattern", result.response_pattern);
  add("pattern", result.pattern);
  if (tree) add("diamond", result.diamond);
  return tables;
}

nb::tuple score_tuple(const go::PolicyScore& score) {
  return nb::make_tuple(score.positions, score.log_likelihood, score.correct);
}

void bind_rollout_training(nb::module_& m) {
  nb::class_<RolloutGames>(m, "RolloutGames", "Games of one board size for harvesting and training.")
      .def(
          "__init__",
          [](RolloutGames* self, int size, const Vector<std::int16_t>& moves, const Vector<std::int8_t>& colours,
             const Vector<std::int64_t>& offsets, const Vector<std::int16_t>& black,
             const Vector<std::int64_t>& black_offsets, const Vector<std::int16_t>& white,
             const Vector<std::int64_t>& white_offsets) {
            new (self)
                RolloutGames(rollout_games(size, moves, colours, offsets, black, black_offsets, white, white_offsets));
          },
          "size"_a, "moves"_a, "colours"_a, "offsets"_a, "black"_a, "black_offsets"_a, "white"_a, "white_offsets"_a,
          "moves int16, colours int8 (1, -1) and setup stones int16 of all games one after the other; int64 offsets "
          "have one entry more than there are games.")
      .def("__len__", [](const RolloutGames& g) { return g.games.size(); })
      .def("harvest", &harvest, "tree"_a, "threads"_a = 1, "first"_a = nb::none(),
           "Of all games or the first ones: {'positions': n, kind: (keys uint64, played uint32, seen uint32)}; seen is "
           "counted for 3x3 patterns only.");
  nb::class_<go::RolloutTrainer>(m, "RolloutTrainer", "Maximum likelihood by stochastic gradient ascent.")
      .def(
          "__init__",
          [](go::RolloutTrainer* self, const go::RolloutPolicy& start, const RolloutGames& games) {
            new (self) go::RolloutTrainer(start.weights(), games.games);
          },
          "start"_a, "games"_a, nb::keep_alive<1, 3>(), "Starts from the patterns and weights of a policy.")
      .def(
          "train_round",
          [](go::RolloutTrainer& trainer, const std::vector<std::vector<int>>& shards, float step_size, float l2,
             int threads) {
            go::PolicyScore score;
            {
              nb::gil_scoped_release release;
              score = trainer.train_round(shards, {step_size, l2}, threads);
            }
            return score_tuple(score);
          },
          "shards"_a, "step_size"_a, "l2"_a, "threads"_a = 1,
          "One round over the games of each shard; (positions, sum of log likelihood, moves predicted), each position "
          "scored before it was learnt. The result does not depend on the number of threads.")
      .def(
          "evaluate",
          [](const go::RolloutTrainer& trainer, const std::vector<int>& games, int threads) {
            go::PolicyScore score;
            {
              nb::gil_scoped_release release;
              score = trainer.evaluate(games, threads);
            }
            return score_tuple(score);
          },
          "games"_a, "threads"_a = 1, "(positions, sum of log likelihood, moves predicted)")
      .def("tensors", [](const go::RolloutTrainer& trainer) { return rollout_tensors(trainer.weights()); });
}

// --------------------------------------------------------------------------------------------------------- search

go::SearchParams search_params(const nb::kwargs& settings) {
  go::SearchParams params;
  nb::object object = nb::cast(&params, nb::rv_policy::reference);
  for (auto [key, value] : settings) {
    if (!nb::hasattr(object, key)) {
      throw nb::type_error(("Search has no parameter '" + nb::cast<std::string>(key) + "'").c_str());
    }
    nb::setattr(object, key, value);
  }
  return params;
}

using PlaneBatch = nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<4>>;

// The planes that a batch asks the networks about, written once.
std::pair<PlaneBatch, PlaneBatch> batch_planes(const go::LeafBatch& batch) {
  const std::size_t n = batch.size;
  std::vector<std::uint8_t> policy(batch.policy_rows.size() * go::kPlanes * n * n);
  std::vector<std::uint8_t> value(batch.value_rows.size() * go::kPlanesWithColour * n * n);
  {
    nb::gil_scoped_release release;
    batch.write_planes(policy.data(), value.data());
  }
  return {
      to_numpy<std::uint8_t, 4>(std::move(policy), {batch.policy_rows.size(), std::size_t{go::kPlanes}, n, n}),
      to_numpy<std::uint8_t, 4>(std::move(value), {batch.value_rows.size(), std::size_t{go::kPlanesWithColour}, n, n})};
}

std::vector<std::vector<std::uint16_t>> batch_paths(const go::LeafBatch& batch) {
  std::vector<std::vector<std::uint16_t>> paths;
  for (const go::LeafRequest& request : batch.requests) paths.push_back(request.moves);
  return paths;
}

std::pair<PlaneBatch, PlaneBatch> group_planes(go::GroupBatch& group) {
  const std::size_t n = group.size;
  return {to_numpy<std::uint8_t, 4>(std::move(group.policy_planes), {group.policy_rows, go::kPlanes, n, n}),
          to_numpy<std::uint8_t, 4>(std::move(group.value_planes), {group.value_rows, go::kPlanesWithColour, n, n})};
}

using FloatArray = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;

// The numbers of one answer, which must be there exactly when the batch asked for them.
const float* answer(const std::optional<FloatArray>& array, std::size_t rows, std::size_t width, const char* what) {
  const std::size_t given = array ? array->size() : 0;
  if (given != rows * width) {
    throw std::invalid_argument("search: " + std::to_string(rows * width) + " " + what + " needed, " +
                                std::to_string(given) + " given");
  }
  return given == 0 ? nullptr : array->data();
}

void deliver(go::Search& search, go::LeafBatch& batch, const std::optional<FloatArray>& priors,
             const std::optional<FloatArray>& values) {
  const std::size_t points = static_cast<std::size_t>(batch.size) * batch.size;
  const float* p = answer(priors, batch.policy_rows.size(), points, "priors");
  const float* v = answer(values, batch.value_rows.size(), 1, "values");
  nb::gil_scoped_release release;
  search.deliver(batch, p, v);
}

void bind_search_parts(nb::module_& m) {
  nb::class_<go::SearchParams>(m, "SearchParams", "Parameters of a search, with the paper's values.")
      .def(
          "__init__",
          [](go::SearchParams* self, const nb::kwargs& settings) {
            new (self) go::SearchParams(search_params(settings));
          },
          nb::sig("def __init__(self, **settings: float) -> None"))
      .def_rw("c_puct", &go::SearchParams::c_puct, "Weight of exploration.")
      .def_rw("beta", &go::SearchParams::beta, "Network priors are p^beta, normalised.")
      .def_rw("mixing", &go::SearchParams::mixing, "Lambda: weight of rollouts against values, 0..1.")
      .def_rw("virtual_loss", &go::SearchParams::virtual_loss, "Lost games that a simulation under way counts for.")
      .def_rw("expansion_threshold", &go::SearchParams::expansion_threshold, "More visits than this make a node.")
      .def_rw("max_threshold", &go::SearchParams::max_threshold, "Bound of the threshold's adaptation (threads).")
      .def_rw("use_policy", &go::SearchParams::use_policy, "Ask the policy network for priors.")
      .def_rw("use_value", &go::SearchParams::use_value, "Ask the value network.")
      .def_rw("use_rollouts", &go::SearchParams::use_rollouts, "Play rollouts.")
      .def_rw("use_replies", &go::SearchParams::use_replies, "Play the tree's moves in rollouts (with a policy).")
      .def_rw("wait_for_priors", &go::SearchParams::wait_for_priors, "Never descend by placeholder priors.")
      .def_rw("resign_threshold", &go::SearchParams::resign_threshold, "Resign when no good move has a higher Q.")
      .def_rw("seed", &go::SearchParams::seed, "Seed of rollouts and symmetries.")
      .def_rw("memory_mb", &go::SearchParams::memory_mb, "Bound of the tree's memory; a full tree stops growing.")
      .def_rw("queue_limit", &go::SearchParams::queue_limit, "Leaves that may wait for evaluators (threads).")
      .def_rw("max_plies", &go::SearchParams::max_plies, "Longer games are scored; 0 = 2 * size * size.");
  nb::class_<go::LeafBatch>(m, "LeafBatch", "Positions that wait for the networks.")
      .def("planes", &batch_planes,
           "(uint8[n, 48, size, size] for the policy, uint8[m, 49, size, size] for the value network).")
      .def("paths", &batch_paths, "Moves from the root to each position that a rollout is to be played from.")
      .def("__len__", [](const go::LeafBatch& b) { return b.requests.size(); });
  nb::class_<go::EdgeReport>(m, "EdgeReport", "One move of a node, seen by the player who chooses it.")
      .def_ro("move", &go::EdgeReport::move)
      .def_ro("placeholder", &go::EdgeReport::placeholder, "Prior before the network answered.")
      .def_ro("prior", &go::EdgeReport::prior, "Prior now.")
      .def_prop_ro(
          "visits", [](const go::EdgeReport& e) { return e.counts.rollouts; }, "N_r")
      .def_prop_ro(
          "wins", [](const go::EdgeReport& e) { return e.counts.wins; }, "W_r")
      .def_prop_ro(
          "values", [](const go::EdgeReport& e) { return e.counts.values; }, "N_v")
      .def_prop_ro(
          "value_sum", [](const go::EdgeReport& e) { return e.counts.value_sum; }, "W_v")
      .def_ro("q", &go::EdgeReport::value, "Q, the mixed averages.")
      .def_ro("expanded", &go::EdgeReport::expanded, "There is a node behind this edge.");
  nb::class_<go::SearchStats>(m, "SearchStats")
      .def_ro("simulations", &go::SearchStats::simulations, "Since the last reset or advance.")
      .def_ro("leaves", &go::SearchStats::leaves, "Evaluations asked for, ever.")
      .def_ro("skipped", &go::SearchStats::skipped, "Values not asked for because the queue was full.")
      .def_ro("nodes", &go::SearchStats::nodes)
      .def_ro("bytes", &go::SearchStats::bytes, "Of the tree.")
      .def_ro("threshold", &go::SearchStats::threshold, "The expansion threshold as it is now.")
      .def_ro("full", &go::SearchStats::full, "The memory bound was reached.")
      .def_ro("max_depth", &go::SearchStats::max_depth);
}

void deliver_many(go::GroupBatch& group, const std::optional<FloatArray>& priors,
                  const std::optional<FloatArray>& values) {
  const float* p = answer(priors, group.policy_rows, static_cast<std::size_t>(group.size) * group.size, "priors");
  const float* v = answer(values, group.value_rows, 1, "values");
  nb::gil_scoped_release release;
  go::deliver_many(group, p, v);
}

void bind_search_group(nb::module_& m) {
  nb::class_<go::GroupBatch>(m, "GroupBatch", "Positions of several searches that wait for the networks.")
      .def("take_planes", &group_planes, "As LeafBatch.planes, handed over without a copy: can be taken once.")
      .def("cancel", &go::cancel_many)
      .def("__len__", [](const go::GroupBatch& g) { return g.policy_rows + g.value_rows; });
  m.def("collect_many", &go::collect_many, "searches"_a, "max_leaves"_a, "max_simulations"_a, "threads"_a = 1,
        nb::keep_alive<0, 1>(), nb::call_guard<nb::gil_scoped_release>());
  m.def("deliver_many", &deliver_many, "batch"_a, "priors"_a.none() = nb::none(), "values"_a.none() = nb::none());
}

void bind_search(nb::module_& m) {
  bind_search_parts(m);
  bind_search_group(m);
  using Release = nb::call_guard<nb::gil_scoped_release>;
  nb::class_<go::Search>(m, "Search", "APV-MCTS; see go_engine/search.py.")
      .def(
          "__init__",
          [](go::Search* self, const go::Board& board, const go::RolloutPolicy* rollout_policy,
             const go::RolloutPolicy* tree_policy, const nb::kwargs& settings) {
            new (self) go::Search(board, search_params(settings), rollout_policy, tree_policy);
          },
          "board"_a, "rollout_policy"_a = nb::none(), "tree_policy"_a = nb::none(), "settings"_a,
          nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(),
          nb::sig("def __init__(self, board: Board, rollout_policy: RolloutPolicy | None = None, "
                  "tree_policy: RolloutPolicy | None = None, **settings: float) -> None"))
      .def_prop_ro(
          "board", [](const go::Search& s) { return go::Board(s.board()); }, "A copy of the root's board.")
      .def_prop_ro("params", &go::Search::params, nb::rv_policy::copy)
      .def_prop_ro("running", &go::Search::running)
      .def_prop_ro("failure", &go::Search::failure)
      .def("reset", &go::Search::reset, "board"_a, Release())
      .def("advance", &go::Search::advance, "move"_a, Release())
      .def("follow", &go::Search::follow, "board"_a, Release())
      .def("ask_root", &go::Search::ask_root)
      .def("collect", &go::Search::collect, "max_leaves"_a, "max_simulations"_a, Release())
      .def("deliver", &deliver, "batch"_a, "priors"_a.none() = nb::none(), "values"_a.none() = nb::none())
      .def("cancel", &go::Search::cancel, "batch"_a, Release())
      .def("retry", &go::Search::retry, "batch"_a, Release())
      .def("deliver_rollouts", &go::Search::deliver_rollouts, "batch"_a, "winners"_a, Release(),
           "The winner of each rollout of the batch: 1 Black, -1 White, 0 neither.")
      .def("start", &go::Search::start, "threads"_a, "max_simulations"_a = 0, "hand_out_rollouts"_a = false, Release())
      .def("wait", &go::Search::wait, "seconds"_a, Release())
      .def("stop", &go::Search::stop, "grace"_a = 0.0, Release())
      .def("wait_batch", &go::Search::wait_batch, "max_leaves"_a, "seconds"_a, Release())
      .def("wait_rollouts", &go::Search::wait_rollouts, "max_rollouts"_a, "seconds"_a, Release())
      .def("interrupt", &go::Search::interrupt)
      .def("fail", &go::Search::fail, "message"_a)
      .def("best_move", &go::Search::best_move)
      .def_prop_ro("best_value", &go::Search::best_value)
      .def_prop_ro("should_resign", &go::Search::should_resign)
      .def_prop_ro("decided", &go::Search::decided)
      .def_prop_ro("disagreement", &go::Search::disagreement)
      .def("edges", &go::Search::edges, "path"_a = std::vector<int>{})
      .def("stats", &go::Search::stats);
}

} // namespace

NB_MODULE(_core, m) {
  m.doc() = "C++ core of go_engine";
  nb::set_leak_warnings(false); // what caches still hold when the interpreter ends is no leak
  m.attr("BLACK") = 1;
  m.attr("WHITE") = -1;
  m.attr("EMPTY") = 0;
  bind_board(m);
  bind_planes(m);
  bind_playouts(m);
  bind_replay(m);
  bind_game_batch(m);
  bind_reply_table(m);
  bind_rollout_policy(m);
  bind_rollout_training(m);
  bind_search(m);
}
