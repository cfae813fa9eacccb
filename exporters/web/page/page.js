// The page: what is chosen, reading each second, and putting what was read in its places. All texts
// go into the document as text.
import {Refusal, read, setToken, takeToken} from './api.js';
import {clock, drawBars, drawSeries, drawSpark, makeSpark, makeTable, seriesTable,
        withoutEmptyEnds} from './charts.js';
import {DefinitionForm} from './definition.js';
import {HeatMap} from './heat.js';
import {RowWindow, setText} from './rows.js';

const kPeriod = 1000;
const kBackOffMax = 10000;
const byId = id => document.getElementById(id);

const state = {
  interfaceName: null, statistic: null, sort: 'rate', filter: '', window: 60, scale: 'log',
  counted: 'interval', overview: null, data: null, readOnly: '',
};

// ---- the theme

function applyTheme() {
  const wanted = localStorage.getItem('theme') ?? 'system';
  const dark = wanted === 'system' ? matchMedia('(prefers-color-scheme: dark)').matches
                                   : wanted === 'dark';
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  byId('theme').value = wanted;
  heat.repaint();
}

// ---- the fragment: #s=INTERFACE/STATISTIC

function nameOf(fragment) {
  const found = /[#&]s=([^&]*)/.exec(fragment);
  try {
    return found ? decodeURIComponent(found[1]) : '';
  } catch {
    return '';  // not encoded as a URL is: as if nothing were chosen
  }
}

function takeFragment() {
  const name = nameOf(location.hash);
  const slash = name.lastIndexOf('/');
  choose(slash < 0 ? name || null : name.slice(0, slash),
         slash < 0 ? null : name.slice(slash + 1));
}

function leaveFragment() {
  const name = state.interfaceName + (state.statistic ? `/${state.statistic}` : '');
  history.replaceState(null, '', `#s=${encodeURIComponent(name).replaceAll('%2F', '/')}`);
}

function choose(interfaceName, statistic) {
  const isOther = interfaceName !== state.interfaceName || statistic !== state.statistic;
  if (!isOther) return;
  if (interfaceName !== state.interfaceName) byId('statistic-box').scrollTop = 0;
  Object.assign(state, {interfaceName, statistic, data: null});
  heat.forget();
  definition.forget();
  if (interfaceName) leaveFragment();
  refresh();
}

// ---- the lists

function makeRow(button, cells) {
  const tr = document.createElement('tr');
  tr.insertCell().append(button);
  for (const name of cells) tr.insertCell().className = name;
  return tr;
}

function makeButton(onClick) {
  const button = document.createElement('button');
  button.type = 'button';
  button.addEventListener('click', () => onClick(button.textContent));
  return button;
}

function mark(tr, isChosen) {
  tr.classList.toggle('chosen', isChosen);
  const button = tr.cells[0].firstChild;
  if (isChosen) button.setAttribute('aria-current', 'true');
  else button.removeAttribute('aria-current');
}

const interfaces = new RowWindow(byId('interface-box'), byId('interface-table'), () => {
  const tr = makeRow(makeButton(name => choose(name, null)), ['number', 'minute']);
  tr.cells[2].append(makeSpark());
  return tr;
}, (tr, row) => {
  const button = tr.cells[0].firstChild;
  setText(button, row.interface);
  button.title = `${row.interface}: ${row.on} of ${row.statistics} statistics on`;
  setText(tr.cells[1], row.view.rate_text);
  tr.cells[1].classList.toggle('off', row.on === 0);
  drawSpark(tr.cells[2].firstChild, row.view.minute);
  mark(tr, row.interface === state.interfaceName);
});

const statistics = new RowWindow(byId('statistic-box'), byId('statistic-table'), () =>
  makeRow(makeButton(name => choose(state.interfaceName, name)), ['number', 'now']),
(tr, row) => {
  const button = tr.cells[0].firstChild;
  setText(button, row.name);
  button.title = `${row.name}: ${row.type_text}`;
  setText(tr.cells[1], row.rate_text);
  tr.cells[1].classList.toggle('off', row.rate_text === 'off');
  setText(tr.cells[2], row.text);
  tr.cells[2].title = row.text;
  mark(tr, row.name === state.statistic);
});

function sortBy(order) {
  state.sort = order;
  byId('by-rate').parentElement.setAttribute('aria-sort',
                                             order === 'rate' ? 'descending' : 'none');
  byId('by-name').parentElement.setAttribute('aria-sort', order === 'name' ? 'ascending' : 'none');
  byId('interface-box').scrollTop = 0;
  refresh();
}

const kLatencies = 'tracing/latency_hist/';

function showLatencies(names) {
  const list = byId('latency-list');
  byId('latencies').hidden = !names.length;
  while (list.children.length > names.length) list.lastChild.remove();
  while (list.children.length < names.length) {
    const item = document.createElement('li');
    item.append(makeButton(name => choose(kLatencies + name, name)));
    list.append(item);
  }
  names.forEach((name, i) => {
    const button = list.children[i].firstChild;
    setText(button, name);
    if (state.interfaceName === kLatencies + name) button.setAttribute('aria-current', 'true');
    else button.removeAttribute('aria-current');
  });
}

// The neighbour of what is chosen, among the rows that are in view.
function move(step) {
  const rows = state.overview?.interfaces ?? [];
  if (!rows.length) return;
  const at = rows.findIndex(row => row.interface === state.interfaceName);
  const to = at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step));
  choose(rows[to].interface, null);
  interfaces.rows[to]?.scrollIntoView({block: 'nearest'});
}

