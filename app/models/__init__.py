"""Model weights on disk: what there is to have, how it comes here, whether it is whole, whether it fits."""
