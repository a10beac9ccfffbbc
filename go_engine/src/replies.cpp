#include "replies.hpp"

namespace go {

PatternKey ring_of(const Position& position, Point p) {
  const auto& around = PatternGeometry::of(position.size()).around[p];
  PatternKey key = 0;
  for (int i = 0; i < kRingPoints; ++i) {
    const Point q = around[i];
    const Colour colour = q == kNoPoint ? kWall : position.colour(q);
    const bool stone = colour == kBlack || colour == kWhite;
    const int liberties = stone ? position.liberties(q, kLibertyClasses, nullptr) : 0;
    key |= static_cast<PatternKey>(point_code(colour, liberties)) << (kCodeBits * i);
  }
  return key;
}

} // namespace go
