// Reading each second, and what is done with the answers: one reading at a time, none while the
// page is hidden, and slower while nothing answers.
import {Refusal, read} from './api.js';
import {landing, showChanged, showLanding} from './changed.js';
import {clock, isoTime} from './charts.js';
import {interfaces, showFound, showHeld, showHists, showLabels, showLatencies, showMatching,
        showNoRows, showStatistics, statistics} from './lists.js';
import {printable} from './picture.js';
import {learnNames, setText, shownName} from './rows.js';
import {byId, eventPath, isLatency, leaveFragment, onChosen, onWanted, refresh, state}
  from './state.js';
import {timesAround} from './span.js';
import {closeForm, hideStatistic, showCpus, showHeat, showHist, showNoTimes, showNothing, showPast,
        showSeries, showStatistic, shownView, showWhatLacks} from './statistic.js';

const kPeriod = 1000;
const kFresh = 2500;
// A tally-web of this machine is asked again soon after its start.
const isLoopback = /^(localhost|127\.[\d.]+|\[::1\])$/.test(location.hostname);
const kBackOffMax = isLoopback ? 2000 : 10000;
// What costs the server more is read less often.
const kHistsPeriod = 20000;
const kCpusPeriod = 5000;
const kChangedPeriod = 5000;

const encoded = encodeURIComponent;

// Another daemon than before: by their clocks, when the one ended and the other began to count.
function noticeEpoch(overview) {
  const before = state.overview;
  if (!before || before.epoch === overview.epoch) return;
  const [from, to] = [before.realtime_us, overview.view.counts_since_us || overview.realtime_us];
  byId('notice').hidden = false;
  setText(byId('notice-text'), `The daemon ended between ${clock(from)} and ${clock(to)}: nothing ` +
    `is known of that time. A new one counts since ${clock(to)}, from 0 or from a saved state.`);
  byId('notice-text').title = `${isoTime(from)} to ${isoTime(to)}`;
}
byId('notice-close').addEventListener('click', () => { byId('notice').hidden = true; });

function showOverview(overview) {
  const view = overview.view;
  noticeEpoch(overview);
  state.overview = overview;
  state.readOnly = view.read_only;
  setText(byId('mount'), `${view.host}:${view.mount}`);
  setText(byId('interfaces'), view.interfaces.toLocaleString('en'));
  setText(byId('statistics'), view.statistics.toLocaleString('en'));
  setText(byId('rate'), view.rate_text);
  setText(byId('dropped'), view.dropped_text);
  byId('dropped-box').classList.toggle('has-dropped', !['0', '-'].includes(view.dropped_text));
  setText(byId('rights'), view.read_only ? 'read only' : '');
  byId('rights').title = view.read_only;
  interfaces.show(overview.interfaces, view.first, view.matching);
  showMatching('interface-note', view.matching, view.interfaces, 'interface', state.filter);
  showFound(view);
  showLatencies(view.latencies);
  const isLanding = showLanding(view.interfaces > 0);
  if (state.interfaceName) return;
  byId('statistic-list').hidden = true;
  if (isLanding) hideStatistic();
  else showNothing("No interface yet: no program has sent a sample. tally-send 'web/hits 1' does.");
}

// An answer of any kind shows that numbers move.
async function ask(slot, url) {
  const answer = await read(slot, url);
  noteAnswer();
  for (const part of [answer.view, answer.changed, answer.worst]) learnNames(part?.shown);
  return answer;
}

async function readOverview() {
  const {first, rows} = interfaces.wanted();
  showOverview(await ask('overview', `api/1/statistics?first=${first}&rows=${rows}` +
    `&sort=${state.sort}&filter=${encoded(state.filter)}` +
    `&order=${interfaces.orderWanted(state.overview?.view.order)}`));
}

// Of the list of statistics.
function rowsWanted() {
  const {first, rows} = statistics.wanted();
  return `first=${first}&rows=${rows}&sort=${state.order}&counted=${state.onlyCounted ? 1 : 0}` +
    `&filter=${encoded(state.statisticFilter)}${ofLabel()}`;
}

// Of sums.
const ofLabel = () => state.label ? `&label=${encoded(state.label)}` : '';

