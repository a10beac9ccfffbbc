"""Other programs' boards, measured in a process of their own: python peers.py NAME < games.json > rates.json

NAME is open_spiel, sente or sgfmill. Standard input holds {"rounds": n, "games": [[move, ...], ...]}: games
on 19x19 from the empty board with alternating colours, moves as row * 19 + col, 361 for a pass. Prints
{"playouts": [...], "replay": [...]}: random playouts and replayed moves per CPU second, one number a round.
It imports nothing of ours, so that it also runs under a Python for which a peer has a build.
"""

import json
import random
import sys
import time

SIZE = 19
PASS = SIZE * SIZE
PLAYOUT_PLIES = 450  # about as many as a playout without filling eyes has


def rate(work, rounds):
    """Units per CPU second, one number a round; `work` returns the number of units it did."""
    rates = []
    for _ in range(rounds):
        start = time.process_time()
        units = work()
        rates.append(units / (time.process_time() - start))
    return rates


def open_spiel(games, rounds):
    import pyspiel

    game = pyspiel.load_game("go", {"board_size": SIZE})

    def playouts():
        """legal_actions + apply_action; OpenSpiel has no own-eye rule, so a playout is 450 plies."""
        state, plies = game.new_initial_state(), 0
        while plies < PLAYOUT_PLIES and not state.is_terminal():
            state.apply_action(random.choice(state.legal_actions()))
            plies += 1
        return plies / PLAYOUT_PLIES

    def replay():
        done = 0
        for moves in games:
            state = game.new_initial_state()
            for move in moves:
                state.apply_action(move)
            done += len(moves)
        return done

    return {"playouts": rate(playouts, rounds), "replay": rate(replay, rounds)}


def sente(games, rounds):
    import sente as library

    def playouts():
        """get_legal_moves + play, a sixth of a playout: a whole one takes too long."""
        game, plies = library.Game(SIZE), PLAYOUT_PLIES // 6
        for _ in range(plies):
            game.play(random.choice(game.get_legal_moves()))
        return plies / PLAYOUT_PLIES

    def replay():
        done = 0
        for moves in games[:5]:
            game = library.Game(SIZE)
            for move in moves:
                if move == PASS:
                    game.pss()
                else:
                    game.play(move // SIZE + 1, move % SIZE + 1)
            done += len(moves)
        return done

    return {"playouts": rate(playouts, rounds), "replay": rate(replay, rounds)}


def sgfmill(games, rounds):
    from sgfmill.boards import Board

    def neighbours(row, col):
        steps = ((row - 1, col), (row + 1, col), (row, col - 1), (row, col + 1))
        return [(r, c) for r, c in steps if 0 <= r < SIZE and 0 <= c < SIZE]

    def playouts():
        """A random empty point that is not surrounded by the own colour, half a playout."""
        board, colour, plies = Board(SIZE), "b", PLAYOUT_PLIES // 2
        points = [(r, c) for r in range(SIZE) for c in range(SIZE)]
        for _ in range(plies):
            random.shuffle(points)
            for row, col in points:
                if board.get(row, col) is None and any(board.get(*q) != colour for q in neighbours(row, col)):
                    board.play(row, col, colour)
                    break
            colour = "w" if colour == "b" else "b"
        return plies / PLAYOUT_PLIES

    def replay():
        done = 0
        for moves in games[:20]:
            board = Board(SIZE)
            for ply, move in enumerate(moves):
                if move != PASS:
                    board.play(move // SIZE, move % SIZE, "bw"[ply % 2])
            done += len(moves)
        return done

    return {"playouts": rate(playouts, rounds), "replay": rate(replay, rounds)}


if __name__ == "__main__":
    request = json.load(sys.stdin)
    random.seed(1)
    contestant = {"open_spiel": open_spiel, "sente": sente, "sgfmill": sgfmill}[sys.argv[1]]
    json.dump(contestant(request["games"], request["rounds"]), sys.stdout)
