"""One module for each version of the tables; a version that was published is never changed."""
