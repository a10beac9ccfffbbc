// What the 3x3 around a point says about the rules: its mover's stones are coded as Black's.
#pragma once

#include <array>
#include <cstdint>

#include "pattern.hpp"

namespace go {

namespace ring_rules {

inline constexpr int kHalfBits = kCodeBits * 4; // four points beside the centre, four diagonal ones
inline constexpr std::size_t kHalves = std::size_t{1} << kHalfBits;

enum Flag : std::uint8_t {
  kSuicide = 1,        // beside the centre: no liberty, no own chain with another one, nothing to take
  kSurrounded = 2,     // beside the centre: only own stones and the edge
  kMayBeSelfAtari = 4, // beside the centre: it does not show two liberties
};

struct Tables {
  std::array<std::uint8_t, kHalves> beside{}; // flags
  std::array<bool, kHalves> real_eye{};       // by the diagonal points

  constexpr Tables() {
    for (std::size_t half = 0; half < kHalves; ++half) {
      bool breathes = false;
      bool own_only = true;
      int enemies = 0;
      bool edge = false;
      int liberties_left = 0; // empty points, stones taken, and what own chains bring along
      for (int i = 0; i < 4; ++i) {
        const unsigned code = (half >> (kCodeBits * i)) & 7;
        const unsigned liberties = code & 3;
        const bool own = code < kWallCode && liberties > 0;
        const bool enemy = code > kWallCode;
        const bool opens = code == 0 || (enemy && liberties == 1);
        breathes |= opens || (own && liberties > 1);
        if (opens) ++liberties_left;
        if (own && liberties == kLibertyClasses) liberties_left += kLibertyClasses - 1;
        own_only &= own || code == kWallCode;
        enemies += enemy;
        edge |= code == kWallCode;
      }
      beside[half] = static_cast<std::uint8_t>((breathes ? 0 : kSuicide) | (own_only ? kSurrounded : 0) |
                                               (liberties_left < 2 ? kMayBeSelfAtari : 0));
      real_eye[half] = enemies + edge < 2;
    }
  }
};
inline constexpr Tables kTables;

inline std::uint8_t beside(std::uint32_t ring) { return kTables.beside[ring & (kHalves - 1)]; }

} // namespace ring_rules

// Is a move with this ring suicide, or does it fill an own eye? Both show in the ring.
inline bool ring_forbids(std::uint32_t ring) {
  const std::uint8_t flags = ring_rules::beside(ring);
  if ((flags & ring_rules::kSuicide) != 0) return true;
  return (flags & ring_rules::kSurrounded) != 0 && ring_rules::kTables.real_eye[ring >> ring_rules::kHalfBits];
}

inline bool ring_is_suicide(std::uint32_t ring) { return (ring_rules::beside(ring) & ring_rules::kSuicide) != 0; }

// False where the ring alone shows that the move's chain will have two liberties.
inline bool ring_may_be_self_atari(std::uint32_t ring) {
  return (ring_rules::beside(ring) & ring_rules::kMayBeSelfAtari) != 0;
}

} // namespace go
