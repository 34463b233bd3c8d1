"""Kill workers of a Dask cluster, or the driver, at random moments of a fit, and judge the result."""
