"""`alphago gtp`: any player as a GTP engine on stdin and stdout."""

from __future__ import annotations

import secrets

from go_engine.gtp import DEFAULT_SIZE, GtpEngine
from go_engine.gtp_server import serve, standard_streams
from tasks.players import Setting, make_player

SEED_BITS = 31


def serve_gtp(spec: str, size: int | None, seed: int | None, threads: int) -> None:
    """Make the player and answer commands until `quit`. Raises UserError for a player that cannot be made."""
    stdin, stdout = standard_streams()
    seed = secrets.randbits(SEED_BITS) if seed is None else seed
    player = make_player(spec, Setting(size, seed, threads))
    own: int = getattr(player, "size", DEFAULT_SIZE)
    try:
        serve(GtpEngine(player, size or own), stdin, stdout)
    finally:
        close = getattr(player, "close", None)  # threads of a search, an external program
        if close is not None:
            close()
