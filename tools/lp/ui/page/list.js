// All runs, the newest first.

const list_view = {
  async show(main) {
    this.filter = element('input', {
      type: 'search',
      class: 'grow',
      placeholder: 'Find a run or a program',
      'aria-label': 'Find a run or a program',
      oninput: () => this.draw()
    });
    this.body = element('tbody');
    this.note = element('p', {class: 'empty'}, 'Reading the runs …');
    const columns = [
      ['Run'], ['Program', 'rare'], ['State'], ['Nodes', 'number'], ['Began', 'rare'], ['For', 'number'],
      ['Result', 'rare']
    ];
    this.table = element(
        'div', {class: 'scroll', hidden: true},
        element(
            'table', {},
            element(
                'thead', {},
                element(
                    'tr', {}, columns.map(([name, kind]) => element('th', {class: kind || '', scope: 'col'}, name)))),
            this.body));
    main.replaceChildren(
        element('div', {class: 'bar'}, element('h1', {}, 'Runs')), element('div', {class: 'bar'}, this.filter),
        this.table, this.note);
    this.runs = [];
    this.control = new AbortController();
    const {signal} = this.control;
    while (!signal.aborted) {
      if (!document.hidden) await this.read(signal);
      await pause(2000, signal);
    }
  },
  hide() { this.control.abort(); },
  async read(signal) {
    try {
      const answer = await ask('runs');
      if (signal.aborted) return;
      this.runs = answer.runs;
      this.draw();
    } catch (error) {
      if (this.runs.length === 0) set_text(this.note, error.message);
    }
  },
  draw() {
    const word = this.filter.value.trim().toLowerCase();
    const shown =
        this.runs.filter((run) => !word || `${run.name} ${run.program} ${run.state}`.toLowerCase().includes(word));
    this.table.hidden = shown.length === 0;
    this.note.hidden = shown.length > 0;
    set_text(
        this.note,
        this.runs.length === 0 ? 'There is no run yet: start one with `lp run BINARY`.' : 'No run has this text.');
    const now = Date.now() / 1000;
    while (this.body.rows.length > shown.length) this.body.deleteRow(-1);
    shown.forEach((run, i) => {
      const row = this.body.rows[i] || this.body.appendChild(this.row());
      const [name, program, state, nodes, began, age, result] = row.cells;
      const target = `#/run/${encodeURIComponent(run.name)}/graph`;
      if (name.firstChild.getAttribute('href') !== target) name.firstChild.setAttribute('href', target);
      set_text(name.firstChild, run.name);
      set_text(program, run.program);
      set_text(state.firstChild, run.state);
      set_class(state.firstChild, `state ${run_class(run)}`);
      set_text(nodes, run.ready || String(run.nodes));
      set_text(began, run.began > 0 ? clock_text(run.began) : '');
      set_text(age, run.seconds > 0 ? duration_text(run.seconds) : run.began > 0 ? duration_text(now - run.began) : '');
      set_text(result, run.outcome);
      result.title = run.outcome;
    });
  },
  row() {
    return element(
        'tr', {}, element('td', {class: 'name'}, element('a')), element('td', {class: 'rare'}),
        element('td', {}, element('span')), element('td', {class: 'number'}), element('td', {class: 'rare'}),
        element('td', {class: 'number'}), element('td', {class: 'wide rare'}));
  },
};
