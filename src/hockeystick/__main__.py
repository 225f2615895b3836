"""`python -m hockeystick` is the command `hockeystick`."""

from .cli import main

if __name__ == "__main__":
    main()
