// What is shown of the statistic, or of the event with histograms, that is chosen.
import {besideBars, clock, drawBars, factorText, isoTime, makeTable, timeCell, withoutEmptyEnds}
  from './charts.js';
import {DefinitionForm} from './definition.js';
import {HeatMap} from './heat.js';
import {showTriggers} from './hist.js';
import {LineChart} from './line.js';
import {leftOutText} from './lists.js';
import {setText, shownName} from './rows.js';
import {factText, lengthText, spanText} from './span.js';
import {byId, isLatency, onChosen, refresh, state} from './state.js';

const isPressed = id => byId(id).getAttribute('aria-pressed') === 'true';

export const heat = new HeatMap({canvas: byId('heat'), tip: byId('heat-tip'),
                                 legend: byId('legend'), onColumn: () => showBars(heat),
                                 onBin: text => pointAt(text)});
// A column for each CPU.
export const cpus = new HeatMap({canvas: byId('cpus'), tip: byId('cpus-tip'),
                                 legend: byId('cpus-legend'), onColumn: () => showBars(cpus),
                                 onBin: text => pointAt(text)});
export const line = new LineChart({svg: byId('series'), tip: byId('series-tip')});
const definition = new DefinitionForm(() => refresh());

onChosen(() => {
  setText(byId('parts-note'), '');
  heat.forget();
  cpus.forget();
  line.forget();
  definition.forget();
  // The picture before stays until there is another one, but pale, as of another one.
  for (const id of ['heat-panel', 'cpus-panel', 'series-panel']) byId(id).classList.add('stale');
});

// What is shown is old: nothing is to be changed by it.
export const closeForm = reason => definition.close(reason);

export function hideStatistic() {
  byId('something').hidden = byId('nothing').hidden = true;
}

export function showNothing(text) {
  byId('something').hidden = true;
  byId('nothing').hidden = false;
  setText(byId('nothing-text'), text);
}

// ---- numbers and bars

// A percentile of so few samples that none need lie above it.
function fewOf(of, q) {
  const number = of.bars?.reduce((sum, bar) => sum + bar.count, 0) ?? 0;
  return number * (100 - q) < 100 - 1e-6 ? `from only ${number} samples` : '';
}

// `when`: of which time it is; `was`: what it was in the span beside it; `few`: why it is pale.
function fact(label, when, text, was, few = '') {
  const div = document.createElement('div');
  const dt = document.createElement('dt');
  const dd = document.createElement('dd');
  dt.textContent = `${label} · ${when}`;
  const bounds = /^(\S+) (\(.*\))$/.exec(text);
  dd.textContent = bounds ? `${bounds[1]} ` : text;
  if (bounds) {
    const span = document.createElement('span');
    span.className = 'bounds';
    span.textContent = bounds[2].replace('-', '–');
    dd.append(span);
  }
  div.append(dt, dd);
  if (few) {
    dd.className = 'few';
    dd.title = few;
  }
  if (was) {
    const then = document.createElement('dd');
    then.className = 'was';
    then.textContent = `was ${was.text.replace('-', '–')} ${was.factor}`.trim();
    div.append(then);
  }
  return div;
}

// What is shown: of a span of the past, and the one beside it, or of now.
const pastView = of => state.past?.[of]?.statistics[0]?.view;
export const shownView = () => state.span ? pastView('now') : state.data?.view;

// What is counted of the last interval, or since the reset; null if the interval is not known.
function counted(view) {
  return state.counted === 'interval' && !state.span ? view.interval : view.total;
}

// `from`: the heat map in which a column was chosen, or that was drawn anew; the other one's
// column is chosen no more.
export function showBars(from) {
  const view = shownView();
  if (!view) return;
  if (from?.chosen != null) (from === heat ? cpus : heat).leave();
  const column = heat.bars() ?? cpus.bars();
  const of = counted(view);
  const bars = column?.bars ?? of?.bars ?? [];
  const before = column ? null : pastView('before')?.total.bars;
  const shown = before ? besideBars(withoutEmptyEnds(bars), withoutEmptyEnds(before))
    : withoutEmptyEnds(bars);
  const sum = bars.reduce((a, bar) => a + bar.count, 0);
  const what = view.counts_of || 'samples';
  setText(byId('bars-title'), column ? column.name : 'Distribution');
  setText(byId('bars-of'), shown.length ? `${sum.toLocaleString('en')} ${what}`
    : state.span || column || of ? `no ${what} in this time` : 'the first second is being counted');
  byId('counted-choice').hidden = !!column || !!state.span;
  drawBars(byId('bars'), shown);
  pointAt(pointed);
}

