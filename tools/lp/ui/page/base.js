'use strict';
// The page of lp ui. Text of runs comes into the page as text nodes alone, never as HTML.

const token = new URLSearchParams(location.search).get('token') || '';
const by_id = (id) => document.getElementById(id);

// An element: its properties, then its children, which are elements or texts. `class` and attributes go by their names;
// `on...` are handlers.
function element(kind, properties = {}, ...children) {
  const made = document.createElement(kind);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on'))
      made.addEventListener(name.slice(2), value);
    else if (name in made && typeof value !== 'string')
      made[name] = value;
    else
      made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

// Changes the page only where it has to, because it does so each second.
function set_text(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
function set_class(node, name) {
  if (node.className !== name) node.className = name;
}

// What the connection to `lp ui` is like. Each request and each line says it.
const connection = {
  tell(text, lost) {
    set_text(by_id('connection'), text);
    set_class(by_id('connection'), lost ? 'lost' : '');
  },
  good() { this.tell('connected', false); },
  lost() { this.tell('lp ui does not answer; trying again', true); },
  refused() { this.tell('This address is of another lp ui: open the one that it has printed', true); },
};

const address = (path, parameters) => `/api/${path}?${new URLSearchParams(parameters)}`;
const head = {
  'x-lp-token': token
};

// An answer of lp ui. Throws Error with its sentence.
async function ask(path, parameters = {}, method = 'GET') {
  let response;
  try {
    response = await fetch(address(path, parameters), {method, headers: head, cache: 'no-store'});
  } catch (error) {
    connection.lost();
    throw new Error('lp ui does not answer');
  }
  if (response.status === 403)
    connection.refused();
  else
    connection.good();
  const text = await response.text();
  let answer = {};
  try {
    answer = JSON.parse(text);
  } catch (error) {
    answer = {trouble: text.trim()};
  }
  if (!response.ok) throw new Error(answer.trouble || `lp ui answers ${response.status}`);
  return answer;
}

// Waits, at most until `signal` ends the wait.
const pause = (milliseconds, signal) => new Promise((done) => {
  const timer = setTimeout(done, milliseconds);
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    done();
  }, {once: true});
});

// Reads the lines of a view that goes on, and begins again when the connection is lost. A page that nobody sees reads
// nothing, because a browser has few connections to one address.
class Watch {
  static kSilence = 40000;  // milliseconds: lp ui writes more often, also while a run does not answer

  // `begin` is called before the first line of each connection.
  constructor(path, parameters, begin, take) {
    Object.assign(this, {path, parameters, begin, take});
    this.seen = () => (document.hidden ? this.pause() : this.resume());
    document.addEventListener('visibilitychange', this.seen);
    this.seen();
  }
  stop() {
    document.removeEventListener('visibilitychange', this.seen);
    this.pause();
  }
  pause() {
    if (this.control) this.control.abort();
    this.control = null;
  }
  resume() {
    if (this.control) return;
    this.control = new AbortController();
    this.read(this.control.signal);
  }
  async read(signal) {
    for (let wait = 500; !signal.aborted; wait = Math.min(2 * wait, 5000)) {
      try {
        const ended = await this.read_once(signal, () => {
          wait = 250;
        });
        if (ended) return;
      } catch (error) {
        if (error.refused) return connection.refused();
      }
      if (signal.aborted) return;
      connection.lost();
      await pause(wait, signal);
    }
  }
  // Returns true at the end of the view.
  async read_once(signal, good) {
    const silence = new AbortController();
    const stop = () => silence.abort();
    signal.addEventListener('abort', stop, {once: true});
    let timer = setTimeout(stop, Watch.kSilence);
    try {
      const response =
          await fetch(address(this.path, this.parameters), {headers: head, cache: 'no-store', signal: silence.signal});
      if (response.status === 403) throw Object.assign(new Error('refused'), {refused: true});
      if (!response.ok) throw new Error('no stream');
      this.begin();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = '';
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        clearTimeout(timer);
        timer = setTimeout(stop, Watch.kSilence);
        good();
        connection.good();
        const lines = (rest + part.value).split('\n');
        rest = lines.pop();
        for (const line of lines) {
          if (signal.aborted) return true;
          if (line === '') continue;
          const value = JSON.parse(line);
          if (value.end) return true;
          this.take(value);
        }
      }
      return false;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    }
  }
}

// Asks before something is done that cannot be undone. `fields`: elements that the question shows. `act` does it, and
// returns what has happened.
function confirm_first(question, fields, word, act) {
  const dialog = by_id('dialog');
  const result = element('p', {role: 'status', class: 'soft'});
  const go = element(
      'button', {
        class: 'danger',
        type: 'button',
        onclick: async () => {
          go.disabled = true;
          set_text(result, 'It is under way.');
          try {
            set_text(result, await act());
            set_class(result, 'good');
            go.remove();
            set_text(cancel, 'Close');
          } catch (error) {
            set_text(result, error.message);
            set_class(result, 'bad');
            go.disabled = false;
          }
        }
      },
      word);
  const cancel = element('button', {type: 'button', onclick: () => dialog.close()}, 'Cancel');
  dialog.replaceChildren(element('h2', {}, question), ...fields, result, element('div', {class: 'bar'}, cancel, go));
  dialog.showModal();
  cancel.focus();
}