let orderOf = {};  // the order that rows of an interface came in
async function readInterface() {
  if (!state.interfaceName) return;
  const {interfaceName, statistic, label} = state;
  const order = statistics.orderWanted(
    orderOf.interfaceName === interfaceName && orderOf.label === label ? orderOf.order : 0);
  const readWith = name => ask('interface', `api/1/statistics/${encoded(interfaceName)}` +
    `?statistic=${encoded(name)}&${rowsWanted()}&order=${order}`);
  let missing = null;
  const answer = await readWith(statistic ?? '').catch(error => {
    if (error.status !== 404 || !statistic) throw error;
    missing = error;
    return readWith('');  // those that are there
  }).catch(error => {
    // It may have been there in the time that is shown.
    if (error.status !== 404 || !state.span) throw error;
    missing = error;
    return null;
  });
  if (!isChosen(interfaceName, statistic, label)) return;
  byId('statistic-list').hidden = isLatency();
  const heading = byId('statistic-heading');
  setText(heading, label ? `${interfaceName} by ${label}` : `Statistics of ${interfaceName}`);
  heading.title = heading.textContent;  // a long one is cut
  if (missing && state.span) closeForm(missing.message);
  if (!answer) return;
  orderOf = {interfaceName, label, order: answer.view.order};
  showLabels(answer.view);
  if (!state.span) showStatistics(answer.view);
  if (!state.statistic && answer.view.rows.length) {
    // The first that has bins, which has most to show, and that moves.
    const rich = answer.view.rows.filter(row => /^(array|quantiles)/.test(row.type_text));
    const moving = rich.find(row => !['0/s', '-', 'off'].includes(row.rate_text));
    state.statistic = (moving ?? rich[0] ?? answer.view.rows[0]).name;
    leaveFragment();
    return readInterface();
  }
  if (missing && !state.span) throw missing;
  const [found] = answer.statistics;
  if (!found) return;
  // It was asked for as people type it.
  if (found.name !== statistic && !missing) {
    state.statistic = found.name;
    leaveFragment();
  }
  showStatistic(found, answer.view.of);
}

// What is chosen when the answer comes is what it was asked for.
const isChosen = (interfaceName, statistic, label) => interfaceName === state.interfaceName &&
  statistic === state.statistic && label === state.label;
async function readChosen(slot, url, show) {
  const {interfaceName, statistic, label} = state;
  const answer = await ask(slot, url);
  if (isChosen(interfaceName, statistic, label)) show(answer);
}

// There are no numbers, or none now, and the reason is shown in their place.
const isNoPast = error => error instanceof Refusal && error.status !== 401;
// What was counted in a time of the past does not change once all of it was read and stored.
const kSettledUs = 15e6;
const isSettled = to => state.overview.realtime_us - to > kSettledUs;

// It is read once then; a fault may go by.
const spans = new Map();  // slot -> {url, answer}
async function readSpan(slot, span, rows) {
  const {interfaceName, statistic} = state;
  const url = `api/1/span/${encoded(interfaceName)}?from=${span.from}&to=${span.to}` +
    `&statistic=${encoded(statistic ?? '')}&${rows}`;
  if (spans.get(slot)?.url === url) return spans.get(slot).answer;
  const answer = await ask(slot, url).catch(error => {
    if (!isNoPast(error)) throw error;
    return {fault: error.message};
  });
  spans.delete(slot);
  if (!answer.fault && isSettled(span.to)) spans.set(slot, {url, answer});
  return answer;
}

async function readPast() {
  const {interfaceName, statistic, label, span, versus} = state;
  if (!span || !interfaceName) return;
  const now = await readSpan('span', span, rowsWanted());
  const before = versus && await readSpan('versus', versus,
    `first=0&rows=1000&filter=${encoded(state.statisticFilter)}${ofLabel()}`);
  if (span !== state.span || versus !== state.versus) return;
  if (!isChosen(interfaceName, statistic, label)) return;
  state.past = now.fault ? {fault: now.fault} : {now, before: before?.fault ? null : before};
  if (now.fault) {
    showNoTimes();
    showNoRows();
  } else {
    if (!state.data) showLabels(now.view);
    showStatistics(now.view, state.past.before?.view.rows);
  }
  showPast();
}

// As a heat map, if it has bins, else as a line; of a span it is read once.
let past = null;  // {url, answer}
const kOwnTimes = /^(history|raw)/;
async function readOverTime() {
  const {span} = state;
  if (!state.statistic) return;
  const view = span ? state.past?.now?.statistics[0]?.view : state.data?.view;
  if (!view || kOwnTimes.test(view.type_text)) return;
  const hasBins = !!view.total.percentiles;
  const path = `${encoded(state.interfaceName)}/${encoded(state.statistic)}`;
  const what = hasBins ? `heat/${path}?scale=${state.scale}&bins=40` : `line/${path}?`;
  const url = `api/1/${what}${ofLabel()}`;
  const show = answer => {
    showWhatLacks(answer);
    if (hasBins) showHeat(answer);
    else showSeries(answer.series, answer.window_s);
  };
  if (!span) return readChosen('heat', `${url}&seconds=${state.window}`.replace('?&', '?'), show);
  const key = [url, span.from, span.to, state.versus?.from, state.versus?.to].join();
  if (past?.key === key) return;
  const {from, to} = timesAround(state, Math.floor(state.overview.realtime_us / 1e6) * 1e6);
  await readChosen('heat', `${url}&from=${from}&to=${to}`.replace('?&', '?'), answer => {
    const isLast = isSettled(Math.max(span.to, state.versus?.to ?? 0));
    if (span === state.span && isLast) past = {key};
    show(answer);
  }).catch(error => {
    // There are numbers of the span, but no points of it to draw.
    if (!isNoPast(error)) throw error;
    showNoTimes();
  });
}
onChosen(() => { past = null; });

