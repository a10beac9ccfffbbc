#include "pattern.hpp"

#include <algorithm>
#include <memory>

namespace go {
namespace {

constexpr int kGroup = 4; // points in a group of the diamond
constexpr int kGroupBits = kCodeBits * kGroup;
constexpr PatternKey kGroupMask = (PatternKey{1} << kGroupBits) - 1;
constexpr int kGroups = kDiamondPoints / kGroup;
constexpr int kNakadeSide = kMaxNakade; // a chain of n stones fits into n x n

// The mirror exchanges right and left: index -> index, by group.
constexpr std::array<int, kDiamondPoints> kMirror = {0, 3, 2, 1, 7, 6, 5, 4, 8, 11, 10, 9};

constexpr std::array<std::array<int, 2>, kDiamondPoints> kSteps = {
    {{-1, 0}, {0, 1}, {1, 0}, {0, -1}, {-1, 1}, {1, 1}, {1, -1}, {-1, -1}, {-2, 0}, {0, 2}, {2, 0}, {0, -2}}};

// Up and down stay, right and left change places; the diagonal points are reversed. An octal digit is a code.
PatternKey mirror(PatternKey key) {
  constexpr auto both = [](PatternKey codes) { return codes | codes << (2 * kGroupBits); }; // beside and two away
  const PatternKey diagonal = (key >> kGroupBits) & kGroupMask;
  const PatternKey reversed =
      (diagonal >> 9) | ((diagonal >> 3) & 070) | ((diagonal & 070) << 3) | ((diagonal & 07) << 9);
  return (key & both(00707)) | (key & both(00070)) << 6 | (key & both(07000)) >> 6 | reversed << kGroupBits;
}

PatternKey turn(PatternKey key, int quarters) {
  PatternKey result = 0;
  for (int group = 0; group < kGroups; ++group) {
    const PatternKey part = (key >> (kGroupBits * group)) & kGroupMask;
    const int shift = kCodeBits * quarters;
    const PatternKey turned = ((part << shift) | (part >> (kGroupBits - shift))) & kGroupMask;
    result |= turned << (kGroupBits * group);
  }
  return result;
}

std::unique_ptr<std::array<PatternGeometry, kMaxSize + 1>> build_all() {
  auto all = std::make_unique<std::array<PatternGeometry, kMaxSize + 1>>();
  for (int size = kMinSize; size <= kMaxSize; ++size) {
    const Geometry& g = Geometry::of(size);
    for (int move = 0; move < g.moves; ++move) {
      auto& around = (*all)[static_cast<std::size_t>(size)].around[g.point_of[move]];
      for (int i = 0; i < kDiamondPoints; ++i) {
        const int row = move / size + kSteps[i][0];
        const int col = move % size + kSteps[i][1];
        const bool on_board = row >= 0 && row < size && col >= 0 && col < size;
        around[i] = on_board ? g.point_of[row * size + col] : kNoPoint;
      }
    }
  }
  return all;
}

} // namespace

PatternKey transform(PatternKey key, int symmetry) {
  return turn(symmetry >= kGroup ? mirror(key) : key, symmetry % kGroup);
}

int transform_index(int index, int symmetry) {
  const int mirrored = symmetry >= kGroup ? kMirror[static_cast<std::size_t>(index)] : index;
  return mirrored / kGroup * kGroup + (mirrored + symmetry) % kGroup;
}

std::array<PatternKey, kSymmetries> all_forms(PatternKey key) {
  const PatternKey mirrored = mirror(key);
  std::array<PatternKey, kSymmetries> forms;
  for (int quarters = 0; quarters < kGroup; ++quarters) {
    forms[static_cast<std::size_t>(quarters)] = turn(key, quarters);
    forms[static_cast<std::size_t>(quarters + kGroup)] = turn(mirrored, quarters);
  }
  return forms;
}

PatternKey canonical(PatternKey key) { return std::ranges::min(all_forms(key)); }

PatternKey response_key(PatternKey diamond, int index) {
  PatternKey best = ~PatternKey{0};
  for (int symmetry = 0; symmetry < kSymmetries; ++symmetry) {
    const auto turned = static_cast<PatternKey>(transform_index(index, symmetry));
    best = std::min(best, transform(diamond, symmetry) | turned << kResponseIndexShift);
  }
  return best;
}

PatternKey nakade_key(std::span<const int> shape, int played, int size) {
  PatternKey best = ~PatternKey{0};
  for (int symmetry = 0; symmetry < kSymmetries; ++symmetry) {
    std::array<std::array<int, 2>, kMaxNakade> at{};
    int top = kMaxSize;
    int left = kMaxSize;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      int row = shape[i] / size;
      int col = shape[i] % size;
      if (symmetry >= kGroup) col = -col;
      for (int quarter = 0; quarter < symmetry % kGroup; ++quarter) {
        const int old = row;
        row = col;
        col = -old;
      }
      at[i] = {row, col};
      top = std::min(top, row);
      left = std::min(left, col);
    }
    PatternKey key = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const int cell = (at[i][0] - top) * kNakadeSide + at[i][1] - left;
      key |= PatternKey{1} << cell;
      if (static_cast<int>(i) == played) key |= static_cast<PatternKey>(cell) << (kNakadeSide * kNakadeSide);
    }
    best = std::min(best, key);
  }
  return best;
}

const PatternGeometry& PatternGeometry::of(int size) {
  static const auto all = build_all();
  Geometry::of(size); // throws for a size out of range
  return (*all)[static_cast<std::size_t>(size)];
}

} // namespace go
