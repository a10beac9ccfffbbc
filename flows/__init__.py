"""Prefect flows, one module a stage; pipeline.py composes them, cli.py is the command line."""

from tasks import bootstrap

bootstrap.apply()
