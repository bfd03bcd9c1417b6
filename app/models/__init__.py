"""Models on disk: which there are, how they are fetched and checked, where they are, and whether they fit the machine.

In reading order:

- `catalogue`: the record of a model, the catalogue of all models (`resources/models.toml`), and errors about them.
- `locations`: where each model is, and whether it is complete. `layout`, `manifest`: the files of a checkpoint, and the
  record of its download.
- `store`: fetches, checks and lists models. `hub` and `transfer` fetch from the hub, `packages` from the package
  registry.
- `fit`: whether a front-end fits a graphics card. `selection`: how fast models are here, and which language model is
  the best one.
- `pool`: loaded models that are kept for the next conversation. `onnx`: sessions of ONNX models.

A model's key goes through `catalogue.find_model` to a `Model`, from there through `store.get_model` to its files on
disk, and `locations.model_path` gives an engine the file or folder to load.
"""
