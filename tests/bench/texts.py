"""Generated texts for benchmarks: words by Zipf's law, and lines for sorting. A function of the size and the seed."""

import random


def vocabulary(words, seed=1):
    source = random.Random(seed)
    return ["".join(source.choices("abcdefghijklmnopqrstuvwxyz", k=source.randint(2, 12))) for _ in range(words)]


def write_words(path, size, seed=1):
    """Lines of words, of which the k-th is there about 1/k as often as the first, until the file has `size` bytes."""
    source = random.Random(seed)
    words = vocabulary(100_000)
    weights = [1 / (rank + 1) for rank in range(len(words))]
    blocks = []  # a file is made of some blocks in random order, since making each word costs a microsecond
    for _ in range(16):
        chosen = source.choices(words, weights, k=200_000)
        blocks.append("\n".join(" ".join(chosen[at:at + 12]) for at in range(0, len(chosen), 12)) + "\n")
    with open(path, "w", encoding="ascii") as file:
        while file.tell() < size:
            file.write(source.choice(blocks))


def write_lines(path, size, seed=1):
    """Lines of 99 random characters, until the file has `size` bytes."""
    source = random.Random(seed)
    letters = bytes(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/"[byte % 64] for byte in range(256))
    with open(path, "wb") as file:
        while file.tell() < size:
            block = source.randbytes(99 * 10_000).translate(letters)
            file.write(b"".join(block[at:at + 99] + b"\n" for at in range(0, len(block), 99)))
