"""Items a second into and out of a table of Reverb: one writer, then one sampler, as replay_bench does it for lp. The
server is in their process, which Reverb's sampler then uses without messages, and in a process of its own.

Usage: reverb_peer.py SECONDS, with the python of an environment that has dm-reverb and tensorflow. Prints a JSON list.
"""

import contextlib
import json
import multiprocessing
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


def make_server(size):
    signature = {"values": tensorflow.TensorSpec((1, size // 4), tensorflow.float32)}
    table = reverb.Table(name="items", sampler=reverb.selectors.Uniform(), remover=reverb.selectors.Fifo(),
                         max_size=items_in_table(size), rate_limiter=reverb.rate_limiters.MinSize(1),
                         signature=signature)
    return reverb.Server([table], port=None)


def serve(size, pipe):
    """Serves until the other side of the pipe closes."""
    server = make_server(size)
    pipe.send(server.port)
    with contextlib.suppress(EOFError):
        pipe.recv()
    server.stop()


@contextlib.contextmanager
def running_server(launch, size):
    """Gives the server's port."""
    if launch == "threads":
        server = make_server(size)
        try:
            yield server.port
        finally:
            server.stop()
        return
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=serve, args=(size, there))
    process.start()
    there.close()
    try:
        yield here.recv()
    finally:
        here.close()
        process.join()


def measure(launch, size, batch):
    values = numpy.ones(size // 4, numpy.float32)
    with running_server(launch, size) as port:
        address = f"localhost:{port}"
        inserts = insert(reverb.Client(address), values, batch)
        return {"launch": launch, "bytes": size, "batch": batch, "inserts_a_second": inserts,
                "samples_a_second": sample(address, values, batch)}


if __name__ == "__main__":
    print(json.dumps([measure(launch, size, batch) for launch in ["threads", "processes"]
                      for size in [64, 4096, 262144] for batch in [1, 256]]))
