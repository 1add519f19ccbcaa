#include "tools/lp/report/style.h"

namespace lp::tool {

std::string_view report_style() {
  return R"(:root { color-scheme: light dark; --ink: #1c2733; --soft: #5b6876; --line: #dfe4e8; --ground: #ffffff;
  --panel: #f4f6f8; --works: #2f7fd0; --waits: #e3b04b; --down: #c8372d; --good: #1c7a4a; --bad: #b3261e; --mid: #8a6100;
  --k0: #0063a8; --k1: #c4501b; --k2: #00805a; --k3: #a8488a; --k4: #8a6d00; --k5: #2f8fc4; --k6: #5b6876; --k7: #7a3db8 }
@media (prefers-color-scheme: dark) { :root { --ink: #dbe2e8; --soft: #93a1ae; --line: #37414b; --ground: #14191e;
  --panel: #1d242b; --works: #4a97e6; --waits: #b98a2e; --down: #e0574c; --good: #5cc98f; --bad: #f2857c; --mid: #dcb93c;
  --k0: #2f7fd0; --k1: #c4602f; --k2: #1f9a72; --k3: #b0609a; --k4: #96791a; --k5: #3f86ad; --k6: #66727f; --k7: #8a5cc8 } }
* { box-sizing: border-box }
body { margin: 0 auto; padding: 24px 20px 60px; max-width: 1160px; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, "Helvetica Neue", Arial, sans-serif }
h1 { font-size: 24px; margin: 0 0 4px; overflow-wrap: anywhere }
h2 { font-size: 18px; margin: 36px 0 8px; border-bottom: 1px solid var(--line); padding-bottom: 4px }
p { margin: 8px 0; max-width: 80ch } p.key { max-width: none }
.soft, figcaption { color: var(--soft); font-size: 13px }
.state { font-size: 14px; font-weight: 600; padding: 2px 10px; border-radius: 10px; background: var(--panel);
  vertical-align: middle }
.good { color: var(--good) } .bad { color: var(--bad) } .mid { color: var(--mid) }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; margin: 16px 0 }
dt { color: var(--soft) } dd { margin: 0; overflow-wrap: anywhere }
pre { background: var(--panel); padding: 12px; border-radius: 6px; overflow-x: auto; font-size: 13px; margin: 8px 0 }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums;
  width: auto; min-width: min(100%, 560px) }
th, td { text-align: left; padding: 4px 10px 4px 0; border-bottom: 1px solid var(--line); vertical-align: top }
th { color: var(--soft); font-weight: 600; white-space: nowrap }
td.n, th.n { text-align: right; white-space: nowrap; padding-right: 22px } td.name { white-space: nowrap }
.bar { display: inline-block; width: 120px; height: 11px; background: var(--panel); border-radius: 2px; overflow: hidden;
  font-size: 0; vertical-align: middle }
.bar i { display: inline-block; height: 11px }
.bar .works, .key .works { background: var(--works) } .bar .waits, .key .waits { background: var(--waits) }
.bar .down, .key .down { background: var(--down) } .key .ground { background: var(--panel) }
.key i { display: inline-block; width: 12px; height: 12px; border-radius: 2px; margin: 0 5px 0 14px; vertical-align: -1px }
figure { margin: 12px 0 } svg { max-width: 100% } svg.time { display: block; width: 100%; min-width: 640px }
.time text { font: 11px system-ui, Arial, sans-serif; fill: var(--ink) } .time .name { text-anchor: end; font-size: 12px }
.time .at { text-anchor: middle; fill: var(--soft) } .time .on { text-anchor: middle; fill: #ffffff }
.time .grid { stroke: var(--line); fill: none } .time .ground { fill: var(--panel) }
.time .works { fill: var(--works) } .time .waits { fill: var(--waits) } .time .down { fill: var(--down) }
.time .failure { fill: var(--ink) } .time .cut { fill: var(--soft) }
.time .k0 { fill: var(--k0) } .time .k1 { fill: var(--k1) } .time .k2 { fill: var(--k2) } .time .k3 { fill: var(--k3) }
.time .k4 { fill: var(--k4) } .time .k5 { fill: var(--k5) } .time .k6 { fill: var(--k6) } .time .k7 { fill: var(--k7) }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(460px, 100%), 1fr)); gap: 20px }
.chart { width: 100%; height: auto }
@media print { body { max-width: none } }
)";
}

}  // namespace lp::tool
