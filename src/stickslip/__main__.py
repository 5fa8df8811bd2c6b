"""``python -m stickslip`` is the ``stickslip`` command."""

from stickslip.cli import main

if __name__ == "__main__":
    main()
