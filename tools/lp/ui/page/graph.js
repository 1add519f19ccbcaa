// The program as a picture: a box for each group with a cell for each node, and arrows with the rates of their calls.

class Graph {
  constructor(page, place) {
    Object.assign(this, {page, scale: 1, x: 0, y: 0, hover: null, frames: 0, since: 0, dirty: true, ended: false});
    this.chosen = page.chosen === null ? -1 : page.nodes.indexOf(page.chosen);
    this.canvas = element('canvas', {
      tabindex: '0',
      role: 'img',
      'aria-label':
          'The graph of the program. Arrow keys choose a node, Enter shows it, plus and minus zoom, 0 shows all.'
    });
    this.tip = element('div', {class: 'tip', hidden: true});
    this.details = element('div', {'aria-live': 'polite'});
    const button = (text, label, act) =>
        element('button', {class: 'small', type: 'button', 'aria-label': label, title: label, onclick: act}, text);
    place.replaceChildren(
        element(
            'div', {class: 'picture'}, this.canvas, this.tip,
            element(
                'div', {class: 'zoom'}, button('+', 'Larger', () => this.zoom(1.3)),
                button('−', 'Smaller', () => this.zoom(1 / 1.3)), button('All', 'Show all', () => this.fit(0.02)))),
        element(
            'div', {class: 'legend'},
            [
              ['works', 'works'], ['begins', 'starts, waits, or is absent'],
              ['fails', 'has failed, fails calls, or takes none'], ['done', 'has finished']
            ].map(([kind, text]) => element('span', {}, element('i', {class: kind}), text)),
            element('span', {}, 'Arrows: red with errors, orange where one call in a hundred takes over a second')),
        this.details);
    this.canvas.style.height =
        `${Math.round(Math.min(innerHeight * 0.62, Math.max(240, page.info.height * 1.6 + 110)))}px`;
    this.context = this.canvas.getContext('2d');
    this.listen();
    this.still = matchMedia('(prefers-reduced-motion: reduce)');
    this.theme = matchMedia('(prefers-color-scheme: dark)');
    this.recolour = () => {
      this.read_colours();
      this.dirty = true;
    };
    this.theme.addEventListener('change', this.recolour);
    this.read_colours();
    this.sized = new ResizeObserver(() => this.resize());
    this.sized.observe(this.canvas);
    this.resize();
    this.fit();
    this.tick = (time) => {
      if (!this.ended) {
        this.draw(time);
        requestAnimationFrame(this.tick);
      }
    };
    requestAnimationFrame(this.tick);
  }
  hide() {
    this.ended = true;
    this.sized.disconnect();
    this.theme.removeEventListener('change', this.recolour);
  }
  update() {
    this.dirty = true;
    this.rates = new Map();
    for (const edge of (this.page.rates ? this.page.rates.group_edges : []))
      this.rates.set(edge[0] * 1e6 + edge[1], edge);
    this.draw_details();
  }

  read_colours() {
    this.colours = {};
    for (const name
             of ['paper', 'sheet', 'ink', 'soft', 'line', 'accent', 'good', 'warn', 'bad', 'calm', 'fill', 'work'])
      this.colours[name] = colour(name);
  }
  resize() {
    const {clientWidth, clientHeight} = this.canvas;
    if (clientWidth === 0) return;
    const fits = this.fitted;
    this.ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(clientWidth * this.ratio);
    this.canvas.height = Math.round(clientHeight * this.ratio);
    if (fits) this.fit(fits);
    this.dirty = true;
  }
  // Shows all, but not smaller than `least`: at first, a person shall be able to read it.
  fit(least = 0.4) {
    const {width, height} = this.page.info;
    const {clientWidth, clientHeight} = this.canvas;
    const whole = Math.min((clientWidth - 40) / Math.max(width, 1), (clientHeight - 70) / Math.max(height, 1));
    this.scale = Math.min(1.6, Math.max(whole, least));
    this.x = Math.max(20, (clientWidth - width * this.scale) / 2);
    this.y = Math.max(44, (clientHeight - height * this.scale) / 2);
    this.fitted = least;
    this.dirty = true;
  }
  zoom(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    const scale = Math.min(6, Math.max(0.05, this.scale * factor));
    this.x = x - (x - this.x) * scale / this.scale;
    this.y = y - (y - this.y) * scale / this.scale;
    this.scale = scale;
    this.fitted = 0;
    this.dirty = true;
  }