// ---- what is shown of a statistic

const heat = new HeatMap({canvas: byId('heat'), tip: byId('heat-tip'), legend: byId('legend'),
                          onColumn: () => showBars()});
const definition = new DefinitionForm(() => refresh());

function showOverview(overview) {
  const view = overview.view;
  state.overview = overview;
  state.readOnly = view.read_only;
  setText(byId('mount'), view.mount);
  setText(byId('interfaces'), view.interfaces.toLocaleString('en'));
  setText(byId('statistics'), view.statistics.toLocaleString('en'));
  setText(byId('rate'), view.rate_text);
  setText(byId('dropped'), view.dropped_text);
  byId('dropped-box').classList.toggle('has-dropped', !['0', '-'].includes(view.dropped_text));
  setText(byId('rights'), view.read_only ? 'read only' : '');
  byId('rights').title = view.read_only;
  interfaces.show(overview.interfaces, view.first, view.matching);
  showLatencies(view.latencies);
  const none = view.matching === 0 && view.interfaces > 0;
  setText(byId('nothing-text'), none ? `No interface has '${state.filter}' in its name.`
    : view.interfaces === 0 ? 'No interface yet: nothing has been fed.'
    : 'Choose an interface, then a statistic.');
}

function facts(list, entries) {
  list.replaceChildren(...entries.map(([label, text]) => {
    const div = document.createElement('div');
    const dt = document.createElement('dt');
    const dd = document.createElement('dd');
    dt.textContent = label;
    const bounds = /^(\S+) (\(.*\))$/.exec(text);
    dd.textContent = bounds ? `${bounds[1]} ` : text;
    if (bounds) {
      const span = document.createElement('span');
      span.className = 'bounds';
      span.textContent = bounds[2].replace('-', '–');
      dd.append(span);
    }
    div.append(dt, dd);
    return div;
  }));
}

// What is counted of the last second, or since the reset.
function counted(view) {
  return state.counted === 'interval' && view.interval ? view.interval : view.total;
}

function showBars() {
  const view = state.data?.view;
  if (!view) return;
  const column = heat.heat ? heat.bars() : null;
  const bars = column?.bars ?? counted(view).bars ?? [];
  const shown = withoutEmptyEnds(bars);
  const sum = bars.reduce((a, bar) => a + bar.count, 0);
  const what = view.counts_of || 'samples';
  setText(byId('bars-title'), column ? column.time : 'Distribution');
  setText(byId('bars-of'), shown.length ? `${sum.toLocaleString('en')} ${what}`
                                        : `no ${what} in this time`);
  byId('counted-choice').hidden = !!column;
  drawBars(byId('bars'), shown);
}

