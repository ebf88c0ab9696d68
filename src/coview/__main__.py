"""The command line as ``python -m coview``."""

from coview.cli import main

if __name__ == "__main__":
    main()
