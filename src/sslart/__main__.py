"""Entry point of `python -m sslart`, the same as the command `sslart`."""

from sslart.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
