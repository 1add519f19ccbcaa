"""The steps that TensorBoard shows of the value `loss`, of each run below a folder, as JSON. Usage: FOLDER"""

import json
import sys

from tensorboard.backend.event_processing import event_multiplexer

runs = event_multiplexer.EventMultiplexer(size_guidance={"scalars": 0})
runs.AddRunsFromDirectory(sys.argv[1])
runs.Reload()
print(json.dumps({run: [event.step for event in runs.Scalars(run, "loss")]
                  for run, kinds in runs.Runs().items() if "loss" in kinds["scalars"]}))
