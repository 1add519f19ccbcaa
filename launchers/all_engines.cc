#include "launchers/all_engines.h"

#include "launchers/engines/kubernetes/engine.h"
#include "launchers/engines/processes/engine.h"
#include "launchers/engines/slurm/engine.h"
#include "launchers/engines/ssh/engine.h"
#include "launchers/engines/threads/engine.h"

namespace lp::launch {

Engines standard_engines() {
  Engines all;
  all.add(threads_engine());
  all.add(processes_engine());
  all.add(ssh_engine());
  all.add(slurm_engine());
  all.add(kubernetes_engine());
  return all;
}

const Engines& engines() {
  static const Engines all = standard_engines();
  return all;
}

}  // namespace lp::launch
