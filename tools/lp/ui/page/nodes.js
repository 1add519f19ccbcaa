// The nodes as a table, and below it the calls between them.

// A table whose head sorts it. `columns`: { name, kind, value(row) to sort by, text(row), style(row) }.
class SortedTable {
  constructor(columns, {by = -1, down = true, label, chosen = () => false, pick = null}) {
    Object.assign(this, {columns, by, down, chosen, pick});
    this.head = columns.map(
        (column, i) => element(
            'th', {class: column.kind || '', scope: 'col'},
            column.value ? element('button', {class: 'plain', onclick: () => this.sort(i)}, column.name) :
                           column.name));
    this.body = element('tbody');
    this.all = element('table', {'aria-label': label}, element('thead', {}, element('tr', {}, this.head)), this.body);
    this.more = element('button', {
      class: 'small',
      hidden: true,
      onclick: () => {
        this.most = Infinity;
        this.show(this.rows);
      }
    });
    this.most = 250;  // a browser shows so many rows each second without effort
    this.place = element('div', {}, element('div', {class: 'scroll'}, this.all), this.more);
  }
  sort(column) {
    this.down = this.by === column ? !this.down : this.columns[column].kind === 'number';
    this.by = column;
    this.show(this.rows);
  }
  show(rows) {
    this.rows = rows;
    const {value} = this.columns[this.by] || {};
    const sorted = value ? [...rows].sort((a, b) => compare(value(a), value(b)) * (this.down ? -1 : 1)) : rows;
    this.head.forEach((head, i) => {
      if (i === this.by)
        head.setAttribute('aria-sort', this.down ? 'descending' : 'ascending');
      else
        head.removeAttribute('aria-sort');
    });
    const shown = sorted.slice(0, this.most);
    this.more.hidden = shown.length === sorted.length;
    set_text(this.more, `Show all ${sorted.length}`);
    while (this.body.rows.length > shown.length) this.body.deleteRow(-1);
    shown.forEach((row, i) => {
      const line = this.body.rows[i] || this.body.appendChild(this.line());
      line.shown = row;
      set_class(line, this.chosen(row) ? 'chosen' : '');
      this.columns.forEach((column, c) => this.fill(line.cells[c], column, row));
    });
  }
  line() {
    const line = element(
        'tr', {},
        this.columns.map(
            (column) => element(
                'td', {class: column.kind || ''},
                element(column.button ? 'button' : 'span', {class: column.button ? 'plain' : ''}))));
    if (this.pick) line.addEventListener('click', (event) => this.pick(line.shown, event));
    return line;
  }
  fill(cell, column, row) {
    const inside = cell.firstChild;
    const text = column.text(row);
    set_text(inside, text);
    if (column.style) set_class(inside, column.style(row));
    if (column.kind && column.kind.includes('wide') && cell.title !== text) cell.title = text;
  }
}
const compare = (a, b) =>
    (a === b                   ? 0 :
         a === undefined       ? -1 :
         b === undefined       ? 1 :
         typeof a === 'string' ? a.localeCompare(b, undefined, {numeric: true}) :
                                 a - b);

