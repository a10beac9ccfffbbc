#include "symmetry.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace go {
namespace {

void check(int k) {
  if (k < 0 || k >= kSymmetries) throw std::invalid_argument("symmetry " + std::to_string(k) + " is not in 0..7");
}

MoveMap build(int size, int k) {
  MoveMap map{};
  for (int row = 0; row < size; ++row) {
    for (int col = 0; col < size; ++col) {
      int r = row;
      int c = k >= 4 ? size - 1 - col : col;
      for (int turn = 0; turn < (k & 3); ++turn) r = std::exchange(c, r), r = size - 1 - r;
      map[row * size + col] = static_cast<std::int16_t>(r * size + c);
    }
  }
  map[size * size] = static_cast<std::int16_t>(size * size);
  return map;
}

using Table = std::array<std::array<MoveMap, kSymmetries>, kMaxSize + 1>;

std::unique_ptr<Table> build_all() {
  auto all = std::make_unique<Table>();
  for (int size = kMinSize; size <= kMaxSize; ++size) {
    for (int k = 0; k < kSymmetries; ++k) (*all)[size][k] = build(size, k);
  }
  return all;
}

} // namespace

const MoveMap& symmetry_map(int size, int k) {
  static const auto all = build_all();
  check(k);
  return (*all)[Geometry::of(size).size][k];
}

int inverse_symmetry(int k) {
  check(k);
  return k < 4 ? (4 - k) & 3 : k; // every mirroring is its own inverse
}

} // namespace go
