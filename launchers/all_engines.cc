#include "launchers/all_engines.h"

#include "launchers/kubernetes/engine.h"
#include "launchers/processes/engine.h"
#include "launchers/slurm/engine.h"
#include "launchers/ssh/engine.h"
#include "launchers/threads/engine.h"

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
