#include "geometry.hpp"

#include <memory>
#include <stdexcept>
#include <string>

#include "random.hpp"

namespace go {
namespace {

Geometry build(int size) {
  Geometry g;
  g.size = size;
  g.stride = size + 1;
  g.moves = size * size;
  g.points = (size + 2) * (size + 1) + 1;
  g.move_of.fill(-1);
  for (int row = 0; row < size; ++row) {
    for (int col = 0; col < size; ++col) {
      const int point = (row + 1) * g.stride + col + 1;
      const int move = row * size + col;
      g.point_of[move] = static_cast<Point>(point);
      g.move_of[point] = static_cast<std::int16_t>(move);
    }
  }
  g.point_of[g.moves] = kNoPoint;
  g.neighbour = {-g.stride, -1, 1, g.stride};
  g.diagonal = {-g.stride - 1, -g.stride + 1, g.stride - 1, g.stride + 1};
  return g;
}

std::unique_ptr<std::array<Geometry, kMaxSize + 1>> build_all() {
  auto all = std::make_unique<std::array<Geometry, kMaxSize + 1>>();
  for (int size = kMinSize; size <= kMaxSize; ++size) (*all)[size] = build(size);
  return all;
}

Zobrist build_keys() {
  Zobrist z;
  std::uint64_t state = 0;
  for (Colour colour : {kBlack, kWhite}) {
    for (std::uint64_t& key : z.stone[colour]) key = mix(++state);
  }
  z.white_to_play = mix(++state);
  return z;
}

} // namespace

const Geometry& Geometry::of(int size) {
  static const auto all = build_all();
  if (size < kMinSize || size > kMaxSize) {
    throw std::invalid_argument("board size " + std::to_string(size) + " is not in " + std::to_string(kMinSize) + ".." +
                                std::to_string(kMaxSize));
  }
  return (*all)[size];
}

const Zobrist& Zobrist::keys() {
  static const Zobrist z = build_keys();
  return z;
}

} // namespace go
