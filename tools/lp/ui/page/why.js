// What `lp why` says, and the checkpoints.

class WhyView {
  constructor(page, place) {
    this.page = page;
    this.button = element('button', {onclick: () => this.look()}, 'Look again');
    this.note = element('span', {class: 'soft', role: 'status'});
    this.findings = element('div', {'aria-live': 'polite'});
    const of = (text) => ({value: text, text});
    this.table = new SortedTable(
        [
          {name: 'Node', kind: 'name', ...of((one) => one.node)},
          {name: 'Code', kind: 'name', ...of((one) => (one.caller ? `${one.work} for ${one.caller}` : one.work))},
          {name: 'Does', kind: 'wrap', text: (one) => one.does},
          {
            name: 'For',
            kind: 'number',
            value: (one) => one.seconds,
            text: (one) => (one.seconds < 10 ? latency_text(one.seconds) : duration_text(one.seconds))
          },
        ],
        {by: 3, label: 'What each node does'});
    this.heading = element('h2', {hidden: true}, 'What each node does');
    this.table.place.hidden = true;
    place.replaceChildren(
        element('div', {class: 'bar'}, this.button, this.note), this.findings, this.heading, this.table.place);
    this.look();
  }
  hide() { this.ended = true; }
  update() {}
  async look() {
    this.button.disabled = true;
    set_text(this.note, 'Looking for a second …');
    try {
      const answer = await ask('why', {run: this.page.name});
      if (this.ended) return;
      set_text(this.note, `Looked at ${new Date().toLocaleTimeString(undefined, {hour12: false})}.`);
      this.findings.replaceChildren(...answer.diagnoses.map((one) => this.finding(one)));
      if (answer.diagnoses.length === 0)
        this.findings.append(element('p', {class: 'notice calm'}, 'Nothing is stuck.'));
      this.table.show(answer.activities);
      this.heading.hidden = this.table.place.hidden = answer.activities.length === 0;
    } catch (error) {
      set_text(this.note, error.message);
    }
    this.button.disabled = false;
  }
  waiters_text(names) {
    const most = 6;
    return `${names.length} nodes wait because of it${names.length <= most ? `: ${names.join(', ')}` : ''}.`;
  }
  finding(one) {
    return element(
        'div', {class: 'finding'}, element('b', {}, one.kind.replace('_', ' ')), `: ${one.text}`,
        one.chain.length > 1 ? element('ol', {}, one.chain.map((step) => element('li', {}, step))) : null,
        one.waiters.length > 1 ? element('p', {class: 'soft'}, this.waiters_text(one.waiters)) : null);
  }
}
kViews.why = {
  title: 'Why',
  make: (page, place) => new WhyView(page, place)
};

class CheckpointsView {
  constructor(page, place) {
    this.page = page;
    this.note = element('p', {class: 'empty'}, 'Reading the checkpoints …');
    this.problems = element('div');
    const size = (saved) => saved.files.reduce((sum, file) => sum + file.bytes, 0);
    this.table = new SortedTable(
        [
          {name: 'Step', kind: 'number', value: (saved) => saved.step, text: (saved) => String(saved.step)},
          {
            name: 'Nodes',
            kind: 'number',
            value: (saved) => saved.files.length,
            text: (saved) => String(saved.files.length)
          },
          {name: 'Bytes', kind: 'number', value: size, text: (saved) => bytes_text(size(saved))},
          {name: 'Directory', kind: 'wrap', text: (saved) => saved.path},
        ],
        {by: 0, label: 'Checkpoints'});
    this.table.place.hidden = true;
    place.replaceChildren(this.problems, this.table.place, this.note);
  }
  hide() { this.ended = true; }
  update() {
    const step = this.page.run ? this.page.run.checkpoint : 0;
    if (this.step === step) return;
    this.step = step;
    this.read();
  }
  async read() {
    try {
      const answer = await ask('checkpoints', {run: this.page.name});
      if (this.ended) return;
      this.table.show(answer.checkpoints);
      this.problems.replaceChildren(...answer.problems.map((text) => element('p', {class: 'notice'}, text)));
      this.table.place.hidden = answer.checkpoints.length === 0;
      this.note.hidden = answer.checkpoints.length > 0;
      set_text(this.note, 'The run has no complete checkpoint.');
    } catch (error) {
      set_text(this.note, error.message);
      this.step = undefined;
    }
  }
}
kViews.checkpoints = {
  title: 'Checkpoints',
  make: (page, place) => new CheckpointsView(page, place)
};