// The pointer is on a bin of a heat map, whose bar is marked; on a bar, and its bin is framed.
let pointed = null;
function pointAt(text) {
  pointed = text;
  for (const row of byId('bars').rows) {
    row.classList.toggle('pointed', row.cells[0].textContent === text);
  }
}
byId('bars').addEventListener('pointerover', event => {
  const text = event.target.closest('tr')?.cells[0].textContent ?? null;
  heat.frame(text);
  cpus.frame(text);
});
byId('bars').addEventListener('pointerleave', () => {
  heat.frame(null);
  cpus.frame(null);
});

// The number of a fact, to be compared: an estimate of a percentile, or the level of the statistic.
function numberOf(view, q) {
  if (q === undefined) return view.level;
  return view.quantiles?.find(each => String(each.q) === q)?.estimate ?? null;
}

// The facts of a span, each with that of the span beside it.
function pastFacts(view) {
  const before = pastView('before');
  const when = lengthText(state.span);
  const was = (text, now, then) => before && {text: text ?? '-', factor: factorText(now, then)};
  const rate = fact('rate', when, view.rate_text.replace(/\/s$/, ' samples/s'),
                    was(before?.rate_text, view.rate_number, before?.rate_number));
  const percentiles = (view.total.percentiles ?? []).map(each => fact(`p${each.q}`, when, each.text,
    was(before?.total.percentiles?.find(other => other.q === each.q)?.text,
        numberOf(view, each.q), before && numberOf(before, each.q)), fewOf(view.total, each.q)));
  const isTotal = view.type_text.startsWith('value');
  const each = (of, level) => of && level != null ? level / (isTotal ? of.interval_us : 1) : null;
  const [now, then] = [each(view, view.level), each(before, before?.level)];
  const compared = isTotal ? ['growth'] : ['average', 'last'];
  const allFacts = of => [...(isTotal && of?.interval?.facts || []), ...of?.total.facts ?? []];
  const facts = allFacts(view).map(({label, text}) => fact(label, when, text,
    was(allFacts(before).find(other => other.label === label)?.text,
        ...compared.includes(label) ? [now, then] : [])));
  return [rate, ...percentiles, ...facts];
}

export function showFacts(view) {
  const leftOut = view.total.left_out?.replaceAll('   ', ' · ') ?? '';
  byId('left-out').hidden = !leftOut;
  if (state.span) {
    setText(byId('left-out'), leftOut);
    return byId('percentiles').replaceChildren(...pastFacts(view));
  }
  const of = counted(view);
  const shown = of?.percentiles?.length ? of : view.total;
  // Without samples in the interval, those of all say so.
  const since = `since ${clock(view.since_us)}`;
  const when = shown === view.interval ? intervalText(view) : since;
  const rates = view.interval?.facts?.filter(each => each.label === 'growth') ?? [];
  byId('percentiles').replaceChildren(
    ...(shown.percentiles ?? []).map(each =>
      fact(`p${each.q}`, when, each.text, null, fewOf(shown, each.q))),
    ...rates.map(each => fact(each.label, intervalText(view), each.text)),
    ...(view.total.facts ?? []).map(each => fact(each.label, since, each.text)));
  setText(byId('left-out'), `${leftOut} · ${since}`);
}

// Between two times; what is not known of it, and where it is from.
function spanNote() {
  const {now, before} = state.past ?? {};
  if (!now) return 'Reading what was counted in this time.';
  const facts = [...now.facts, ...before?.facts ?? []].map(factText);
  const texts = [`${spanText({from: now.begin_us, to: now.end_us})}, ` +
    (now.from === 'store' ? 'from the store' : 'from what tally-web keeps')];
  if (before) texts.push(`compared with ${spanText({from: before.begin_us, to: before.end_us})}`);
  return [...texts, ...facts].join(' · ');
}

