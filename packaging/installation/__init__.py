"""Share between bootstrap.py and launcher.py what sets the app up. Standard library only, Python 3.8 and newer."""
