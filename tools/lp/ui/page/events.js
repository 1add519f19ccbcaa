// What happened, and when: a time line, and a table with the newest first.

const kLanes = [
  ['starting', 'calm'], ['ready', 'good'], ['finished', 'calm'], ['failed', 'bad'], ['restarting', 'warn'],
  ['left', 'warn'], ['came', 'good'], ['ignored', 'warn'], ['cut', 'good'], ['cut_failed', 'bad'], ['stalled', 'bad'],
  ['moved', 'good'], ['phase', 'accent'], ['ended', 'accent']
];
const kLaneNames = {
  cut: 'checkpoint',
  cut_failed: 'checkpoint failed'
};
const lane_name = (kind) => kLaneNames[kind] || kind;
const lane_class = (kind) => (kLanes.find(([name]) => name === kind) || ['', ''])[1];

// About `count` seconds from 0 on, of which people think as round.
function time_ticks_of(most, count) {
  if (most / count < 1) return ticks_of(0, most, count);
  const step = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400].find(
      (size) => most / size <= count);
  return step === undefined ? ticks_of(0, most, count) :
                              Array.from({length: Math.floor(most / step) + 1}, (_, i) => i * step);
}
// "15 s", "2:30", "1:15:00", "3 d".
function tick_text(seconds) {
  if (seconds < 60) return `${value_text(seconds)} s`;
  if (seconds >= 2 * 86400) return duration_text(seconds);
  const two = (number) => String(number).padStart(2, '0');
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

class EventsView {
  constructor(page, place) {
    this.page = page;
    this.canvas = element(
        'canvas',
        {class: 'line', role: 'img', 'aria-label': 'The events on a time line; the table below has the same.'});
    this.filter = element('input', {
      type: 'search',
      class: 'grow',
      placeholder: 'Find a node, a kind or a text',
      'aria-label': 'Find an event',
      oninput: () => this.update()
    });
    this.read = element('p', {class: 'soft'});
    const began = page.info.record.began;
    this.table = new SortedTable(
        [
          {
            name: 'After',
            kind: 'number',
            value: (event) => event.time,
            text: (event) => `${(event.time - began).toFixed(3)} s`
          },
          {name: 'Node', kind: 'name', value: (event) => event.node, text: (event) => event.node},
          {
            name: 'Event',
            value: (event) => event.kind,
            text: (event) => lane_name(event.kind),
            style: (event) => (lane_class(event.kind) === 'bad' ? 'bad' : '')
          },
          {
            name: 'Text',
            kind: 'wrap',
            text: (event) =>
                (event.incarnation > 1 ? `incarnation ${event.incarnation}${event.text ? ': ' : ''}` : '') + event.text
          },
        ],
        {by: 0, label: 'Events'});
    place.replaceChildren(
        element('div', {class: 'picture'}, this.canvas), this.read, element('div', {class: 'bar'}, this.filter),
        this.table.place);
    this.canvas.addEventListener('pointermove', (event) => this.point(event.offsetX, event.offsetY));
    this.drawn = () => {
      this.seen = -1;
      this.update();
    };
    this.theme = matchMedia('(prefers-color-scheme: dark)');
    this.theme.addEventListener('change', this.drawn);
    this.sized = new ResizeObserver(this.drawn);
    this.sized.observe(this.canvas);
  }
  hide() {
    this.sized.disconnect();
    this.theme.removeEventListener('change', this.drawn);
  }
  update() {
    const {events} = this.page;
    const word = this.filter.value.trim().toLowerCase();
    this.draw();
    const last = events.length > 0 ? events[events.length - 1].time : 0;
    if (this.seen === events.length + word + last) return;  // nothing has come
    this.seen = events.length + word + last;
    this.table.show(events.filter(
        (event) => !word || `${event.node} ${lane_name(event.kind)} ${event.text}`.toLowerCase().includes(word)));
  }
  draw() {
    const {page, canvas} = this;
    const lanes = kLanes.filter(([kind]) => page.events.some((event) => event.kind === kind));
    const height = 34 + 18 * Math.max(lanes.length, 3);
    canvas.style.height = `${height}px`;
    const context = begin_canvas(canvas);
    const width = canvas.clientWidth, left = 118, right = width - 16;
    const began = page.info.record.began;
    const lives = page.run && page.run.life === 'live';
    const end =
        Math.max(lives ? Date.now() / 1000 : 0, ...page.events.slice(-1).map((event) => event.time), began + 0.001);
    const x_of = (time) => left + (right - left) * Math.max(0, time - began) / (end - began);
    context.font = '11px system-ui, sans-serif';
    context.fillStyle = colour('soft');
    context.strokeStyle = colour('line');
    for (const tick of time_ticks_of(end - began, Math.max(2, Math.floor((right - left) / 70)))) {
      const x = x_of(began + tick);
      context.beginPath();
      context.moveTo(x, 6);
      context.lineTo(x, height - 22);
      context.stroke();
      context.textAlign = 'center';
      context.fillText(tick_text(tick), Math.min(x, width - 22), height - 8);
    }
    this.dots = [];
    lanes.forEach(([kind, style], lane) => {
      const y = 16 + 18 * lane;
      context.textAlign = 'right';
      context.fillStyle = colour('soft');
      context.fillText(lane_name(kind), left - 12, y + 4);
      context.fillStyle = colour(style);
      for (const event of page.events) {
        if (event.kind !== kind) continue;
        const x = x_of(event.time);
        context.beginPath();
        context.arc(x, y, 4, 0, 7);
        context.fill();
        this.dots.push([x, y, event]);
      }
    });
    if (page.events.length === 0) {
      context.textAlign = 'center';
      context.fillText('There are no events so far.', width / 2, height / 2);
    }
  }
  point(x, y) {
    const near = this.dots.filter(([px, py]) => Math.abs(px - x) < 7 && Math.abs(py - y) < 8);
    const texts = near.slice(-3).map(
        ([, , event]) => `${(event.time - this.page.info.record.began).toFixed(3)} s: ${event.node} ${
            lane_name(event.kind)} ${event.text}`);
    set_text(this.read, (near.length > 3 ? `${near.length} events, the last: ` : '') + texts.join('; '));
  }
}
kViews.events = {
  title: 'Events',
  make: (page, place) => new EventsView(page, place)
};
