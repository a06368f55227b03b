"""`python -m sslart` is the command `sslart`."""

from sslart.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