  listen() {
    const pointers = new Map();
    const at = (event) => [event.offsetX, event.offsetY];
    this.canvas.addEventListener('pointerdown', (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, at(event));
      this.moved = 0;
    });
    this.canvas.addEventListener('pointermove', (event) => {
      const before = pointers.get(event.pointerId);
      const now = at(event);
      if (!before) return this.point(...now);
      this.moved += Math.abs(now[0] - before[0]) + Math.abs(now[1] - before[1]);
      const others = [...pointers.entries()].filter(([id]) => id !== event.pointerId);
      if (others.length === 1) {
        const [x, y] = others[0][1];
        this.zoom(Math.hypot(now[0] - x, now[1] - y) / Math.max(1, Math.hypot(before[0] - x, before[1] - y)), x, y);
      } else {
        this.x += now[0] - before[0];
        this.y += now[1] - before[1];
      }
      pointers.set(event.pointerId, now);
      this.fitted = 0;
      this.dirty = true;
    });
    const release = (event) => {
      if (pointers.delete(event.pointerId) && this.moved < 6 && event.type === 'pointerup')
        this.choose(this.node_at(...at(event)));
    };
    this.canvas.addEventListener('pointerup', release);
    this.canvas.addEventListener('pointercancel', release);
    this.canvas.addEventListener('pointerleave', () => this.point(-1, -1));
    this.canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 400), ...at(event));
    }, {passive: false});
    this.canvas.addEventListener('keydown', (event) => this.key(event));
  }
  key(event) {
    const step = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: 'down', ArrowUp: 'up'}[event.key];
    if (event.key === '+' || event.key === '=')
      this.zoom(1.3);
    else if (event.key === '-')
      this.zoom(1 / 1.3);
    else if (event.key === '0')
      this.fit(0.02);
    else if (event.key === 'Enter' && this.chosen >= 0)
      this.page.go('nodes', this.page.nodes[this.chosen]);
    else if (step !== undefined)
      this.choose(this.neighbour(step));
    else
      return;
    event.preventDefault();
  }
  neighbour(step) {
    if (this.chosen < 0) return 0;
    const group = this.page.info.groups.find(({first, size}) => this.chosen >= first && this.chosen < first + size);
    const by = step === 'down' ? group.columns : step === 'up' ? -group.columns : step;
    return Math.min(this.page.nodes.length - 1, Math.max(0, this.chosen + by));
  }

  // The box of a node, in the picture.
  cell_of(group, i) {
    if (group.cell === 0) return [group.x + 12, group.y + 46, group.width - 24, 20];
    const gap = group.cell > 12 ? 2 : 1;
    const left = group.x + (group.width - Math.min(group.columns, group.size) * group.cell) / 2;
    return [
      left + (i % group.columns) * group.cell, group.y + 46 + Math.floor(i / group.columns) * group.cell,
      group.cell - gap, group.cell - gap
    ];
  }
  node_at(x, y) {
    const px = (x - this.x) / this.scale, py = (y - this.y) / this.scale;
    for (const group of this.page.info.groups) {
      if (px < group.x || px > group.x + group.width || py < group.y || py > group.y + group.height) continue;
      if (group.size === 1) return group.first;
      const [left, top] = this.cell_of(group, 0);
      const column = Math.floor((px - left) / group.cell), row = Math.floor((py - top) / group.cell);
      const i = row * group.columns + column;
      if (row >= 0 && column >= 0 && column < group.columns && i < group.size) return group.first + i;
    }
    return -1;
  }
  point(x, y) {
    const node = x < 0 ? -1 : this.node_at(x, y);
    this.hover = node;
    this.dirty = true;
    this.tip.hidden = node < 0;
    if (node < 0) return;
    set_text(this.tip, this.page.describe(node).join('\n'));
    const left = Math.min(x + 14, this.canvas.clientWidth - this.tip.offsetWidth - 6);
    this.tip.style.left = `${Math.max(4, left)}px`;
    this.tip.style.top = `${Math.min(y + 14, this.canvas.clientHeight - this.tip.offsetHeight - 6)}px`;
  }
  choose(node) {
    this.chosen = node;
    this.page.chosen = node < 0 ? null : this.page.nodes[node];
    this.dirty = true;
    this.draw_details();
  }

  draw_details() {
    const {page} = this;
    if (this.chosen < 0) return this.details.replaceChildren();
    const name = page.nodes[this.chosen];
    const edges = (page.rates ? page.rates.edges : [])
                      .filter((edge) => edge[0] === this.chosen || edge[1] === this.chosen)
                      .sort((a, b) => b[2] - a[2])
                      .slice(0, 12);
    this.details.replaceChildren(
        element('h2', {}, name),
        element(
            'div', {class: 'bar'}, element('button', {onclick: () => page.go('logs', name)}, 'Log'),
            element('button', {onclick: () => page.go('nodes', name)}, 'In the table'),
            page.info.read_only ?
                null :
                element('button', {class: 'danger', onclick: () => page.ask_to_restart(name)}, 'Restart …')),
        ...page.describe(this.chosen).slice(1).map((line) => element('p', {}, line)),
        ...edges.map(
            (edge) => element(
                'p', {class: 'soft'},
                `${page.nodes[edge[0]]} → ${page.nodes[edge[1]]}: ${edge_text(edge).join(', ')}`)));
  }

  draw(time) {
    const moves = !this.still.matches && this.rates && [...this.rates.values()].some((edge) => edge[2] > 0);
    if (!this.dirty && !moves) return;
    this.dirty = false;
    const {context, ratio, colours} = this;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = colours.paper;
    context.fillRect(0, 0, this.canvas.clientWidth, this.canvas.clientHeight);
    context.setTransform(ratio * this.scale, 0, 0, ratio * this.scale, ratio * this.x, ratio * this.y);
    context.lineWidth = 1;
    context.setLineDash([5, 4]);
    context.strokeStyle = colours.soft;
    for (const frame of this.page.info.frames) context.strokeRect(frame.x, frame.y, frame.width, frame.height);
    context.setLineDash([]);
    const arrows = this.page.info.arrows.filter((arrow) => this.draw_arrow(arrow, moves ? time : 0));
    for (const group of this.page.info.groups) this.draw_group(group);
    for (const arrow of arrows) this.draw_label(arrow);
    ++this.frames;
  }

  // Then only names and rates have letters that a person can read.
  is_small() { return this.scale < 0.7; }

  edge_colour(edge) {
    if (!edge || edge[2] === 0) return this.colours.calm;
    if (edge[3] > 0) return this.colours.bad;
    return edge[7] > 1 || edge[5] > 1000 ? this.colours.warn : this.colours.accent;
  }
  // Returns whether it has a label.
  draw_arrow(arrow, time) {
    const {context} = this;
    const edge = this.rates && this.rates.get(arrow.caller * 1e6 + arrow.callee);
    const path = arrow.path || (arrow.path = new Path2D(path_of(arrow)));
    context.strokeStyle = context.fillStyle = this.edge_colour(edge);
    context.lineWidth = 1.2 + (edge && edge[2] > 0 ? Math.min(4, Math.log10(1 + edge[2]) * 0.7) : 0);
    context.stroke(path);
    const [x, y] = arrow.route[arrow.route.length - 1];
    const to = arrow.inside ? -1 : Math.sign(x - arrow.route[arrow.route.length - 2][0]) || 1;
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x - 9 * to, y - 4.5);
    context.lineTo(x - 9 * to, y + 4.5);
    context.fill();
    if (time > 0 && edge && edge[2] > 0) this.draw_calls(path, edge, time);
    return edge && (edge[2] > 0 || edge[8] > 0);
  }
  // Dots that go with the calls, the faster the more there are.
  draw_calls(path, edge, time) {
    const {context} = this;
    context.save();
    context.lineCap = 'round';
    context.lineWidth += 2.5;
    context.setLineDash([0.1, 26]);
    context.lineDashOffset = -time / 1000 * Math.min(160, 12 + 22 * Math.log10(1 + edge[2]));
    context.stroke(path);
    context.restore();
  }
  draw_label(arrow) {
    const {context, colours} = this;
    if (this.scale < 0.3) return;
    const size = Math.max(11, 9.5 / this.scale);
    const edge = this.rates.get(arrow.caller * 1e6 + arrow.callee);
    const all_texts = edge_text(edge);
    // Small arrows have room for one line: what is wrong, else the first.
    const texts = this.is_small() ? [all_texts.find((text) => text.includes('errors')) || all_texts[0]] : all_texts;
    const [x, y] = label_place(arrow);
    context.textAlign = arrow.inside ? 'left' : 'center';
    context.lineJoin = 'round';
    context.lineWidth = 4;
    context.strokeStyle = colours.paper;
    texts.forEach((text, i, all) => {
      context.font = `${i === 0 ? 600 : 400} ${size}px system-ui, sans-serif`;
      context.fillStyle = text.includes('errors') ? colours.bad : colours.ink;
      const line = y - 6 - 1.2 * size * (all.length - 1 - i);
      context.strokeText(text, x, line);
      context.fillText(text, x, line);
    });
  }

  draw_group(group) {
    const {context, colours, page} = this;
    context.beginPath();
    context.roundRect(group.x, group.y, group.width, group.height, 7);
    context.fillStyle = group.active ? colours.fill : colours.sheet;
    context.fill();
    context.lineWidth = 1.4;
    context.strokeStyle = group.active ? colours.work : colours.soft;
    context.stroke();
    const small = this.is_small();
    if (this.scale > 0.22) {
      const middle = group.x + group.width / 2, room = group.width - 10;
      context.textAlign = 'center';
      context.fillStyle = colours.ink;
      context.font = `600 ${small ? Math.min(30, 10.5 / this.scale) : 14}px system-ui, sans-serif`;
      const name = group.size > 1 ? `${group.name} × ${group.size}` : group.name;
      context.fillText(name, middle, group.y + (small ? 32 : 20), room);
      context.fillStyle = colours.soft;
      context.font = '11px system-ui, sans-serif';
      if (!small) context.fillText(group.type.replace(/^.*::/, ''), middle, group.y + 36, room);
    }
    for (let i = 0; i < group.size; ++i) this.draw_node(group, i);
    if (group.size === 1 && !small) {
      const [x, y, width, height] = this.cell_of(group, 0);
      const status = page.run && page.run.nodes[group.first];
      context.textAlign = 'center';
      context.fillStyle = colours.paper;
      context.font = '600 11px system-ui, sans-serif';
      context.fillText(status ? this.cell_text(group.first, status) : '', x + width / 2, y + height / 2 + 4, width - 6);
    }
  }
  cell_text(node, status) {
    const rate = this.page.rates && this.page.rates.nodes[node];
    const cpu = rate && rate.cpu !== undefined ? `  ${percent_text(rate.cpu)} %` : '';
    return status.state + cpu + (rate && rate.queue ? `  q ${short_number(rate.queue)}` : '');
  }
  draw_node(group, i) {
    const {context, colours, page} = this;
    const node = group.first + i;
    const [x, y, width, height] = this.cell_of(group, i);
    const status = page.run && page.run.nodes[node];
    const trouble = page.trouble_of(node);
    const kind = status ? node_class(status.state) : '';
    context.fillStyle = trouble ? colours[trouble] :
        kind === 'good'         ? colours.work :
        kind === 'calm'         ? colours.calm :
                                  colours.line;
    const rate = page.rates && page.rates.nodes[node];
    // A node that works little is paler.
    context.globalAlpha = !trouble && kind === 'good' && group.size > 1 && rate && rate.cpu !== undefined ?
        0.45 + 0.55 * Math.min(1, rate.cpu) :
        1;
    context.fillRect(x, y, width, height);
    context.globalAlpha = 1;
    if (node === this.chosen || node === this.hover) {
      context.lineWidth = 2;
      context.strokeStyle = colours.ink;
      context.strokeRect(x - 1, y - 1, width + 2, height + 2);
    }
  }
}
kViews.graph = {
  title: 'Graph',
  make: (page, place) => new Graph(page, place)
};

