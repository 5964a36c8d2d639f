"""`python -m ladder` is the command `dogana`."""

from ladder.cli import main

if __name__ == "__main__":
    main()
