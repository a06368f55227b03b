"""Commands with --dask: tables in many files, learnt and predicted by the workers of a cluster."""
