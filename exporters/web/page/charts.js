// Draws sparklines, bars and tables, and writes times. Numbers and texts come from the server.
/* global d3 */
import {setText} from './rows.js';

const kMinute = 60;

// Makes an empty sparkline for `length` values, of which the newest will be on the right.
export function makeSpark(length = kMinute) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('class', 'spark');
  svg.setAttribute('viewBox', `0 0 ${length} 20`);
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('aria-hidden', 'true');
  // The path is the line; the first rectangle covers the time that was not observed, the second one
  // the selected time.
  for (const each of ['path', 'rect', 'rect']) {
    svg.append(document.createElementNS('http://www.w3.org/2000/svg', each));
  }
  for (const each of svg.querySelectorAll('rect')) each.setAttribute('height', 20);
  svg.lastChild.setAttribute('class', 'chosen-span');
  return svg;
}

// A value is as wide as 1, from a base up or down; null is a gap.
function drawFrom(svg, values, length, base, [low, high]) {
  const y = d3.scaleLinear().domain([low, low < high ? high : low + 1e-9]).range([20, 1]);
  const from = length - values.length;
  const has = i => values[i] != null;
  svg.firstChild.setAttribute('d', values.map((value, i) => !has(i) ? ''
    : `${has(i - 1) ? '' : `M${from + i},${y(base)}`}V${y(value)}H${from + i + 1}` +
      (has(i + 1) ? '' : `V${y(base)}Z`)).join(''));
  svg.children[1].setAttribute('width', from);
}

export function drawSpark(svg, values, length = kMinute) {
  drawFrom(svg, values, length, 0, [Math.min(...values, 0), Math.max(...values, 0)]);
}

// Marks that part of the selected time which the values have: they end at `end`, and each is of a
// second.
export function markSpark(svg, span, end, length = kMinute) {
  const at = time => Math.min(length, Math.max(0, length - (end - time) / 1e6));
  const [from, to] = span ? [at(span.from), at(span.to)] : [0, 0];
  svg.lastChild.setAttribute('x', from);
  svg.lastChild.setAttribute('width', to - from);
}

// Draws values around their mean, so that large values show how they vary. A variation of less than
// a quarter of the mean does not fill the height, so that noise looks small.
export function drawSparkAround(svg, values, length = kMinute) {
  const mean = values.reduce((sum, each) => sum + each, 0) / Math.max(1, values.length);
  drawFrom(svg, values, length, mean, [Math.min(...values, .75 * mean),
                                       Math.max(...values, 1.25 * mean)]);
}

export function rowHeading(...content) {
  const th = document.createElement('th');
  th.scope = 'row';
  th.append(...content);
  return th;
}

function cell(row, name, text) {
  const td = row.insertCell();
  td.className = name;
  td.textContent = text;
  return td;
}

// Writes a number as a multiple of the one before: "×2.10".
export function factorText(now, was) {
  if (now == null || was == null || (now === 0 && was === 0)) return '';
  if (was === 0) return 'new';
  if (now === 0) return 'none';
  const factor = now / was;
  return factor < 0 ? '' : `×${factor < 10 ? factor.toFixed(2) : Math.round(factor)}`;
}

// Joins the bars of a span with those of another one, by the share of each, since spans differ in
// length. Both have their bins in order.
export function besideBars(bars, before) {
  const was = new Map(before.map(bar => [bar.label, bar]));
  const labels = new Set(bars.map(bar => bar.label));
  const empty = bar => ({...bar, count: 0, text: '0', share: '0', part: 0});
  const all = [...bars, ...before.filter(bar => !labels.has(bar.label)).map(empty)];
  if (all.every(bar => bar.at !== undefined)) all.sort((a, b) => a.at - b.at);
  const sum = of => of.reduce((total, bar) => total + bar.count, 0) || 1;
  const [now, then] = [sum(bars), sum(before)];
  const made = all.map(bar => ({...bar, share: 100 * bar.count / now,
                                before: 100 * (was.get(bar.label)?.count ?? 0) / then}));
  const most = Math.max(1e-9, ...made.flatMap(bar => [bar.share, bar.before]));
  return made.map(bar => ({...bar, part: bar.share / most, partBefore: bar.before / most,
    share: bar.share.toFixed(1), shareBefore: bar.before.toFixed(1),
    difference: `${bar.share > bar.before ? '+' : ''}${(bar.share - bar.before).toFixed(1)}`}));
}