// When something was read last, and of what.
const dueAt = new Map();
function isDue(slot, of, period) {
  const last = dueAt.get(slot);
  if (last?.of === of && performance.now() < last.at) return false;
  dueAt.set(slot, {of, at: performance.now() + period});
  return true;
}

// The next reading, which comes at once, reads it whenever it was read last.
export function readNow(slot) {
  dueAt.delete(slot);
  refresh();
}

async function readCpus() {
  if (!isLatency() || !state.data || !isDue('cpus', state.interfaceName, kCpusPeriod)) return;
  await readChosen('cpus', `api/1/cpus/${encoded(state.interfaceName)}`, showCpus);
}

async function readHists() {
  if (!byId('hists').open || !isDue('hists', eventPath(), kHistsPeriod)) return;
  showHists(await ask('hists', 'api/1/hists'));
}

// The first time the store is read in several parts.
async function readChanged() {
  if (!isDue('changed', null, kChangedPeriod)) return;
  const answer = await ask('changed', 'api/1/changed');
  if (answer.changed.state === 'reading') readNow('changed');
  if (!state.interfaceName) showChanged(answer);
}

async function readShown() {
  if (!state.interfaceName) return readChanged();
  const path = eventPath();
  if (!path) {
    await readInterface();
    await readPast();
    await readOverTime();
    return readCpus();
  }
  byId('statistic-list').hidden = true;
  await readChosen('hist', `api/1/hist/${encoded(path)}`, showHist);
}

// (!): there is no answer, or something is unusual. Of the landing page it has the worst p99.
function showTitle() {
  const {isUnusual, worst} = landing() ?? {};
  const mark = byId('live').className === 'lost' || isUnusual ? '(!) ' : '';
  const p99 = worst ?? shownView()?.total.percentiles?.find(each => String(each.q) === '99');
  const parts = worst ? [worst.interface, worst.statistic] : [state.interfaceName, state.statistic];
  const name = shownName(parts.filter(Boolean).join('/')) || 'tallyfs';
  const host = state.overview ? ` - ${state.overview.view.host}` : '';
  const title = `${mark}${p99 ? `p99 ${p99.text.split(' ')[0]} ` : ''}${printable(name)}${host}`;
  if (document.title !== title) document.title = title;
}

// ---- failures

let failures = 0;
let answeredAt = null;
let isOld = null;  // the timer of the newest answer

function noteAnswer() {
  clearTimeout(isOld);
  isOld = setTimeout(() => showLost('tally-web takes long to answer'), kFresh);
}

function showLost(reason) {
  byId('live').className = 'lost';
  document.body.classList.add('frozen');
  const text = answeredAt ? `no answer since ${clock(answeredAt * 1000)}` : reason;
  setText(byId('live'), text);
  byId('live').title = reason;
  closeForm(`Closed: ${text}.`);
  showTitle();
}

function showFault(error) {
  if (error.status === 401) {
    byId('token-form').hidden = false;
    byId('main').hidden = true;
    setText(byId('token-reason'), error.message);
    setText(byId('token-fault'), sessionStorage.getItem('tally-token')
      ? 'This token is wrong. Read the file again, and paste all of its 64 digits.' : '');
    clearTimeout(isOld);
    setText(byId('live'), 'no token');
    byId('live').className = 'lost';
    return;
  }
  if ([403, 404].includes(error.status)) return showNothing(error.message);
  ++failures;
  clearTimeout(isOld);
  showLost(error instanceof Refusal ? error.message : 'tally-web does not answer');
}

function showLive() {
  failures = 0;
  answeredAt = Date.now();
  noteAnswer();
  document.body.classList.remove('frozen');
  setText(byId('live'), 'live');
  byId('live').className = '';
  byId('live').title = '';
  showTitle();
}

async function readAll() {
  try {
    await readOverview();
    byId('token-form').hidden = true;
    byId('main').hidden = false;
    await readShown();
    await readHists();
    showHeld();
    showLive();
  } catch (error) {
    if ([403, 404].includes(error.status)) showLive();
    showFault(error);
  }
}

let timer = null;
let isReading = false;
let isWanted = false;

onWanted(async () => {
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
});