function showName(name) {
  setText(byId('shown-name'), isLatency() ? `Latency histogram ${name}`
    : `${state.interfaceName} / ${shownName(name)}`);
}

function showHelp(view) {
  setText(byId('shown-help'), view?.help_text ?? '');
  byId('shown-help').hidden = !view?.help_text;
}

// What a sum is of, and which statistics it lacks. It has no definition of its own.
function showSum(sum, since) {
  byId('sum-note').hidden = !sum;
  byId('definition').hidden = !!sum;
  if (!sum) return;
  const {label, parts, names, since_us: first} = sum;
  const more = parts > names.length ? ` and ${parts - names.length} more` : '';
  const listed = names.map(shownName).join(', ') + more;
  const of = parts === 1 ? `Only one statistic has this ${label}: ${listed}.`
    : `Sum of ${parts} statistics, over all labels but ${label}: ${listed}.`;
  const times = first + 1e6 < since ? ` Parts of it were counted since ${clock(first)}.` : '';
  setText(byId('sum-note'), `${of}${times} ${leftOutText(sum, 'Left out: ')}`.trim());
}

// Of how many of its statistics a map or a line of a sum is, and what the store lacks of it.
export function showWhatLacks({parts, parts_read: read, parts_left_out: leftOut, damaged,
                               damaged_more: more}) {
  const others = read || leftOut ? 'the others' : 'them';
  const unknown = state.span ? `nothing is known of ${others} at that time`
    : `tally-web keeps no past of ${others}`;
  const reasons = [...leftOut ? [`${leftOut} are too many to be read from the store`] : [],
    ...read + leftOut < parts ? [unknown] : []];
  const lacking = read < parts ? [`Over time it adds up ${read || 'none'} of its ${parts} ` +
    `statistics: ${reasons.join(', and ')}.`] : [];
  const rest = more ? [`${more} more of its times are damaged`] : [];
  setText(byId('parts-note'), [...lacking, ...damaged.map(factText), ...rest].join(' · '));
}

// A statistic that is not there now has no other name than that in the address.
function showPastName(statistic) {
  if (!state.statistic || state.data?.name === state.statistic) return;
  byId('hist-box').hidden = true;
  byId('statistic-parts').hidden = false;
  showName(state.statistic);
  showSum(statistic?.sum, statistic?.view.since_us);
  setText(byId('shown-about'), [statistic?.view.type_text, statistic?.units, 'not there now']
    .filter(Boolean).join(' · '));
  byId('shown-about').title = '';
  showHelp(statistic?.view);
}

// Of the statistic that is chosen: there may be nothing of it in this time.
export function showPast() {
  const view = pastView('now');
  setText(byId('span-note'), !state.span ? '' : state.past?.fault ?? spanNote());
  if (!state.span) return;
  byId('nothing').hidden = true;
  byId('something').hidden = false;
  showPastName(state.past?.now?.statistics[0]);
  byId('bars-panel').hidden = !view?.total.bars;
  byId('raw-panel').hidden = true;
  for (const id of ['percentiles', 'left-out']) byId(id).hidden = !view;
  if (!view) return state.past && !state.past.fault && setText(byId('span-note'),
    `${spanNote()} · this statistic was not observed in it`);
  showShape(view);
  showFacts(view);
  showBars();
}

function showRaw(rows) {
  byId('raw-panel').hidden = !rows;
  if (!rows) return;
  byId('raw').replaceChildren(...makeTable([['Time', 'X', 'Y'],
    ...rows.map(([time, x, y]) => [timeCell(time), x, y])]).children);
}

// `seconds`: how long the axis of time is.
export function showSeries(series, seconds) {
  byId('series-panel').hidden = !series;
  if (!series) return;
  byId('series-panel').classList.remove('stale');
  line.take(series, seconds);
  showLine();
}

export function showLine() {
  const {series} = line;
  if (!series) return;
  const asTable = isPressed('series-as-table');
  setText(byId('series-title'), line.window ? 'Over time' : 'History');
  setText(byId('series-legend'), line.legend());
  byId('series-box').hidden = asTable;
  byId('series-table').hidden = !asTable;
  if (asTable) byId('series-table').replaceChildren(line.table());
  else line.draw();
}

// ---- a statistic

