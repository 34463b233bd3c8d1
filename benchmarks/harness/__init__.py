"""Data, clocks, stored rows and the pages made of them."""
