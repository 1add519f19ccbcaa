// The output of nodes: the last lines, then each line as it is printed.

class LogsView {
  static kMost = 4000;  // lines on the page

  constructor(page, place) {
    this.page = page;
    const groups = page.info.groups.filter((group) => group.size > 1).map((group) => group.name);
    this.node = element(
        'select', {'aria-label': 'Node', onchange: () => this.open()}, element('option', {value: ''}, 'all nodes'),
        groups.length === 0 ?
            null :
            element('optgroup', {label: 'Groups'}, groups.map((name) => element('option', {value: name}, name))),
        element('optgroup', {label: 'Nodes'}, page.nodes.map((name) => element('option', {value: name}, name))));
    this.node.value = page.chosen === null ? '' : page.chosen;
    this.pattern = element('input', {
      type: 'search',
      class: 'grow',
      placeholder: 'Search: a regular expression',
      'aria-label': 'Search',
      oninput: () => this.open_soon()
    });
    this.ignore_case = element('input', {type: 'checkbox', onchange: () => this.open()});
    this.follow = element('input', {type: 'checkbox', onchange: () => this.scroll()});
    this.follow.checked = true;
    this.note = element('span', {class: 'soft', role: 'status'});
    this.box = element(
        'div', {class: 'log', tabindex: '0', role: 'log', 'aria-label': 'Output', onscroll: () => this.on_scroll()});
    place.replaceChildren(
        element(
            'div', {class: 'bar'}, this.node, this.pattern, element('label', {}, this.ignore_case, 'Ignore case'),
            element('label', {}, this.follow, 'Follow')),
        this.box, this.note);
    this.open();
  }
  hide() {
    clearTimeout(this.timer);
    if (this.watch) this.watch.stop();
  }
  update() {}
  open_soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.open(), 300);
  }
  open() {
    this.hide();
    if (!this.page.info.has_logs)
      return set_text(this.note, 'The nodes are threads: their output goes to that of their launcher.');
    this.page.chosen = this.page.nodes.includes(this.node.value) ? this.node.value : null;
    this.watch = new Watch(
        'logs', {
          run: this.page.name,
          node: this.node.value,
          grep: this.pattern.value,
          ignore_case: this.ignore_case.checked ? 'yes' : 'no'
        },
        () => this.begin(), (line) => this.take(line));
  }
  begin() {
    this.waiting = [];
    this.names = [];
    this.box.replaceChildren();
    set_text(this.note, 'Reading …');
  }
  take(line) {
    if (line.logs) this.names = line.logs;
    if (line.trouble) set_text(this.note, line.trouble);
    if (!line.lines) return;
    set_text(this.note, '');
    if (line.left_out > 0) this.waiting.push([-1, `${line.left_out} older lines are left out`]);
    for (const one of line.lines) this.waiting.push(one);
    if (this.waiting.length > LogsView.kMost) this.waiting.splice(0, this.waiting.length - LogsView.kMost);
    if (!this.planned) this.planned = requestAnimationFrame(() => this.draw());
  }
  // Once for each picture of the screen, however many lines have come.
  draw() {
    this.planned = 0;
    const several = this.names.length > 1;
    this.box.append(...this.waiting.splice(0).map(
        ([log, text]) =>
            (log < 0 ?
                 element('div', {class: 'gap'}, text) :
                 element(
                     'div', {}, several ? element('span', {class: `from ${colour_class(log)}`}, this.names[log]) : null,
                     plain(text)))));
    const extra = this.box.children.length - LogsView.kMost;
    if (extra > 0) {
      const range = document.createRange();
      range.setStart(this.box, 0);
      range.setEnd(this.box, extra);
      range.deleteContents();
    }
    this.scroll();
    if (this.box.children.length === 0)
      set_text(this.note, this.pattern.value ? 'No line matches.' : 'There is no output so far.');
  }
  scroll() {
    if (this.follow.checked) this.box.scrollTop = this.box.scrollHeight;
  }
  // A person who scrolls up wants to read; at the end he follows again.
  on_scroll() {
    const rest = this.box.scrollHeight - this.box.clientHeight - this.box.scrollTop;
    this.follow.checked = rest < 30;
  }
}
// Without the colours of terminals.
const plain = (text) => text.replace(/\x1b\[[0-9;:]*m/g, '');
kViews.logs = {
  title: 'Logs',
  make: (page, place) => new LogsView(page, place)
};