function showFacts(view) {
  const of = counted(view);
  const shown = of.percentiles?.length ? of : view.total;
  const percentiles = (shown.percentiles ?? []).map(each => [`p${each.q}`, each.text]);
  const others = (view.total.facts ?? []).map(each => [each.label, each.text]);
  facts(byId('percentiles'), [...percentiles, ...others]);
  const leftOut = view.total.left_out ?? '';
  byId('left-out').hidden = !leftOut;
  setText(byId('left-out'), leftOut);
}

function showRaw(rows) {
  byId('raw-panel').hidden = !rows;
  if (!rows) return;
  byId('raw').replaceChildren(...makeTable([['Time', 'X', 'Y'],
    ...rows.map(([time, x, y]) => [clock(time), x, y])]).children);
}

function showSeries(series) {
  byId('series-panel').hidden = !series;
  if (!series) return;
  const asTable = byId('series-as-table').getAttribute('aria-pressed') === 'true';
  byId('series-legend').textContent = series.legend;
  byId('series-box').hidden = asTable;
  byId('series-table').hidden = !asTable;
  if (asTable) byId('series-table').replaceChildren(seriesTable(series));
  else drawSeries(byId('series'), series);
}

function showStatistic(statistic) {
  const view = statistic.view;
  state.data = statistic;
  byId('nothing').hidden = true;
  byId('something').hidden = false;
  setText(byId('shown-name'), state.interfaceName.startsWith(kLatencies)
    ? `Latency histogram ${statistic.name}` : `${state.interfaceName} / ${statistic.name}`);
  const parts = [view.type_text, statistic.units, view.rate_text,
                 `since ${clock(view.since_us)}`, view.count_text &&
                 `${view.count_text} ${view.counts_of || 'samples'}`];
  setText(byId('shown-about'), parts.filter(Boolean).join(' · '));
  setText(byId('since'), clock(view.since_us));
  const bars = view.total.bars;
  byId('bars-panel').hidden = !bars;
  byId('heat-panel').hidden = !view.total.percentiles;
  document.querySelector('.charts').classList.toggle('alone', !view.total.percentiles);
  showFacts(view);
  showBars();
  showSeries(view.series);
  showRaw(view.raw);
  definition.show(state.interfaceName, statistic, state.readOnly);
}

function showHeat(answer) {
  heat.show(answer, state.window);
  const asTable = byId('heat-as-table').getAttribute('aria-pressed') === 'true';
  byId('heat-box').hidden = asTable;
  byId('heat-table').hidden = !asTable;
  if (asTable) byId('heat-table').replaceChildren(heat.table());
  setText(byId('heat-note'), heat.heat.end_us.length === 0 ? 'The first second is being counted.'
    : 'Click a column to see it alone; Esc shows all again.');
  showBars();
}

// ---- reading

const encoded = encodeURIComponent;

async function readOverview() {
  const {first, rows} = interfaces.wanted();
  return read('overview', `api/1/statistics?first=${first}&rows=${rows}&sort=${state.sort}` +
    `&filter=${encoded(state.filter)}`);
}

async function readInterface() {
  if (!state.interfaceName) return;
  const {interfaceName} = state;
  const {first, rows} = statistics.wanted();
  const answer = await read('interface', `api/1/statistics/${encoded(interfaceName)}` +
    `?statistic=${encoded(state.statistic ?? '')}&first=${first}&rows=${rows}`);
  if (interfaceName !== state.interfaceName) return;
  byId('statistic-list').hidden = interfaceName.startsWith(kLatencies);
  setText(byId('statistic-heading'), `Statistics of ${interfaceName}`);
  statistics.show(answer.view.rows, answer.view.first, answer.view.matching);
  if (!state.statistic && answer.view.rows.length) {
    // The first that has bins, which has most to show.
    const rich = answer.view.rows.find(row => /^(array|quantiles)/.test(row.type_text));
    state.statistic = (rich ?? answer.view.rows[0]).name;
    leaveFragment();
    return readInterface();
  }
  const shown = answer.statistics[0];
  if (shown) return showStatistic(shown);
  throw new Refusal(404, `${interfaceName} has no statistic ${state.statistic}`);
}

