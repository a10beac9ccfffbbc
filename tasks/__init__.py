"""The work of each stage: one readable main loop a file, free of Prefect and (but for tracking.py) of MLflow."""
