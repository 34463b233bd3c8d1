"""Training on a cluster: data in partitions of whole queries that stay with the workers."""
