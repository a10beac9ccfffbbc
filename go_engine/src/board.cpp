#include "board.hpp"

#include <algorithm>

namespace go {
namespace {

constexpr const char* kColumns = "ABCDEFGHJKLMNOPQRSTUVWXYZ";

bool is_stone_letter(char ch) { return ch == 'X' || ch == 'O' || ch == '.'; }

} // namespace

std::string vertex(int move, int size) {
  if (move == size * size) return "pass";
  if (move < 0 || move > size * size) return std::to_string(move);
  return kColumns[move % size] + std::to_string(size - move / size);
}

KoRule parse_ko_rule(const std::string& name) {
  if (name == "simple") return KoRule::kSimple;
  if (name == "positional") return KoRule::kPositional;
  if (name == "situational") return KoRule::kSituational;
  throw std::invalid_argument("ko rule '" + name + "' is none of simple, positional, situational");
}

std::string to_string(KoRule rule) {
  switch (rule) {
  case KoRule::kSimple: return "simple";
  case KoRule::kPositional: return "positional";
  case KoRule::kSituational: return "situational";
  }
  return {};
}

void HashSet::clear() {
  std::fill(slots_.begin(), slots_.end(), 0);
  used_ = 0;
}

std::size_t HashSet::slot(std::uint64_t key) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = key & mask;
  while (slots_[i] != 0 && slots_[i] != key) i = (i + 1) & mask;
  return i;
}

bool HashSet::contains(std::uint64_t key) const {
  key += key == 0;
  return slots_[slot(key)] == key;
}

void HashSet::insert(std::uint64_t key) {
  key += key == 0;
  const std::size_t i = slot(key);
  if (slots_[i] == key) return;
  slots_[i] = key;
  if (++used_ * 2 <= slots_.size()) return;
  std::vector<std::uint64_t> old(slots_.size() * 2, 0);
  old.swap(slots_);
  for (std::uint64_t k : old) {
    if (k != 0) slots_[slot(k)] = k;
  }
}

Board::Board(int size, double komi, KoRule ko_rule) : position_(size), komi_(komi), ko_rule_(ko_rule) { remember(); }

void Board::remember() {
  history_.insert(history_key(position_.hash(), to_play_));
  most_stones_ = std::max(most_stones_, position_.stones());
}

// Positional superko compares stones only; situational superko also who is to move.
std::uint64_t Board::history_key(std::uint64_t stones, Colour next) const {
  return ko_rule_ == KoRule::kSituational && next == kWhite ? stones ^ Zobrist::keys().white_to_play : stones;
}

// Would this (otherwise legal) move bring an earlier position back? Not if it takes nothing and so leaves more stones
// on the board than there ever were.
bool Board::repeats(Point p, Colour colour) const {
  if (ko_rule_ == KoRule::kSimple) return false;
  if (position_.stones() >= most_stones_ && !position_.captures(p, colour)) return false;
  return history_.contains(history_key(position_.hash_after(p, colour), opponent(colour)));
}

bool Board::legal_point(Point p, Colour colour) const { return position_.legal(p, colour) && !repeats(p, colour); }

bool Board::legal(int move, Colour colour) const {
  if (move < 0 || move > pass_move()) return false;
  return move == pass_move() || legal_point(geometry().point_of[move], colour);
}

std::string Board::why_illegal(int move, Colour colour) const {
  if (move < 0 || move > pass_move()) return "it is no move on this board";
  if (move == pass_move()) return {};
  const Point p = geometry().point_of[move];
  if (position_.colour(p) != kEmpty) return "the point is occupied";
  if (p == position_.ko() && colour == position_.ko_colour()) return "it retakes a ko at once";
  if (position_.suicide(p, colour)) return "it is suicide";
  if (repeats(p, colour)) return "it repeats an earlier position (superko)";
  return {};
}

int Board::play(int move, Colour colour) {
  if (!legal(move, colour)) {
    throw IllegalMove("illegal move " + std::string(colour == kBlack ? "B " : "W ") + vertex(move, size()) +
                      " at move " + std::to_string(move_number_ + 1) + ": " + why_illegal(move, colour));
  }
  return apply(move, colour);
}