async function readHeat() {
  if (!state.data?.view.total.percentiles) return;
  const {interfaceName, statistic} = state;
  const answer = await read('heat', `api/1/heat/${encoded(interfaceName)}/${encoded(statistic)}` +
    `?seconds=${state.window}&scale=${state.scale}&bins=40`);
  if (interfaceName === state.interfaceName && statistic === state.statistic) showHeat(answer);
}

function showNothing(text) {
  byId('something').hidden = true;
  byId('nothing').hidden = false;
  setText(byId('nothing-text'), text);
}

let failures = 0;
let answeredAt = null;

function showFault(error) {
  if (error.status === 401) {
    byId('token-form').hidden = false;
    byId('main').hidden = true;
    setText(byId('token-fault'), sessionStorage.getItem('tally-token') ? error.message : '');
    setText(byId('live'), 'no token');
    byId('live').className = 'lost';
    return;
  }
  if ([403, 404].includes(error.status)) return showNothing(error.message);
  ++failures;
  byId('live').className = 'lost';
  const reason = error instanceof Refusal ? error.message : 'tally-web does not answer';
  setText(byId('live'), answeredAt ? `no answer since ${clock(answeredAt * 1000)}` : reason);
  byId('live').title = reason;
}

async function readAll() {
  try {
    showOverview(await readOverview());
    byId('token-form').hidden = true;
    byId('main').hidden = false;
    await readInterface();
    await readHeat();
    failures = 0;
    answeredAt = Date.now();
    setText(byId('live'), 'live');
    byId('live').className = '';
    byId('live').title = '';
  } catch (error) {
    if ([403, 404].includes(error.status)) failures = 0;
    showFault(error);
  }
}

// One reading at a time; none while the page is hidden.
let timer = null;
let isReading = false;
let isWanted = false;

async function refresh() {
  clearTimeout(timer);
  if (isReading) {
    isWanted = true;
    return;
  }
  isReading = true;
  const start = performance.now();
  if (!document.hidden) await readAll();
  isReading = false;
  const pause = Math.min(kBackOffMax, kPeriod * 2 ** Math.min(failures, 4));
  const rest = isWanted ? 0 : Math.max(0, pause - (performance.now() - start));
  isWanted = false;
  timer = setTimeout(refresh, rest);
}

// ---- the controls

function choice(id, value, onChoice) {
  const buttons = [...byId(id).querySelectorAll('button')];
  const show = chosen => buttons.forEach(each =>
    each.setAttribute('aria-pressed', String(each.value === chosen)));
  buttons.forEach(each => each.addEventListener('click', () => {
    show(each.value);
    onChoice(each.value);
  }));
  show(value);
}

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
  if (state.data) { showFacts(state.data.view); showBars(); }
});
toggle('heat-as-table', () => refresh());
toggle('series-as-table', () => refresh());
byId('scale').addEventListener('change', event => { state.scale = event.target.value; refresh(); });
byId('by-rate').addEventListener('click', () => sortBy('rate'));
byId('by-name').addEventListener('click', () => sortBy('name'));
byId('filter').addEventListener('input', event => {
  state.filter = event.target.value;
  byId('interface-box').scrollTop = 0;
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
interfaces.onScroll = statistics.onScroll = () => refresh();

document.addEventListener('keydown', event => {
  const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === 'Escape') {
    if (heat.chosen !== null) return heat.choose(null);
    if (event.target === byId('filter')) {
      byId('filter').value = state.filter = '';
      byId('filter').blur();
      refresh();
    }
    return;
  }
  if (event.target === byId('filter') && event.key === 'Enter') {
    const first = state.overview?.interfaces[0];
    if (first) choose(first.interface, null);
    return;
  }
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === '/') {
    event.preventDefault();
    byId('filter').focus();
  } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault();
    move(event.key === 'ArrowDown' ? 1 : -1);
  }
});
document.addEventListener('visibilitychange', () => { if (!document.hidden) refresh(); });
addEventListener('resize', () => {
  heat.draw();
  if (state.data) showSeries(state.data.view.series);
});
addEventListener('hashchange', () => { takeToken(); takeFragment(); });
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', applyTheme);

applyTheme();
takeToken();
takeFragment();
refresh();
