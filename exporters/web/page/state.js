// What is chosen, here and in the address, and how to ask for a new reading.

export const byId = id => document.getElementById(id);

export const kLatencies = 'tracing/latency_hist/';

export const state = {
  interfaceName: null, statistic: null, sort: 'rate', filter: '', order: 'defined',
  statisticFilter: '', onlyCounted: false,
  // Sums over all other labels are shown instead of statistics, whose names `statistic` is of then;
  // empty: they are not.
  label: '',
  // Times of the past that are shown instead of now, and beside each other: {from, to}, of the wall
  // clock in microseconds; null: none.
  span: null, versus: null,
  window: 60, scale: 'log', axis: 'linear',
  counted: 'interval', overview: null, rows: [], data: null, past: null, readOnly: '',
};

const listeners = {chosen: [], wanted: [], changed: []};
export const onChosen = listener => listeners.chosen.push(listener);
export const onWanted = listener => listeners.wanted.push(listener);
// The address had other choices: the controls follow.
export const onChanged = listener => listeners.changed.push(listener);
export const refresh = () => listeners.wanted.forEach(each => each());

export const isLatency = () => !!state.interfaceName?.startsWith(kLatencies);

// The path of an event's histogram triggers: tracing/events/SYSTEM/EVENT, or an instance's.
export function eventPath() {
  const isEvent = /^tracing\/(instances\/[^/]+\/)?events\//.test(state.interfaceName ?? '');
  return isEvent && state.statistic ? `${state.interfaceName}/${state.statistic}` : null;
}

// ---- the fragment: #s=INTERFACE/STATISTIC&from=TIME&to=TIME&vs=TIME..TIME&sort=p99&q=WORDS, and
// order=, find=, counted=1, by=LABEL of the list of statistics, axis=log of lines. Times are ISO
// 8601 in UTC.

const kSorts = ['rate', 'name', 'p99'];
const kOrders = ['defined', 'name', 'rate', 'value'];
const kAxes = ['linear', 'log'];

