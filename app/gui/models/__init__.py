"""The page of models, and downloads."""
