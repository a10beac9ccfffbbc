"""The work of each stage: one readable main loop a file, free of Prefect and (all but tracking.py) MLflow."""