function valuesOf(fragment) {
  const found = new Map();
  for (const pair of fragment.replace(/^#/, '').split('&')) {
    const equals = pair.indexOf('=');
    if (equals < 1) continue;
    try {
      found.set(pair.slice(0, equals), decodeURIComponent(pair.slice(equals + 1)));
    } catch {
      // not encoded as a URL is: as if it were not there
    }
  }
  return found;
}

// Of tracing/ the last one is the name; elsewhere labels may have slashes, as they are typed.
function parts(name) {
  const slash = name.startsWith('tracing/') ? name.lastIndexOf('/') : name.indexOf('/');
  return slash < 0 ? [name || null, null] : [name.slice(0, slash), name.slice(slash + 1)];
}

const kTime = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
const timeOf = text => kTime.test(text ?? '') ? Date.parse(text) * 1000 : NaN;
const textOf = micros => new Date(micros / 1000).toISOString().replace('.000Z', 'Z');

function spanOf(from, to) {
  const span = {from: timeOf(from), to: timeOf(to)};
  return span.to > span.from ? span : null;
}

// What the address has and cannot mean: the usual is shown instead.
function faultOf(found, {span, versus}) {
  if ((found.has('from') || found.has('to')) && !span) {
    return 'from= and to= of the address must be two times, the earlier one first, as ' +
      '2026-11-27T11:03:00Z.';
  }
  if (found.has('vs') && !versus) {
    return 'vs= of the address must be two times, as 2026-11-27T11:03:00Z..2026-11-27T11:04:00Z, ' +
      'and needs from= and to=.';
  }
  const isWrong = ([key, words]) => found.has(key) && !words.includes(found.get(key));
  const wrong = [['sort', kSorts], ['order', kOrders], ['axis', kAxes]].find(isWrong);
  return wrong ? `${wrong[0]}= of the address must be ${wrong[1].join(' or ')}.` : '';
}

// Whatever else is shown; the next choice takes it away.
function showAddressFault(text) {
  byId('address-fault').textContent = text;
  byId('address-fault').hidden = !text;
}

export function takeFragment() {
  const found = valuesOf(location.hash);
  const oneOf = (words, word) => words.includes(word) ? word : words[0];
  const span = spanOf(found.get('from'), found.get('to'));
  const versus = span && spanOf(...(found.get('vs') ?? '').split('..'));
  const fault = faultOf(found, {span, versus});
  Object.assign(state, {
    span, versus, past: null,
    sort: oneOf(kSorts, found.get('sort')), filter: found.get('q') ?? '',
    order: oneOf(kOrders, found.get('order')), onlyCounted: found.get('counted') === '1',
    axis: oneOf(kAxes, found.get('axis')),
  });
  show(...parts(found.get('s') ?? ''), found.get('by') ?? '');
  filterStatistics(found.get('find') ?? '');
  leaveFragment();
  listeners.changed.forEach(each => each());
  showAddressFault(fault);
  refresh();
}

const encoded = text => encodeURIComponent(text).replaceAll('%2F', '/').replaceAll('%3A', ':');

function fragment() {
  const made = [];
  const add = (key, value, usual) => {
    if (value && value !== usual) made.push(`${key}=${encoded(value)}`);
  };
  const name = state.interfaceName ?? '';
  add('s', state.statistic ? `${name}/${state.statistic}` : name);
  add('by', state.label);
  if (state.span) {
    add('from', textOf(state.span.from));
    add('to', textOf(state.span.to));
    add('vs', state.versus && `${textOf(state.versus.from)}..${textOf(state.versus.to)}`);
  }
  add('sort', state.sort, 'rate');
  add('q', state.filter);
  add('order', state.order, 'defined');
  add('find', state.statisticFilter);
  add('counted', state.onlyCounted ? '1' : '');
  add('axis', state.axis, 'linear');
  return made.length ? `#${made.join('&')}` : '';
}

// A choice is a step that Back undoes; what the page itself chooses, and each letter of a filter,
// is none.
export function leaveFragment(step = false) {
  const text = fragment();
  if (text === location.hash) return;
  history[step ? 'pushState' : 'replaceState'](null, '', location.pathname + text);
}

export function filterStatistics(text) {
  byId('statistic-filter').value = state.statisticFilter = text;
  byId('statistic-box').scrollTop = 0;
}

// Where there is no room for both, the lists give way to what is chosen of them.
export function openLists(open) {
  document.body.classList.toggle('lists-open', open);
  byId('lists-button').setAttribute('aria-expanded', String(open));
  if (!open && byId('lists-button').offsetParent) scrollTo(0, 0);
}

// Returns whether it is another one than before.
function show(interfaceName, statistic, label) {
  const isOther = interfaceName !== state.interfaceName || statistic !== state.statistic ||
    label !== state.label;
  if (!isOther) return false;
  if (interfaceName !== state.interfaceName) filterStatistics('');
  Object.assign(state, {interfaceName, statistic, label, data: null, past: null});
  openLists(!interfaceName);
  listeners.chosen.forEach(each => each());
  return true;
}

// With a label it is a sum.
export function choose(interfaceName, statistic, label = '') {
  if (!show(interfaceName, statistic, label)) return;
  showAddressFault('');
  leaveFragment(true);
  refresh();
}

// By a path with the statistic, or the event, at its end.
export const choosePath = path => choose(...parts(path));

// Without a span all is of now.
export function chooseSpan(span, versus = null, interfaceName = state.interfaceName) {
  if (interfaceName !== state.interfaceName) show(interfaceName, null, '');
  showAddressFault('');
  Object.assign(state, {span, versus: span && versus, past: null});
  leaveFragment(true);
  listeners.changed.forEach(each => each());
  refresh();
}

// As long, directly before.
export const before = span => ({from: 2 * span.from - span.to, to: span.from});
