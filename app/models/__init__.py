"""Models on disk: which ones exist, how they are downloaded and verified, where they are, and whether they fit here.

In reading order:

- `catalogue`: the record of a model, the catalogue of all models (`resources/models.toml`), and errors about them.
- `locations`: where each model is, and whether it is complete. `layout`, `manifest`: the files of a checkpoint, and the
  record of its download.
- `store`: downloads, verifies and lists models. `hub` and `transfer` download from the hub, `packages` from the package
  registry.
- `fit`: whether a front-end fits on a graphics card. `selection`: how fast models run here, and which language model is
  best.
- `pool`: loaded models kept for the next conversation. `onnx`: sessions of ONNX models.

`catalogue.find_model` maps a model's key to a `Model`, `store.get_model` downloads its files, and
`locations.model_path` returns the file or folder that an engine loads.
"""