bool Board::try_play(int move, Colour colour) {
  if (!legal(move, colour)) return false;
  apply(move, colour);
  return true;
}

int Board::apply(int move, Colour colour) {
  int taken = 0;
  ++move_number_;
  last_taken_count_ = 0;
  if (move == pass_move()) {
    position_.pass();
    ++passes_;
  } else {
    const Point p = geometry().point_of[move];
    const int first = position_.empty_count() - 1; // a capture appends to the empty points
    taken = position_.play(p, colour);
    if (taken <= kTakenRemembered) {
      for (int i = 0; i < taken; ++i) last_taken_[last_taken_count_++] = position_.empty(first + i);
    }
    played_at_[p] = move_number_;
    passes_ = 0;
  }
  to_play_ = opponent(colour);
  move_before_last_ = last_move_;
  last_move_ = move;
  if (ko_rule_ != KoRule::kSimple) remember();
  return taken;
}

void Board::setup(const std::vector<int>& black, const std::vector<int>& white, const std::vector<int>& empty,
                  Colour to_play) {
  const Geometry& g = geometry();
  std::vector<std::uint8_t> colours(g.moves);
  std::vector<bool> given(g.moves, false);
  for (int move = 0; move < g.moves; ++move) colours[move] = position_.colour(g.point_of[move]);
  auto put = [&](const std::vector<int>& moves, Colour colour) {
    for (int move : moves) {
      if (move < 0 || move >= g.moves)
        throw std::invalid_argument("setup point " + std::to_string(move) + " is not on the board");
      if (given[move]) throw std::invalid_argument("setup point " + vertex(move, g.size) + " is given twice");
      given[move] = true;
      colours[move] = colour;
    }
  };
  put(black, kBlack);
  put(white, kWhite);
  put(empty, kEmpty);

  Position fresh(g.size);
  for (int move = 0; move < g.moves; ++move) {
    if (colours[move] != kEmpty) fresh.place(g.point_of[move], static_cast<Colour>(colours[move]));
  }
  for (int move = 0; move < g.moves; ++move) {
    const Point p = g.point_of[move];
    if (colours[move] != kEmpty && fresh.chain(p).captured()) {
      throw std::invalid_argument("setup leaves the chain at " + vertex(move, g.size) + " without liberties");
    }
  }
  for (int move = 0; move < g.moves; ++move) {
    if (given[move]) played_at_[g.point_of[move]] = 0;
  }
  position_ = fresh;
  to_play_ = to_play;
  passes_ = 0;
  last_taken_count_ = 0;
  history_.clear();
  most_stones_ = 0;
  remember();
}

Board Board::from_text(const std::string& diagram, double komi, KoRule ko_rule) {
  std::vector<std::string> rows(1);
  for (char ch : diagram) {
    if (ch == '\n') {
      if (!rows.back().empty()) rows.emplace_back();
    } else if (is_stone_letter(ch)) {
      rows.back() += ch;
    } else if (ch != ' ' && ch != '\t' && ch != '\r') {
      throw std::invalid_argument(std::string("'") + ch + "' in a diagram is none of X, O and .");
    }
  }
  if (rows.back().empty()) rows.pop_back();
  const int size = static_cast<int>(rows.size());
  Board board(size, komi, ko_rule);
  std::vector<int> black;
  std::vector<int> white;
  for (int row = 0; row < size; ++row) {
    if (static_cast<int>(rows[row].size()) != size) {
      throw std::invalid_argument("row " + std::to_string(row + 1) + " of the diagram has " +
                                  std::to_string(rows[row].size()) + " points, not " + std::to_string(size));
    }
    for (int col = 0; col < size; ++col) {
      if (rows[row][col] == 'X') black.push_back(row * size + col);
      if (rows[row][col] == 'O') white.push_back(row * size + col);
    }
  }
  board.setup(black, white, {}, kBlack);
  return board;
}

std::string Board::to_string() const {
  std::string text;
  for (int row = 0; row < size(); ++row) {
    for (int col = 0; col < size(); ++col) {
      const Colour c = position_.colour(geometry().point_of[row * size() + col]);
      if (col > 0) text += ' ';
      text += c == kBlack ? 'X' : c == kWhite ? 'O' : '.';
    }
    text += '\n';
  }
  return text;
}

} // namespace go
