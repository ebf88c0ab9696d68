"""Missing values integrated out or filled in."""

__all__: list[str] = []
