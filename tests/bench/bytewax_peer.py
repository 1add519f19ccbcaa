"""The dataflow of streams_bench for Bytewax: keyed counts in tumbling windows over generated events. Run by streams.py:
EVENTS=N PARTS=N python -m bytewax.testing bytewax_peer:flow [-p PROCESSES]"""

import os
from datetime import datetime, timedelta, timezone

import bytewax.operators as op
import bytewax.operators.windowing as win
from bytewax.dataflow import Dataflow
from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition
from bytewax.outputs import DynamicSink, StatelessSinkPartition

EVENTS, PARTS = int(os.environ["EVENTS"]), int(os.environ["PARTS"])
KEYS = [str(key) for key in range(10_000)]
BEGIN = datetime(2024, 1, 1, tzinfo=timezone.utc)


class Part(StatefulSourcePartition):
    def __init__(self, part):
        self._next = part

    def next_batch(self):
        if self._next >= EVENTS:
            raise StopIteration()
        end = min(self._next + 1000 * PARTS, EVENTS)
        batch = [(KEYS[i * 7919 % 10_000], BEGIN + timedelta(milliseconds=i // 1000)) for i in range(self._next, end, PARTS)]
        self._next += 1000 * PARTS
        return batch

    def snapshot(self):
        return self._next


class Source(FixedPartitionedSource):
    def list_parts(self):
        return [str(part) for part in range(PARTS)]

    def build_part(self, step_id, for_part, resume_state):
        return Part(int(for_part))


class Nowhere(StatelessSinkPartition):
    def write_batch(self, items):
        pass


class Sink(DynamicSink):
    def build(self, step_id, worker_index, worker_count):
        return Nowhere()


flow = Dataflow("counts")
events = op.input("events", flow, Source())
counted = win.count_window("count", events, win.EventClock(lambda event: event[1], timedelta(0)),
                           win.TumblingWindower(length=timedelta(seconds=1), align_to=BEGIN), lambda event: event[0])
op.output("out", counted.down, Sink())
