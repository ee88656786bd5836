"""``python -m gnomon.cli`` is the command ``gnomon``."""

from gnomon.cli.app import app

if __name__ == "__main__":
    app(prog_name="gnomon")
