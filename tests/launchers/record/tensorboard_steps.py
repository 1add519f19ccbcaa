"""What TensorBoard shows of each run below a folder, as JSON: the steps of the value `loss`, the sums of the histograms
`weights`, and the texts `sample`. Usage: FOLDER"""

import json
import sys

from tensorboard.backend.event_processing import plugin_event_multiplexer
from tensorboard.util import tensor_util

runs = plugin_event_multiplexer.EventMultiplexer(
    tensor_size_guidance={"scalars": 0, "histograms": 0, "text": 0})
runs.AddRunsFromDirectory(sys.argv[1])
runs.Reload()


def tensors(run, name):
    return [(event.step, tensor_util.make_ndarray(event.tensor_proto)) for event in runs.Tensors(run, name)]


shown = {}
for run, kinds in runs.Runs().items():
    if "loss" not in kinds["tensors"]:
        continue
    shown[run] = {
        "loss": [step for step, _ in tensors(run, "loss")],
        "weights": [int(buckets[:, 1].max()) for _, buckets in tensors(run, "weights")],  # where the last one ends
        "sample": [text.item().decode() for _, text in tensors(run, "sample")],
        "plugins": sorted(runs.SummaryMetadata(run, name).plugin_data.plugin_name
                          for name in ("loss", "weights", "sample")),
    }
print(json.dumps(shown))
