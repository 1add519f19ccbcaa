// The values that nodes have reported, a chart for each name and a line for each node.

// A canvas in the resolution of the screen, without an old picture.
function begin_canvas(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const width = Math.round(canvas.clientWidth * ratio), height = Math.round(canvas.clientHeight * ratio);
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, {width, height});
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
  return context;
}
// About `count` round numbers from `least` to `most`.
function ticks_of(least, most, count) {
  const span = most - least || 1;
  const unit = 10 ** Math.floor(Math.log10(span / count));
  const step = [1, 2, 5, 10].map((factor) => factor * unit).find((size) => span / size <= count) || 10 * unit;
  const ticks = [];
  for (let i = Math.ceil(least / step); i * step <= most + step * 1e-9; ++i)
    ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

class Chart {
  constructor(name) {
    this.canvas = element('canvas', {role: 'img', 'aria-label': `The curve of ${name}`});
    this.reading = element('div', {class: 'read'});
    this.figure = element('figure', {class: 'chart'}, element('figcaption', {}, name), this.canvas, this.reading);
    this.canvas.addEventListener('pointermove', (event) => {
      this.x = event.offsetX;
      this.draw();
    });
    this.canvas.addEventListener('pointerleave', () => {
      this.x = undefined;
      this.draw();
    });
  }
  // `lines`: { label, colour, points }, one for each node.
  show(lines, logarithmic) {
    Object.assign(this, {lines, logarithmic});
    this.draw();
  }
  draw() {
    const context = begin_canvas(this.canvas);
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    const all = this.lines.flatMap((line) => line.points)
                    .filter((point) => point[1] !== null && (!this.logarithmic || point[1] > 0));
    context.font = '11px system-ui, sans-serif';
    context.fillStyle = colour('soft');
    if (all.length === 0)
      return context.fillText(this.logarithmic ? 'No value is positive.' : 'No value is finite.', 12, 24);
    const scale = this.logarithmic ? Math.log10 : (value) => value;
    const range = (values) =>
        values.reduce(([least, most], value) => [Math.min(least, value), Math.max(most, value)], [Infinity, -Infinity]);
    const [first, last] = range(all.map((point) => point[0]));
    let [least, most] = range(all.map((point) => scale(point[1])));
    const margin = (most - least) * 0.06 || Math.abs(most) * 0.1 || 1;
    [least, most] = [least - margin, most + margin];
    const left = 56, right = width - 10, top = 10, bottom = height - 22;
    const x_of = (step) => left + (right - left) * (last > first ? (step - first) / (last - first) : 0.5);
    const y_of = (value) => bottom - (bottom - top) * (scale(value) - least) / (most - least);
    this.draw_axes(context, {first, last, least, most, left, right, top, bottom, x_of, y_of});
    for (const line of this.lines) this.draw_line(context, line, x_of, y_of);
    this.read(context, {left, right, top, bottom, first, last, x_of, y_of});
  }
  draw_axes(context, {first, last, least, most, left, right, top, bottom, x_of, y_of}) {
    context.strokeStyle = colour('line');
    context.lineWidth = 1;
    context.textAlign = 'right';
    for (const tick of ticks_of(least, most, 5)) {
      const value = this.logarithmic ? 10 ** tick : tick;
      const y = y_of(value);
      context.beginPath();
      context.moveTo(left, y);
      context.lineTo(right, y);
      context.stroke();
      context.fillText(value_text(value), left - 6, y + 4);
    }
    context.textAlign = 'center';
    for (const tick of ticks_of(first, last, Math.max(2, Math.floor((right - left) / 55)))) {
      if (Number.isInteger(tick)) context.fillText(short_number(tick), Math.min(x_of(tick), right - 12), bottom + 16);
    }
  }
  draw_line(context, line, x_of, y_of) {
    context.strokeStyle = context.fillStyle = colour(line.colour);
    context.lineWidth = this.lines.length > 12 ? 1 : 1.6;
    context.lineJoin = 'round';
    context.beginPath();
    let open = false;
    for (const [step, value] of line.points) {
      const shown = value !== null && (!this.logarithmic || value > 0);
      if (shown && open)
        context.lineTo(x_of(step), y_of(value));
      else if (shown)
        context.moveTo(x_of(step), y_of(value));
      open = shown;
    }
    context.stroke();
    if (line.points.length > 40) return;
    for (const [step, value] of line.points) {
      if (value === null || (this.logarithmic && value <= 0)) continue;
      context.beginPath();
      context.arc(x_of(step), y_of(value), 2.2, 0, 7);
      context.fill();
    }
  }
  // The values below the pointer, else the last ones.
  read(context, {left, right, top, bottom, first, last, x_of}) {
    let step = last;
    if (this.x !== undefined) {
      step = first + (last - first) * Math.min(1, Math.max(0, (this.x - left) / (right - left)));
      context.strokeStyle = colour('soft');
      context.beginPath();
      context.moveTo(x_of(step), top);
      context.lineTo(x_of(step), bottom);
      context.stroke();
    }
    const texts = this.lines.slice(0, 8).map((line) => {
      const near = line.points.reduce(
          (best, point) => (Math.abs(point[0] - step) < Math.abs(best[0] - step) ? point : best), line.points[0]);
      return element(
          'span', {}, element('span', {class: line.colour}, '● '),
          `${line.label} ${value_text(near[1])} at ${near[0]}   `);
    });
    if (this.lines.length > 8) texts.push(`and ${this.lines.length - 8} more`);
    this.reading.replaceChildren(...texts);
  }
}

class CurvesView {
  constructor(page, place) {
    Object.assign(this, {page, charts: new Map(), curves: []});
    this.filter = element('input', {
      type: 'search',
      class: 'grow',
      placeholder: 'Find a value or a node',
      'aria-label': 'Find a value or a node',
      oninput: () => this.draw()
    });
    this.logarithmic = element('input', {type: 'checkbox', onchange: () => this.draw()});
    this.note = element('p', {class: 'empty'}, 'Reading the curves …');
    this.place = element('div', {class: 'charts'});
    place.replaceChildren(
        element('div', {class: 'bar'}, this.filter, element('label', {}, this.logarithmic, 'Logarithmic')), this.place,
        this.note);
    this.control = new AbortController();
    this.drawn = () => this.draw();
    this.theme = matchMedia('(prefers-color-scheme: dark)');
    this.theme.addEventListener('change', this.drawn);
    window.addEventListener('resize', this.drawn);
    this.read();
  }
  hide() {
    this.control.abort();
    this.theme.removeEventListener('change', this.drawn);
    window.removeEventListener('resize', this.drawn);
  }
  update() {}
  async read() {
    const {signal} = this.control;
    while (!signal.aborted) {
      try {
        if (!document.hidden) {
          const answer = await ask('curves', {run: this.page.name});
          if (signal.aborted) return;
          this.curves = answer.curves;
          this.draw();
        }
      } catch (error) {
        set_text(this.note, error.message);
        this.note.hidden = false;
      }
      await pause(4000, signal);
    }
  }
  draw() {
    const word = this.filter.value.trim().toLowerCase();
    const by_name = new Map();
    const nodes = new Map(this.page.nodes.map((name, i) => [name, i]));
    for (const curve of this.curves) {
      if (word && !`${curve.node} ${curve.name}`.toLowerCase().includes(word)) continue;
      if (!by_name.has(curve.name)) by_name.set(curve.name, []);
      by_name.get(curve.name)
          .push({label: curve.node, colour: colour_class(nodes.get(curve.node) || 0), points: curve.points});
    }
    for (const [name, chart] of this.charts) {
      if (by_name.has(name)) continue;
      chart.figure.remove();
      this.charts.delete(name);
    }
    for (const [name, lines] of by_name) {
      if (!this.charts.has(name)) {
        this.charts.set(name, new Chart(name));
        this.place.append(this.charts.get(name).figure);
      }
      this.charts.get(name).show(lines, this.logarithmic.checked);
    }
    this.note.hidden = by_name.size > 0;
    set_text(this.note, this.curves.length > 0 ? 'No value has this name.' : 'No node has reported a value so far.');
  }
}
kViews.curves = {
  title: 'Curves',
  make: (page, place) => new CurvesView(page, place)
};
