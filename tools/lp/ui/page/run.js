// One run: its head, which stays, and below it one of several views.

const kViews = {};  // by name: { title, make(page, place) }, which returns { update(), hide() }
const kViewOrder = ['graph', 'nodes', 'logs', 'curves', 'events', 'checkpoints', 'why'];

class RunPage {
  constructor(main, name) {
    Object.assign(this, {main, name, run: null, rates: null, events: [], trouble: '', updated: 0, chosen: null});
    this.control = new AbortController();
    this.control.signal.addEventListener('abort', () => this.end());
  }

  async show(view) {
    this.wanted = view;
    this.main.replaceChildren(element('p', {class: 'empty'}, 'Reading the run …'));
    while (!this.info && !this.control.signal.aborted) {
      try {
        this.info = await ask('run', {run: this.name});
      } catch (error) {
        this.main.firstChild.textContent = error.message;
        await pause(2000, this.control.signal);
      }
    }
    if (this.control.signal.aborted) return;
    this.nodes = this.info.nodes;
    this.build();
    this.choose_view(this.wanted);
    this.watch = new Watch('live', {run: this.name}, () => this.begin(), (line) => this.take(line));
    this.timer = setInterval(() => this.check_age(), 1000);
  }
  hide() { this.control.abort(); }
  end() {
    if (this.watch) this.watch.stop();
    if (this.view) this.view.hide();
    clearInterval(this.timer);
  }

  build() {
    this.state = element('span', {class: 'state', id: 'state'});
    this.stop_button =
        element('button', {class: 'danger', id: 'stop', onclick: () => this.ask_to_stop()}, 'Stop the run …');
    this.facts = element('div', {class: 'facts'});
    this.notices = element('div', {id: 'notices', 'aria-live': 'polite'});
    this.tabs = element(
        'nav', {class: 'tabs', 'aria-label': 'Views'},
        kViewOrder.map(
            (name) => element(
                'a', {href: `#/run/${encodeURIComponent(this.name)}/${name}`, 'data-view': name}, kViews[name].title)));
    this.place = element('section', {id: 'view'});
    this.main.replaceChildren(
        element(
            'div', {class: 'title'}, element('h1', {}, this.name), this.state, element('span', {class: 'grow'}),
            this.info.read_only ? null : this.stop_button),
        this.facts, this.notices, this.tabs, this.place);
  }

  choose_view(name) {
    this.wanted = name;
    if (!this.info) return;
    const view = kViews[name] ? name : 'graph';
    for (const tab of this.tabs.children) {
      if (tab.dataset.view === view)
        tab.setAttribute('aria-current', 'page');
      else
        tab.removeAttribute('aria-current');
    }
    if (this.view) this.view.hide();
    this.view_name = view;
    this.view = kViews[view].make(this, this.place);
    this.view.update();
  }
  // Shows one node in a view: its log, its line in the table.
  go(view, node) {
    this.chosen = node;
    const target = `#/run/${encodeURIComponent(this.name)}/${view}`;
    if (location.hash === target)
      this.choose_view(view);
    else
      location.hash = target;
  }

  // The events come again from the first one with each connection.
  begin() {
    this.events = [];
    this.trouble = '';
  }
  take(line) {
    if (line.run) {
      Object.assign(this, {run: line.run, trouble: '', updated: Date.now()});
      if (line.run.life !== 'live') this.rates = null;
    }
    if (line.rates) this.rates = line.rates;
    if (line.events) this.events = this.events.concat(line.events).slice(-5000);
    if (line.trouble) this.trouble = line.trouble;
    this.draw_head();
    if (this.view && !line.run)
      this.view.update();
    else if (this.view && line.run && line.run.life !== 'live')
      this.view.update();
  }

