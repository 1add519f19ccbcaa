// Shows the view that the address names: #/ for the runs, #/run/NAME/VIEW for one.

let shown = list_view;
let shown_name = null;

function show_address() {
  const [, kind, name, view] = location.hash.split('/');
  const path = by_id('path');
  by_id('dialog').close();
  if (kind === 'run' && name) {
    const run = decodeURIComponent(name);
    document.title = `${run} · lp`;
    path.replaceChildren(element('a', {href: '#/'}, 'Runs'));
    if (shown_name === run) return shown.choose_view(view || 'graph');
    if (shown.control) shown.hide();
    shown_name = run;
    shown = new RunPage(by_id('main'), run);
    shown.show(view || 'graph');
    return;
  }
  document.title = 'Runs · lp';
  path.replaceChildren();
  if (shown.control) shown.hide();
  shown = list_view;
  shown_name = null;
  list_view.show(by_id('main'));
}
window.addEventListener('hashchange', show_address);
show_address();