// "1.2k/s, 85 µs" and what is wrong, a line each.
function edge_text(edge) {
  const [, , calls, errors, bytes, waiting, p50] = edge;
  const lines = [];
  if (edge[8] > 0) lines.push(`${short_number(edge[8])} records, ${bytes_text(edge[9])}B`);
  if (calls > 0) lines.push([`${short_number(calls)}/s`, latency_text(p50)].filter(Boolean).join(', '));
  if (bytes > 0 && calls > 0)
    lines.push(`${bytes_text(bytes)}B/s${waiting > 1 ? `, ${short_number(waiting)} open` : ''}`);
  if (errors > 0) lines.push(`${short_number(errors)} errors/s`);
  return lines;
}
// An arrow as a path of SVG: straight lines and curves that leave and arrive horizontally take turns.
function path_of({route, inside}) {
  const at = ([x, y]) => `${x} ${y}`;
  let text = `M${at(route[0])}`;
  if (inside) return `${text} C${route[0][0] + 38} ${route[0][1]} ${route[1][0] + 38} ${route[1][1]} ${at(route[1])}`;
  for (let i = 1; i < route.length; ++i) {
    const pull = 0.45 * (route[i][0] - route[i - 1][0]);
    text += i % 2 === 1 ?
        ` L${at(route[i])}` :
        ` C${route[i - 1][0] + pull} ${route[i - 1][1]} ${route[i][0] - pull} ${route[i][1]} ${at(route[i])}`;
  }
  return text;
}
function label_place({route, inside}) {
  if (inside) return [Math.max(route[0][0], route[1][0]) + 33, (route[0][1] + route[1][1]) / 2 + 10];
  const last = route.length > 2 ? 2 : 1;
  return [(route[last - 1][0] + route[last][0]) / 2, (route[last - 1][1] + route[last][1]) / 2];
}
