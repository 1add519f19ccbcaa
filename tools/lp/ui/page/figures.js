// Figures for people.

// "0", "7.5", "12k", "3.4M".
function short_number(value) {
  let number = value;
  for (const unit of ['', 'k', 'M', 'G', 'T']) {
    if (Math.abs(number) < 999.5 || unit === 'T') {
      return (Math.abs(number) >= 9.95 || Number.isInteger(number) ? number.toFixed(0) :
                                                                     number.toFixed(Math.abs(number) < 0.095 ? 2 : 1)) +
          unit;
    }
    number /= 1000;
  }
}
// "512", "1.5K", "3G": powers of 1024.
function bytes_text(value) {
  let number = value;
  for (const unit of ['', 'K', 'M', 'G', 'T']) {
    if (number < 1000 || unit === 'T')
      return (number >= 9.95 || unit === '' ? number.toFixed(0) : number.toFixed(1)) + unit;
    number /= 1024;
  }
}
// "16 µs", "2 ms", "1.1 s"; empty for none.
function latency_text(seconds) {
  if (!(seconds > 0)) return '';
  let number = seconds * 1e9;
  for (const unit of ['ns', 'µs', 'ms', 's']) {
    if (number < 999.5 || unit === 's') return `${number >= 9.95 ? number.toFixed(0) : number.toFixed(1)} ${unit}`;
    number /= 1000;
  }
}
// "45 s", "12 min", "3 h", "5 d".
function duration_text(seconds) {
  if (seconds < 100) return `${Math.max(0, Math.floor(seconds))} s`;
  if (seconds < 6000) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} d`;
}
const clock_text = (seconds) => new Date(seconds * 1000).toLocaleString(undefined, {hour12: false});
// A value that a node has reported.
function value_text(value) {
  if (value === null) return 'not finite';
  if (value === 0 || (Math.abs(value) >= 1e-3 && Math.abs(value) < 1e6)) return String(Number(value.toPrecision(4)));
  return value.toExponential(2);
}
const percent_text = (share) => (share * 100).toFixed(share < 0.0995 ? 1 : 0);
// The names of colours in the style: the same number has always the same one.
const colour_class = (number) => `c${number % 8}`;
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// The colour of a run's state.
function run_class(run) {
  if (run.state === 'succeeded') return 'good';
  if (['failed', 'launcher gone', 'no answer', 'unreadable', 'timeout', 'node_fail'].includes(run.state)) return 'bad';
  if (run.life === 'lost') return 'bad';
  if (['stopped', 'pending', 'starting', 'stopping', 'reporting'].includes(run.state)) return 'warn';
  return run.life === 'ended' ? 'calm' : 'good';
}
const kNodeClasses = {
  failed: 'bad',
  absent: 'warn',
  waiting: 'warn',
  starting: 'warn',
  finished: 'calm',
  ended: 'calm',
  ready: 'good',
  running: 'good',
};
const node_class = (state) => kNodeClasses[state] || 'calm';
