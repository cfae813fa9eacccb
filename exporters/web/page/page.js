// The page: theme, controls and keys. state.js has what is chosen, readings.js reads each second,
// lists.js and statistic.js show it. All texts go into the document as text.
import {setToken, takeToken} from './api.js';
import './export.js';
import {interfaces, orderBy, sortBy, statistics} from './lists.js';
import {readNow} from './readings.js';
import {byId, choose, chooseSpan, filterStatistics, leaveFragment, onChanged, openLists, refresh,
        state, takeFragment} from './state.js';
import {cpus, heat, line, shownView, showBars, showFacts, showLine, showMaps} from './statistic.js';

function applyTheme() {
  const wanted = localStorage.getItem('theme') ?? 'system';
  const dark = wanted === 'system' ? matchMedia('(prefers-color-scheme: dark)').matches
                                   : wanted === 'dark';
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  byId('theme').value = wanted;
  heat.repaint();
  cpus.repaint();
}

function choice(id, value, onChoice) {
  const buttons = [...byId(id).querySelectorAll('button')];
  // One stop of the Tab key: arrows lead to the others.
  const show = chosen => buttons.forEach(each => {
    each.setAttribute('aria-pressed', String(each.value === chosen));
    each.tabIndex = each.value === chosen ? 0 : -1;
  });
  byId(id).addEventListener('keydown', event => {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (step) buttons[buttons.indexOf(event.target) + step]?.focus();
  });
  buttons.forEach(each => each.addEventListener('click', () => {
    show(each.value);
    onChoice(each.value);
  }));
  show(value);
}

// What is folded in the lists is one stop of the Tab key, too.
const folded = ['latencies', 'hists'].map(id => byId(id).querySelector('summary'));
folded.forEach((each, at) => {
  each.tabIndex = at === 0 ? 0 : -1;
  each.addEventListener('focus', () => {
    for (const other of folded) other.tabIndex = other === each ? 0 : -1;
  });
  each.addEventListener('keydown', event => {
    const step = {ArrowUp: -1, ArrowDown: 1}[event.key];
    if (!step) return;
    event.preventDefault();
    folded[at + step]?.focus();
  });
});

function toggle(id, onToggle) {
  byId(id).addEventListener('click', () => {
    const pressed = byId(id).getAttribute('aria-pressed') !== 'true';
    byId(id).setAttribute('aria-pressed', String(pressed));
    onToggle();
  });
}

choice('window-choice', '60', value => { state.window = Number(value); refresh(); });
choice('counted-choice', 'interval', value => {
  state.counted = value;
  if (shownView()) { showFacts(shownView()); showBars(); }
});
toggle('heat-as-table', () => showMaps());
toggle('cpus-as-table', () => showMaps());
toggle('series-as-table', () => showLine());
byId('lists-button').addEventListener('click', () =>
  openLists(!document.body.classList.contains('lists-open')));
byId('hists').addEventListener('toggle', () => readNow('hists'));
byId('axis').addEventListener('change', event => {
  state.axis = event.target.value;
  leaveFragment(true);
  showLine();
});
onChanged(() => {
  byId('axis').value = state.axis;
  showLine();
});
byId('scale').addEventListener('change', event => { state.scale = event.target.value; refresh(); });
// It is of now.
byId('home').addEventListener('click', () => chooseSpan(null, null, null));
byId('by-rate').addEventListener('click', () => sortBy('rate'));
byId('by-name').addEventListener('click', () => sortBy('name'));
byId('by-p99').addEventListener('click', () => sortBy('p99'));
byId('filter').addEventListener('input', event => {
  state.filter = event.target.value;
  byId('interface-box').scrollTop = 0;
  interfaces.sortAgain();
  leaveFragment();
  refresh();
});
byId('statistic-filter').addEventListener('input', event => {
  filterStatistics(event.target.value);
  statistics.sortAgain();
  leaveFragment();
  refresh();
});
for (const each of ['name', 'rate', 'value']) {
  byId(`order-${each}`).addEventListener('click', () => orderBy(each));
}
byId('only-counted').addEventListener('change', event => {
  state.onlyCounted = event.target.checked;
  statistics.sortAgain();
  leaveFragment(true);
  refresh();
});
byId('theme').addEventListener('change', event => {
  localStorage.setItem('theme', event.target.value);
  applyTheme();
  refresh();
});
byId('token-form').addEventListener('submit', event => {
  event.preventDefault();
  setToken(byId('token').value);
  byId('token').value = '';
  refresh();
});

function leave(element) {
  for (const each of [heat, cpus, line]) each.leaveMarked();
  if (heat.chosen !== null || cpus.chosen !== null) {
    heat.leave();
    cpus.leave();
    return showBars();
  }
  if (element === byId('statistic-filter')) {
    filterStatistics('');
  } else if (element === byId('filter')) {
    byId('filter').value = state.filter = '';
  } else {
    return;
  }
  element.blur();
  leaveFragment();
  refresh();
}

document.addEventListener('keydown', event => {
  const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === 'Escape') return leave(event.target);
  if (event.target === byId('filter') && event.key === 'Enter') {
    const first = state.overview?.interfaces[0];
    if (first) choose(first.interface, null);
    return;
  }
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === '/') {
    event.preventDefault();
    byId('filter').focus();
  }
});
document.addEventListener('visibilitychange', () => { if (!document.hidden) refresh(); });
addEventListener('resize', () => {
  heat.draw();
  cpus.draw();
  line.draw();
});
addEventListener('hashchange', () => { takeToken(); takeFragment(); });
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', applyTheme);

applyTheme();
takeToken();
takeFragment();
refresh();