  draw_head() {
    const {run, rates, info} = this;
    if (!run) return;
    set_text(this.state, run.state);
    set_class(this.state, `state ${run_class(run)}`);
    this.stop_button.disabled = ['ended', 'lost'].includes(run.life);
    const facts = [['program', info.record.program], ['by', `${info.record.launch} on ${info.record.host}`]];
    if (info.record.began > 0) {
      facts.push(
          run.life === 'lost' ? ['began', clock_text(info.record.began)] :
              run.seconds > 0 ? ['took', duration_text(run.seconds)] :
                                ['since', duration_text(Date.now() / 1000 - info.record.began)]);
    }
    if (run.ready) facts.push(['nodes ready', run.ready]);
    if (run.ends) facts.push(['nodes', run.ends]);
    if (rates) facts.push(['calls/s', short_number(rates.all[0])], ['bytes/s', bytes_text(rates.all[2])]);
    if (rates && rates.all[1] > 0) facts.push(['errors/s', short_number(rates.all[1])]);
    if (run.checkpoint > 0) facts.push(['checkpoint at step', String(run.checkpoint)]);
    while (this.facts.children.length > facts.length) this.facts.lastChild.remove();
    facts.forEach(([name, value], i) => {
      const fact =
          this.facts.children[i] || this.facts.appendChild(element('span', {}, element('span'), ' ', element('b')));
      set_text(fact.firstChild, name);
      set_text(fact.lastChild, value);
    });
    const notices = run.troubles.map((text) => ['warn', text]);
    if (this.trouble) notices.unshift(['bad', this.trouble]);
    if (this.silent) notices.unshift(['bad', `The launcher of the run has not answered for ${this.silent} s.`]);
    if (run.cause)
      notices.push(['bad', run.cause]);
    else if (run.outcome)
      notices.push(['calm', run.outcome]);
    while (this.notices.children.length > notices.length) this.notices.lastChild.remove();
    notices.forEach(([kind, text], i) => {
      const notice = this.notices.children[i] || this.notices.appendChild(element('div'));
      set_class(notice, `notice ${kind}`);
      set_text(notice, text);
    });
  }
  check_age() {
    const seconds = Math.floor((Date.now() - this.updated) / 1000);
    const silent = !document.hidden && this.run && this.run.life === 'live' && seconds > 3 ? seconds : 0;
    if (silent === this.silent) return;
    this.silent = silent;
    this.draw_head();
  }

  // Errors of calls, a failure, or a service that takes no call.
  trouble_of(node) {
    const status = this.run && this.run.nodes[node];
    if (!status) return '';
    if (status.state === 'failed' || status.busy) return 'bad';
    if (node_class(status.state) === 'warn') return 'warn';
    const rate = this.rates && this.rates.nodes[node];
    return rate && rate.errors > 0 ? 'bad' : '';
  }
  // What a node is and does, in a few lines.
  describe(node) {
    const status = (this.run && this.run.nodes[node]) || {};
    const rate = (this.rates && this.rates.nodes[node]) || {};
    const lines = [`${this.nodes[node]}: ${status.state || 'not started'}`];
    if (status.busy) lines.push(`takes no calls: ${status.busy}`);
    if (rate.cpu !== undefined) lines.push(`${percent_text(rate.cpu)} % cpu, ${bytes_text(rate.memory)}B`);
    if (rate.gpus) {
      const busy = rate.gpu_busy === null ? '' : `${percent_text(rate.gpu_busy)} % busy, `;
      lines.push(`${rate.gpus} GPU${rate.gpus > 1 ? 's' : ''}, ${busy}${bytes_text(rate.gpu_memory)}B in use`);
    }
    lines.push(
        `${short_number(rate.in || 0)} calls/s in, ${short_number(rate.out || 0)} out, ${rate.queue || 0} waiting`);
    if (rate.p50) lines.push(`half within ${latency_text(rate.p50)}, 99 % within ${latency_text(rate.p99)}`);
    if (status.step) lines.push(`step ${status.step}${status.total ? ` of ${status.total}` : ''}`);
    if (status.restarts) lines.push(`${status.restarts} restarts`);
    if (status.failure) lines.push(`last failure: ${status.failure}`);
    return lines;
  }

  ask_to_stop() {
    const reason = element('input', {type: 'text', maxlength: '200'});
    const force = element('input', {type: 'checkbox'});
    confirm_first(
        `Stop ${this.name}?`,
        [
          element(
              'p', {},
              'Its nodes end, and so does the run. It can be continued with --resume from its last checkpoint.'),
          element('label', {}, 'Reason', reason), element('label', {}, force, 'Kill its nodes at once')
        ],
        'Stop the run',
        async () =>
            (await ask('stop', {run: this.name, reason: reason.value, force: force.checked ? 'yes' : 'no'}, 'POST'))
                .done);
  }
  ask_to_restart(node) {
    const force = element('input', {type: 'checkbox'});
    confirm_first(
        `Restart ${node}?`,
        [
          element(
              'p', {},
              'The node ends and starts again, with the nodes that share its process or its checkpoints. ' +
                  'Its restart budget stays as it is.'),
          element('label', {}, force, 'Also when work that no checkpoint has is lost')
        ],
        'Restart the node',
        async () => (await ask('restart', {run: this.name, node, force: force.checked ? 'yes' : 'no'}, 'POST')).done);
  }
}
