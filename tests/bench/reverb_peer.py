"""Items a second into and out of a table of Reverb: one writer, then one sampler, as replay_bench does it for lp.

Usage: reverb_peer.py SECONDS, with the python of an environment that has dm-reverb and tensorflow. Prints a JSON list.
"""

import json
import sys
import time

import numpy
import reverb
import tensorflow

SECONDS = float(sys.argv[1])
TABLE_BYTES = 64 << 20


def items_in_table(size):
    return max(64, min(200_000, TABLE_BYTES // size))


def rate(batch, step):
    """Calls step(), which handles `batch` items, until the time is over."""
    items = 0
    begin = time.monotonic()
    while time.monotonic() - begin < SECONDS:
        step()
        items += batch
    return items / (time.monotonic() - begin)


def insert(client, values, batch):
    with client.trajectory_writer(num_keep_alive_refs=1) as writer:
        def step():
            for _ in range(batch):
                writer.append({"values": values})
                writer.create_item("items", 1.0, {"values": writer.history["values"][-1:]})
            writer.flush()
        return rate(batch, step)


def sample(address, values, batch):
    dataset = reverb.TrajectoryDataset(
        server_address=address, table="items", dtypes={"values": tensorflow.float32},
        shapes={"values": tensorflow.TensorShape((1, *values.shape))},
        max_in_flight_samples_per_worker=2 * batch)
    batches = iter(dataset.batch(batch))
    next(batches)
    return rate(batch, lambda: next(batches))


def measure(size, batch):
    values = numpy.ones(size // 4, numpy.float32)
    table = reverb.Table(name="items", sampler=reverb.selectors.Uniform(), remover=reverb.selectors.Fifo(),
                         max_size=items_in_table(size), rate_limiter=reverb.rate_limiters.MinSize(1),
                         signature={"values": tensorflow.TensorSpec((1, *values.shape), tensorflow.float32)})
    server = reverb.Server([table], port=None)
    try:
        address = f"localhost:{server.port}"
        inserts = insert(reverb.Client(address), values, batch)
        return {"bytes": size, "batch": batch, "inserts_a_second": inserts,
                "samples_a_second": sample(address, values, batch)}
    finally:
        server.stop()


if __name__ == "__main__":
    print(json.dumps([measure(size, batch) for size in [64, 4096, 262144] for batch in [1, 256]]))
