// A game in progress: a Position plus komi, whose turn it is, passes, the age of every stone, and the ko rule with the
// history that it needs.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "position.hpp"

namespace go {

enum class KoRule { kSimple, kPositional, kSituational };

KoRule parse_ko_rule(const std::string& name); // "simple", "positional", "situational"; throws std::invalid_argument
std::string to_string(KoRule rule);

class IllegalMove : public std::invalid_argument {
public:
  using std::invalid_argument::invalid_argument;
};

// A set of hashes with open addressing; 0 marks a free slot (a key of 0, the empty board, is stored as 1).
class HashSet {
public:
  HashSet() : slots_(kInitialSlots, 0) {}
  void clear();
  void insert(std::uint64_t key);
  bool contains(std::uint64_t key) const;

private:
  static constexpr std::size_t kInitialSlots = 1024;
  std::size_t slot(std::uint64_t key) const;
  std::vector<std::uint64_t> slots_;
  std::size_t used_ = 0;
};

inline constexpr int kTakenRemembered = 6; // stones: enough for every nakade shape

class Board {
public:
  explicit Board(int size = kMaxSize, double komi = 7.5, KoRule ko_rule = KoRule::kPositional);

  // Moves are row * size + col, size * size passes.
  int play(int move, Colour colour); // returns stones taken; throws IllegalMove saying why
  int play(int move) { return play(move, to_play_); }
  bool try_play(int move, Colour colour);    // false for an illegal move, which changes nothing
  bool legal(int move, Colour colour) const; // false for numbers that are no move
  bool legal_point(Point p, Colour colour) const;
  bool sensible_point(Point p, Colour colour) const { return !position_.eye(p, colour) && legal_point(p, colour); }
  bool repeats(Point p, Colour colour) const;             // would this otherwise legal move break the superko rule?
  std::string why_illegal(int move, Colour colour) const; // empty for a legal move

  // Adds and removes stones (handicap, AB/AW/AE) and starts the history anew: this position is the first of the game.
  // Throws std::invalid_argument for a point that is no point or given twice, or a chain left without liberties.
  void setup(const std::vector<int>& black, const std::vector<int>& white, const std::vector<int>& empty,
             Colour to_play);
  static Board from_text(const std::string& diagram, double komi, KoRule ko_rule);

  const Position& position() const { return position_; }
  const Geometry& geometry() const { return position_.geometry(); }
  int size() const { return position_.size(); }
  double komi() const { return komi_; }
  void set_komi(double komi) { komi_ = komi; }
  KoRule ko_rule() const { return ko_rule_; }
  Colour to_play() const { return to_play_; }
  void set_to_play(Colour colour) { to_play_ = colour; }
  int move_number() const { return move_number_; }
  int pass_move() const { return geometry().moves; }
  int passes() const { return passes_; } // in a row, just made
  bool over() const { return passes_ >= 2; }
  int last_move() const { return last_move_; }               // -1 before the first move
  int move_before_last() const { return move_before_last_; } // the move before that, -1 if there is none
  // The stones that the last move took; empty also when they were more than kTakenRemembered.
  std::span<const Point> last_taken() const { return {last_taken_.data(), last_taken_count_}; }
  double area_score() const { return position_.area() - komi_; }
  std::uint64_t hash() const { return position_.hash(); } // of the stones alone
  // 1 for the stone played last, 2 for the one before (passes count as turns); 0 for setup stones and empty points.
  int turns_since(Point p) const { return played_at_[p] == 0 ? 0 : move_number_ - played_at_[p] + 1; }
  std::string to_string() const;

private:
  int apply(int move, Colour colour);
  void remember();
  std::uint64_t history_key(std::uint64_t stones, Colour next) const;

  Position position_;
  double komi_;
  KoRule ko_rule_;
  Colour to_play_ = kBlack;
  int move_number_ = 0;
  int passes_ = 0;
  int last_move_ = -1;
  int move_before_last_ = -1;
  std::array<Point, kTakenRemembered> last_taken_{};
  std::size_t last_taken_count_ = 0;
  std::array<std::int32_t, kMaxPoints> played_at_{}; // move number at which a stone was played, 0 for none
  HashSet history_;
  int most_stones_ = 0; // on the board, in any position of the history
};

// "E5" for a move on a board of this size, "pass" for the pass (GTP's vertices: no I, rows from the bottom).
std::string vertex(int move, int size);

} // namespace go
