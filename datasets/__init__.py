"""Game records: readers, filters, the parquet data sets and their loaders."""

from .reading import read_games
from .records import GameRecord, RejectedGame

__all__ = ["GameRecord", "RejectedGame", "read_games"]
