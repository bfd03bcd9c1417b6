"""Models: their catalogue, download, verification, storage location and suitability for this machine.

In reading order:

- `catalogue`: the catalogue of all models (`resources/models.toml`), and the base class of model errors.
- `locations`: where each model is stored, and whether it is complete. `layout`: the files of a checkpoint. `manifest`:
  the record of a download.
- `store`: downloads, verifies and lists models. `hub` and `transfer` download from the Hugging Face Hub (“the hub”),
  `packages` from the package registry.
- `fit`: whether a front-end fits on a graphics card. `selection`: measured speeds, and selection of a language
  model.
- `pool`: a cache of loaded models, shared by successive conversations. `onnx`: sessions of ONNX models.

`catalogue.find_model` maps a model's key to a `Model`, `store.get_model` downloads its files, and
`locations.model_path` returns the file or folder that an engine loads.
"""