// Draws bars as rows of a table: label, bar, count and share. Beside another span, rows have its
// share and the difference.
export function drawBars(table, bars) {
  while (table.rows.length > bars.length) table.deleteRow(-1);
  bars.forEach((bar, i) => {
    let row = table.rows[i];
    if (!row) {
      row = table.insertRow();
      row.append(rowHeading());
      cell(row, 'bar', '').append(document.createElement('div'), document.createElement('div'));
      row.cells[1].lastChild.className = 'before';
      for (const name of ['count', 'share', 'share']) cell(row, name, '');
    }
    setText(row.cells[0], bar.label);
    const width = part => part > 0 ? `max(2px, ${100 * part}%)` : '0';
    row.cells[1].firstChild.style.width = width(bar.count > 0 ? bar.part : 0);
    row.cells[1].lastChild.hidden = bar.partBefore === undefined;
    row.cells[1].lastChild.style.width = width(bar.partBefore ?? 0);
    setText(row.cells[2], bar.text);
    setText(row.cells[3], bar.share === '-' ? '' : `${bar.share} %`);
    const isBeside = bar.partBefore !== undefined;
    row.cells[2].hidden = isBeside;
    row.cells[4].hidden = !isBeside;
    row.title = isBeside ? `${bar.share} %, was ${bar.shareBefore} %` : '';
    setText(row.cells[4], bar.difference ?? '');
  });
}

// Returns the bars from the first to the last one that has a count.
export function withoutEmptyEnds(bars) {
  const first = bars.findIndex(bar => bar.count > 0);
  if (first < 0) return [];
  const last = bars.length - 1 - [...bars].reverse().findIndex(bar => bar.count > 0);
  return bars.slice(first, last + 1);
}

const dayOf = d3.timeFormat('%Y-%m-%d');
const isToday = date => dayOf(date) === dayOf(new Date());

// A time of another day has its date.
export function clock(realtime) {
  const date = new Date(realtime / 1000);
  return d3.timeFormat(isToday(date) ? '%H:%M:%S' : '%Y-%m-%d %H:%M:%S')(date);
}

// Titles have a time in full, as ISO 8601 has it, with the zone.
export const isoTime = realtime => d3.timeFormat('%Y-%m-%dT%H:%M:%S%Z')(new Date(realtime / 1000));

// Returns about `count` ticks of a scale of time, at whole seconds, and their format. All ticks
// have the same one, with seconds where one of them needs them, and with the day where one is not
// today.
export function timeTicks(scale, count) {
  const ticks = scale.ticks(Math.max(2, count)).filter(each => each.getMilliseconds() === 0);
  const [from, to] = scale.domain();
  const needs = part => ticks.some(each => each[part]() !== 0);
  const time = needs('getSeconds') ? '%H:%M:%S' : '%H:%M';
  const day = isToday(from) && isToday(to) ? '' : '%d %b';
  const isDay = day && !needs('getHours') && !needs('getMinutes') && !needs('getSeconds');
  return {ticks, text: d3.timeFormat(isDay ? day : `${day} ${time}`.trim())};
}

export const timeCell = realtime => ({text: clock(realtime), title: isoTime(realtime)});

// Names a table by a caption for screen readers alone, since a heading above the table has the name
// for all others.
export function nameTable(table, name) {
  table.createCaption().className = 'unseen';
  setText(table.caption, name);
}

// Makes a table of texts, whose first row and first column are headings.
export function makeTable(rows, name) {
  const table = document.createElement('table');
  if (name) nameTable(table, name);
  rows.forEach((row, i) => {
    const tr = table.insertRow();
    for (const cell of row) {
      const isFirst = tr.cells.length === 0;
      const each = document.createElement(i === 0 || isFirst ? 'th' : 'td');
      if (each.tagName === 'TH') each.scope = i === 0 ? 'col' : 'row';
      each.textContent = cell?.text ?? cell;
      each.title = cell?.title ?? '';
      tr.append(each);
    }
  });
  return table;
}
