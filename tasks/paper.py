"""The numbers of the paper that ours are laid beside; every one names its table or figure.

Silver et al., Mastering the game of Go with deep neural networks and tree search, Nature 529, 484-489 (2016).
ED: its Extended Data Tables. Free of heavy imports.
"""

from __future__ import annotations

from typing import NamedTuple


class Accuracy(NamedTuple):
    """A row of ED Table 3. Accuracies and wins in percent, the time of one evaluation in milliseconds.

    `raw_wins` are of games against the policy of 192 filters, both without search; `search_wins` the same
    with both inside AlphaGo's search.
    """

    filters: int
    symmetries: int
    planes: int
    test: float
    train: float
    raw_wins: float
    search_wins: float
    milliseconds: float


ACCURACY = (  # ED Table 3, on KGS games of 6 to 9 dan
    Accuracy(128, 1, 48, 54.6, 57.0, 36, 53, 2.8),
    Accuracy(192, 1, 48, 55.4, 58.0, 50, 50, 4.8),
    Accuracy(256, 1, 48, 55.9, 59.1, 67, 55, 7.1),
    Accuracy(256, 2, 48, 56.5, 59.8, 67, 38, 13.9),
    Accuracy(256, 4, 48, 56.9, 60.2, 69, 14, 27.6),
    Accuracy(256, 8, 48, 57.0, 60.4, 69, 5, 55.3),
    Accuracy(192, 1, 4, 47.6, 51.4, 25, 15, 4.8),
    Accuracy(192, 1, 12, 54.7, 57.1, 30, 34, 4.8),
    Accuracy(192, 1, 20, 54.7, 57.2, 38, 40, 4.8),
    Accuracy(192, 8, 4, 49.2, 53.2, 24, 2, 36.8),
    Accuracy(192, 8, 12, 55.7, 58.3, 32, 3, 36.8),
    Accuracy(192, 8, 20, 55.8, 58.4, 42, 3, 36.8),
)
MATCH_NETWORK, BEST_NETWORK = ACCURACY[1], ACCURACY[5]

PATTERNS = {"nakade": 8192, "response_pattern": 32207, "pattern": 69338, "diamond": 32207}  # ED Table 4
ROLLOUT_ACCURACY = 24.2  # percent; "Supervised learning of policy networks"

RL_WINS = (
    80.0  # percent of games against the SL policy, "more than"; "Reinforcement learning of policy networks"
)


class ErrorPair(NamedTuple):
    """Mean squared errors on training and held-out positions; "Reinforcement learning of value networks"."""

    train: float
    test: float


ONE_A_GAME = ErrorPair(0.226, 0.234)  # one position of each of 30 million games of self-play
ALL_POSITIONS = ErrorPair(0.19, 0.37)  # all positions of the KGS games: learnt by heart


class Rated(NamedTuple):
    """A player with its Elo rating (BayesElo, anchored at Fan Hui's 2908)."""

    name: str
    elo: int


PROGRAMS = (  # ED Table 6 and Fig. 4a: 5 seconds a move
    Rated("AlphaGo, distributed", 3140),
    Rated("AlphaGo", 2890),
    Rated("CrazyStone, 4 stones", 2526),
    Rated("Zen, 4 stones", 2413),
    Rated("CrazyStone", 1929),
    Rated("Zen", 1888),
    Rated("Pachi, 4 stones", 1756),
    Rated("Pachi", 1298),
    Rated("Fuego", 1148),
    Rated("GNU Go 3.8, level 10", 431),
)


class Variant(NamedTuple):
    """A row of ED Table 7: which parts of AlphaGo are at work, and its Elo rating."""

    policy: bool  # the policy network; without it the tree policy gives the priors
    value: bool
    rollouts: bool
    elo: int

    @property
    def parts(self) -> tuple[bool, bool, bool]:
        return self.policy, self.value, self.rollouts

    @property
    def name(self) -> str:
        if self.parts == (True, False, False):
            return "policy network alone"
        used = ("policy network" if self.policy else "tree policy", self.value and "value network")
        return ", ".join(part for part in (*used, self.rollouts and "rollouts") if part)


VARIANTS = (  # ED Table 7 and Fig. 4b: 5 seconds a move, 48 CPUs, 8 GPUs
    Variant(True, True, True, 2890),
    Variant(True, False, True, 2416),
    Variant(True, True, False, 2177),
    Variant(False, True, True, 2077),
    Variant(False, True, False, 1655),
    Variant(True, False, False, 1517),
    Variant(False, False, True, 1457),
)

VARIANT_NAMES = ("rvp", "vp", "rp", "rv", "r", "v", "p")  # r: rollouts, v: value network, p: policy network
# ED Table 9, among the variants: percent of games that the COLUMN won against the row [95% Agresti-Coull].
VARIANT_GAMES = (
    ("-", "1 [0; 5]", "5 [4; 7]", "0 [0; 4]", "0 [0; 8]", "0 [0; 19]", "0 [0; 19]"),
    ("99 [95; 100]", "-", "61 [52; 69]", "35 [25; 48]", "6 [1; 27]", "0 [0; 22]", "1 [0; 6]"),
    ("95 [93; 96]", "39 [31; 48]", "-", "13 [7; 23]", "0 [0; 9]", "0 [0; 22]", "4 [1; 21]"),
    ("100 [96; 100]", "65 [52; 75]", "87 [77; 93]", "-", "0 [0; 18]", "29 [8; 64]", "48 [33; 65]"),
    ("100 [92; 100]", "94 [73; 99]", "100 [91; 100]", "100 [82; 100]", "-", "78 [45; 94]", "78 [71; 84]"),
    ("100 [81; 100]", "100 [78; 100]", "100 [78; 100]", "71 [36; 92]", "22 [6; 55]", "-", "30 [16; 48]"),
    ("100 [81; 100]", "99 [94; 100]", "96 [79; 99]", "52 [35; 67]", "22 [16; 29]", "70 [52; 84]", "-"),
)

# ED Table 8: 2 seconds a move
THREADS = {1: 2203, 2: 2393, 4: 2564, 8: 2665, 16: 2778, 32: 2867, 40: 2890}  # 48 CPUs, 8 GPUs
GPUS = {1: 2181, 2: 2738, 4: 2850, 8: 2890}  # 40 threads, 48 CPUs
DISTRIBUTED = {12: 2937, 24: 3079, 40: 3140, 64: 3168}  # threads of the master

COSTS = {  # Methods: what each stage took
    "parse-games": "29.4 million positions of 160,000 KGS games; the time is not given",
    "train-rollout-policy": "8 million positions of Tygem; the time is not given",
    "train-sl-policy": "3 weeks on 50 GPUs, 340 million steps of 16",
    "train-rl-policy": "1 day on 50 GPUs, 10,000 iterations of 128 games",
    "generate-value-set": "30 million games; the time is not given",
    "train-value-network": "1 week on 50 GPUs, 50 million steps of 32",
    "evaluate-tournament": "5 s a move, up to 1,202 CPUs and 176 GPUs",
}