// A reading may have come late: then its interval is longer than a second.
function intervalText(view) {
  const seconds = Math.round((view.interval_us ?? 1e6) / 1e6);
  return seconds > 1 ? `last ${seconds} s` : 'last second';
}

// Which panels its type has.
function showShape(view) {
  const hasBins = !!view.total.percentiles;
  byId('heat-panel').hidden = !hasBins;
  byId('cpus-panel').hidden = !isLatency();
  if (hasBins) byId('series-panel').hidden = true;
  document.querySelector('.charts').classList.toggle('alone', !hasBins && !view.total.bars);
}

// `all`: how many the interface has.
export function showStatistic(statistic, all) {
  const view = statistic.view;
  state.data = statistic;
  byId('nothing').hidden = true;
  byId('something').hidden = false;
  byId('hist-box').hidden = true;
  byId('statistic-parts').hidden = false;
  showName(statistic.name);
  const rate = view.rate_text.replace(/\/s$/, ' samples/s');
  const parts = [view.type_text, statistic.units, rate !== '-' && rate,
                 `since ${clock(view.since_us)}`, view.count_text &&
                 `${view.count_text} ${view.counts_of || 'samples'}`];
  setText(byId('shown-about'), parts.filter(Boolean).join(' · '));
  showHelp(view);
  showSum((state.past?.now?.statistics[0] ?? statistic).sum, view.since_us);
  setText(byId('since'), clock(view.since_us));
  byId('since').title = byId('shown-about').title = `since ${isoTime(view.since_us)}`;
  setText(byId('interval'), intervalText(view));
  if (!state.span) {
    setText(byId('span-note'), '');
    for (const id of ['percentiles']) byId(id).hidden = false;
    byId('bars-panel').hidden = !view.total.bars;
    showShape(view);
    showFacts(view);
    showBars();
    showRaw(view.raw);
  }
  if (view.series) showSeries(view.series, 0);
  definition.show(state.interfaceName, statistic, state.readOnly, all);
}

// As a picture or as a table. What is hidden has no size to draw in, so it is shown first.
function showMap(map, id) {
  if (!map.heat) return;
  const asTable = isPressed(`${id}-as-table`);
  byId(`${id}-box`).hidden = asTable;
  byId(`${id}-table`).hidden = !asTable;
  if (asTable) byId(`${id}-table`).replaceChildren(map.table());
  else map.repaint();
  showBars(map);
}

// What was read last, as it is to be shown now.
export function showMaps() {
  showMap(heat, 'heat');
  showMap(cpus, 'cpus');
}

function heatNote() {
  if (state.span) return 'Dragging selects another time; with Shift the time to compare with.';
  if (isLatency() && heat.unseen() > 0) {
    return 'A latency histogram has no past from before it was chosen: it is read from then on.';
  }
  if (!heat.heat.end_us.length) return 'The first second is being counted.';
  const click = 'Click a column to see it alone; Esc shows all again. Dragging selects a time.';
  return heat.unseen() > 0 ? `${click} tally-web did not read before the first column.` : click;
}

export function showHeat(answer) {
  byId('heat-panel').classList.remove('stale');
  heat.take(answer, answer.window_s);
  showMap(heat, 'heat');
  setText(byId('heat-note'), heatNote());
}

// Nothing is known of the times that are wanted.
export function showNoTimes() {
  heat.clear();
  setText(byId('heat-note'), '');
  if (state.data?.view.series) return;
  line.forget();
  byId('series-panel').hidden = true;
}

export function showCpus(answer) {
  byId('cpus-panel').classList.remove('stale');
  cpus.take(answer, Math.max(1, answer.names.length));
  showMap(cpus, 'cpus');
}

// ---- an event with histograms

export function showHist(answer) {
  state.data = null;
  byId('nothing').hidden = true;
  byId('something').hidden = false;
  byId('hist-box').hidden = false;
  byId('statistic-parts').hidden = true;
  setText(byId('shown-name'), `Event ${state.interfaceName.split('/').pop()} / ${state.statistic}`);
  const count = answer.triggers.length;
  setText(byId('shown-about'), count === 0 ? 'no histogram trigger: it was removed'
    : `${count} histogram trigger${count > 1 ? 's' : ''} · ${answer.hist}`);
  showTriggers(byId('hist-box'), answer.triggers);
}
