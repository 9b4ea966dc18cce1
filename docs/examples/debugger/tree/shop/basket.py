"""A basket of things with prices in cents."""


class Basket:
    def __init__(self) -> None:
        self.items: list[tuple[str, int, int]] = []

    def add(self, name: str, cents: int, count: int = 1) -> None:
        self.items.append((name, cents, count))

    def total(self) -> int:
        # From ten pieces of a thing on, every tenth is free.
        return sum(cents * (count - count // 11) for _, cents, count in self.items)
