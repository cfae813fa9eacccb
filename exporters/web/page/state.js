// What is chosen, here and in the address, and how to ask for a new reading.

export const byId = id => document.getElementById(id);

export const kLatencies = 'tracing/latency_hist/';

export const state = {
  interfaceName: null, statistic: null, sort: 'rate', filter: '', statisticFilter: '',
  window: 60, scale: 'log',
  counted: 'interval', overview: null, data: null, readOnly: '',
};

const listeners = {chosen: [], wanted: []};
export const onChosen = listener => listeners.chosen.push(listener);
export const onWanted = listener => listeners.wanted.push(listener);
export const refresh = () => listeners.wanted.forEach(each => each());

export const isLatency = () => !!state.interfaceName?.startsWith(kLatencies);

// The path of an event's histogram triggers: tracing/events/SYSTEM/EVENT, or an instance's.
export function eventPath() {
  const isEvent = /^tracing\/(instances\/[^/]+\/)?events\//.test(state.interfaceName ?? '');
  return isEvent && state.statistic ? `${state.interfaceName}/${state.statistic}` : null;
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

function parts(name) {
  const slash = name.lastIndexOf('/');
  return slash < 0 ? [name || null, null] : [name.slice(0, slash), name.slice(slash + 1)];
}

export function takeFragment() {
  choose(...parts(nameOf(location.hash)));
}

export function leaveFragment() {
  const name = state.interfaceName + (state.statistic ? `/${state.statistic}` : '');
  history.replaceState(null, '', `#s=${encodeURIComponent(name).replaceAll('%2F', '/')}`);
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

export function choose(interfaceName, statistic) {
  const isOther = interfaceName !== state.interfaceName || statistic !== state.statistic;
  if (!isOther) return;
  if (interfaceName !== state.interfaceName) filterStatistics('');
  Object.assign(state, {interfaceName, statistic, data: null});
  openLists(!interfaceName);
  listeners.chosen.forEach(each => each());
  if (interfaceName) leaveFragment();
  refresh();
}

// By a path with the statistic, or the event, at its end.
export const choosePath = path => choose(...parts(path));
