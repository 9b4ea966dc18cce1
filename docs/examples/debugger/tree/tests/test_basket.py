import unittest

from shop.basket import Basket


class BasketTest(unittest.TestCase):
    def test_few(self) -> None:
        basket = Basket()
        basket.add("tea", 400, 2)
        self.assertEqual(basket.total(), 800)

    def test_every_tenth_is_free(self) -> None:
        basket = Basket()
        basket.add("pencil", 100, 10)
        self.assertEqual(basket.total(), 900)