class NodesView {
  constructor(page, place) {
    this.page = page;
    this.chosen = page.chosen;
    this.filter = element('input', {
      type: 'search',
      class: 'grow',
      placeholder: 'Find a node, a state or a host',
      'aria-label': 'Find a node, a state or a host',
      oninput: () => this.update()
    });
    const status = (node) => (page.run && page.run.nodes[node]) || {};
    const rate = (node) => (page.rates && page.rates.nodes[node]) || {};
    const number = (name, value, text = (v) => short_number(v), kind = '') => ({
      name,
      kind: `number ${kind}`.trim(),
      value,
      text: (node) => (value(node) === undefined ? '' : text(value(node)))
    });
    this.status = status;
    this.table = new SortedTable(
        [
          {
            name: 'Node',
            kind: 'name',
            button: true,
            value: (node) => page.nodes[node],
            text: (node) => page.nodes[node],
            style: () => 'plain'
          },
          {
            name: 'State',
            value: (node) => status(node).state,
            text: (node) => status(node).state || '',
            style: (node) => `state ${page.trouble_of(node) || node_class(status(node).state)}`
          },
          number('CPU %', (node) => rate(node).cpu, percent_text),
          number('Memory', (node) => rate(node).memory, bytes_text),
          number('Calls in/s', (node) => rate(node).in, undefined, 'rare'),
          number('Calls out/s', (node) => rate(node).out, undefined, 'rare'),
          number('Queue', (node) => rate(node).queue),
          number('Errors/s', (node) => rate(node).errors, undefined, 'rare'),
          number('P50', (node) => rate(node).p50, latency_text, 'rare'),
          number('P99', (node) => rate(node).p99, latency_text, 'rare'),
          number('Step', (node) => status(node).step, String, 'rare'),
          number('Tries', (node) => status(node).incarnation, String, 'rare'),
          {
            name: 'Host',
            kind: 'host rare',
            value: (node) => status(node).host || page.info.record.host,
            text: (node) => status(node).host || page.info.record.host
          },
          {name: 'Last failure', kind: 'wide rare', text: (node) => status(node).failure || '', style: () => 'bad'},
        ],
        {label: 'Nodes', chosen: (node) => page.nodes[node] === this.chosen, pick: (node) => this.choose(node)});
    this.details = element('div', {class: 'details', 'aria-live': 'polite'});
    this.calls = new SortedTable(
        [
          {name: 'Caller', kind: 'name', value: (edge) => page.nodes[edge[0]], text: (edge) => page.nodes[edge[0]]},
          {name: 'Callee', kind: 'name', value: (edge) => page.nodes[edge[1]], text: (edge) => page.nodes[edge[1]]},
          ...[['Calls/s', 2, short_number], ['Errors/s', 3, short_number], ['Bytes/s', 4, bytes_text, 'rare'],
              ['Waiting', 5, short_number, 'rare'], ['P50', 6, latency_text, 'rare'], ['P99', 7, latency_text, 'rare']]
              .map(([name, i, text, kind = '']) => ({
                     name,
                     kind: `number ${kind}`.trim(),
                     value: (edge) => edge[i],
                     text: (edge) => text(edge[i]) || '',
                     style: (edge) => (i === 3 && edge[3] > 0 ? 'bad' : '')
                   })),
        ],
        {by: 2, label: 'Calls between nodes'});
    this.calls.most = 100;
    this.calls_note = element('p', {class: 'soft'});
    place.replaceChildren(
        element('div', {class: 'bar'}, this.filter), this.details, this.table.place, element('h2', {}, 'Calls'),
        this.calls_note, this.calls.place);
    if (this.chosen !== null) this.filter.value = this.chosen;
    this.draw_details();
  }
  hide() {}
  choose(node) {
    const name = this.page.nodes[node];
    this.chosen = this.page.chosen = this.chosen === name ? null : name;
    this.draw_details();
    this.update();
  }
  draw_details() {
    const node = this.page.nodes.indexOf(this.chosen);
    if (node < 0) return this.details.replaceChildren();
    this.lines = element('div');
    this.details.replaceChildren(
        element('h2', {}, this.chosen),
        element(
            'div', {class: 'bar'}, element('button', {onclick: () => this.page.go('logs', this.chosen)}, 'Log'),
            element('button', {onclick: () => this.page.go('graph', this.chosen)}, 'In the graph'),
            this.page.info.read_only ?
                null :
                element(
                    'button', {class: 'danger', id: 'restart', onclick: () => this.page.ask_to_restart(this.chosen)},
                    'Restart …')),
        this.lines);
  }
  update() {
    const {page} = this;
    const word = this.filter.value.trim().toLowerCase();
    const fits = (node) =>
        `${page.nodes[node]} ${this.status(node).state} ${this.status(node).host || ''}`.toLowerCase().includes(word);
    this.table.show([...page.nodes.keys()].filter((node) => !word || fits(node)));
    const chosen = page.nodes.indexOf(this.chosen);
    if (chosen >= 0) {
      const text = page.describe(chosen).slice(1).join('\n') + values_of(this.status(chosen));
      if (this.lines.textContent !== text.replaceAll('\n', ''))
        this.lines.replaceChildren(...text.split('\n').map((line) => element('p', {}, line)));
    }
    const edges = (page.rates ? page.rates.edges : []).filter((edge) => !word || fits(edge[0]) || fits(edge[1]));
    this.calls.show(edges);
    const left_out = page.rates ? page.rates.left_out : 0;
    set_text(
        this.calls_note,
        !page.rates      ? 'The run does not live: there are no rates.' :
            left_out > 0 ? `${left_out} pairs of nodes with fewer calls are left out.` :
            edges.length === 0 ? 'No calls so far.' :
                                 '');
  }
}
const values_of = (status) =>
    Object.entries(status.values || {}).map(([name, value]) => `\n${name} ${value_text(value)}`).join('');
kViews.nodes = {
  title: 'Nodes',
  make: (page, place) => new NodesView(page, place)
};
