// Sparklines, bars, and the line of a history. Numbers and texts come from the server; D3 has the
// scales, the axes and the shapes.
/* global d3 */
import {setText} from './rows.js';

const kMinute = 60;

export function makeSpark() {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('class', 'spark');
  svg.setAttribute('viewBox', `0 0 ${kMinute} 20`);
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('aria-hidden', 'true');
  for (const each of ['path', 'rect']) {
    svg.append(document.createElementNS('http://www.w3.org/2000/svg', each));
  }
  svg.lastChild.setAttribute('height', 20);
  return svg;
}

export function drawSpark(svg, minute) {
  const y = d3.scaleLinear().domain([0, Math.max(...minute, 1e-9)]).range([20, 1]);
  const from = kMinute - minute.length;
  const shape = d3.area().x((_, i) => from + i + .5).y0(20).y1(value => y(value))
    .curve(d3.curveStep);
  svg.firstChild.setAttribute('d', minute.length ? shape(minute) : '');
  svg.lastChild.setAttribute('width', from);  // what was not observed
}

function cell(row, name, text) {
  const td = row.insertCell();
  td.className = name;
  td.textContent = text;
  return td;
}

// Bars as rows of a table: label, bar, count, share.
export function drawBars(table, bars) {
  while (table.rows.length > bars.length) table.deleteRow(-1);
  bars.forEach((bar, i) => {
    let row = table.rows[i];
    if (!row) {
      row = table.insertRow();
      cell(row, 'label', '');
      cell(row, 'bar', '').append(document.createElement('div'));
      cell(row, 'count', '');
      cell(row, 'share', '');
    }
    setText(row.cells[0], bar.label);
    row.cells[1].firstChild.style.width = bar.count > 0 ? `max(2px, ${100 * bar.part}%)` : '0';
    setText(row.cells[2], bar.text);
    setText(row.cells[3], bar.share === '-' ? '' : `${bar.share} %`);
  });
}

// The bars between the first and the last that has something.
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

// In full, as ISO 8601 has it, with the zone: for titles.
export const isoTime = realtime => d3.timeFormat('%Y-%m-%dT%H:%M:%S%Z')(new Date(realtime / 1000));

// About `count` ticks of a scale of time, at whole seconds, and how they are written: all in the
// same way, with seconds where one of them needs them, and with the day where one is not today.
export function timeTicks(scale, count) {
  const ticks = scale.ticks(Math.max(2, count)).filter(each => each.getMilliseconds() === 0);
  const [from, to] = scale.domain();
  const needs = part => ticks.some(each => each[part]() !== 0);
  const time = needs('getSeconds') ? '%H:%M:%S' : '%H:%M';
  const day = isToday(from) && isToday(to) ? '' : '%d %b';
  const isDay = day && !needs('getHours') && !needs('getMinutes') && !needs('getSeconds');
  return {ticks, text: d3.timeFormat(isDay ? day : `${day} ${time}`.trim())};
}

function axes(svg, series, x, y, size) {
  const texts = new Map(series.ticks.map(tick => [tick.value, tick.text]));
  const values = [...texts.keys()];
  const text = value => texts.get(value);
  const times = timeTicks(x, (size.right - size.left) / 120);
  svg.append('g').attr('class', 'axis').attr('transform', `translate(0,${size.bottom})`)
    .call(d3.axisBottom(x).tickValues(times.ticks).tickFormat(times.text));
  svg.append('g').attr('class', 'grid').attr('transform', `translate(${size.left},0)`)
    .call(d3.axisLeft(y).tickValues(values).tickSize(size.left - size.right).tickFormat(''));
  svg.append('g').attr('class', 'axis').attr('transform', `translate(${size.left},0)`)
    .call(d3.axisLeft(y).tickValues(values).tickFormat(text));
}

// Those with a value and without a neighbour that has one: no line leads to them.
const alone = (points, has) => points.filter((p, i) =>
  has(p) && !(points[i - 1] && has(points[i - 1])) && !(points[i + 1] && has(points[i + 1])));

// The span shaded, and the line, as the legend names them; where there is no value, there is a gap,
// and what stands between two gaps is a point.
export function drawSeries(element, series) {
  const svg = d3.select(element);
  svg.selectAll('*').remove();
  const box = element.getBoundingClientRect();
  if (!series.end_us.length || box.width < 50) return;
  const size = {left: 70, right: box.width - 14, top: 12, bottom: box.height - 26};
  const points = series.end_us.map((end, i) => ({
    time: new Date(end / 1000), value: series.value[i], min: series.min[i], max: series.max[i],
  }));
  const x = d3.scaleTime().domain([points[0].time, points[points.length - 1].time])
    .range([size.left, size.right]);
  const ticks = series.ticks.map(tick => tick.value);
  const y = d3.scaleLinear().domain([Math.min(...ticks), Math.max(...ticks)])
    .range([size.bottom, size.top]);
  axes(svg, series, x, y, size);
  const hasSpan = p => p.min !== null && p.max !== null;
  const hasValue = p => p.value !== null;
  svg.append('path').attr('class', 'span').attr('d', d3.area().defined(hasSpan)
    .x(p => x(p.time)).y0(p => y(p.min)).y1(p => y(p.max))(points));
  svg.append('path').attr('class', 'spans').attr('d', alone(points, hasSpan)
    .map(p => `M${x(p.time)},${y(p.min)}V${y(p.max)}`).join(''));
  svg.append('path').attr('class', 'curve').attr('d', d3.line().defined(hasValue)
    .x(p => x(p.time)).y(p => y(p.value))(points));
  svg.append('path').attr('class', 'points').attr('d', alone(points, hasValue)
    .map(p => `M${x(p.time)},${y(p.value)}h0`).join(''));
  const last = points[points.length - 1];
  element.setAttribute('aria-label', `History of ${points.length} periods; the newest, of ` +
    `${clock(series.end_us[series.end_us.length - 1])}, is ${last.value ?? 'without a value'}`);
}

// A cell with a time.
export const timeCell = realtime => ({text: clock(realtime), title: isoTime(realtime)});

// A table of texts, the first row as headings.
export function makeTable(rows) {
  const table = document.createElement('table');
  rows.forEach((row, i) => {
    const tr = table.insertRow();
    for (const cell of row) {
      const each = document.createElement(i === 0 ? 'th' : 'td');
      each.textContent = cell?.text ?? cell;
      each.title = cell?.title ?? '';
      tr.append(each);
    }
  });
  return table;
}

export function seriesTable(series) {
  const text = value => value === null ? '-' : value.toLocaleString('en');
  const [line, low, high] = series.names;
  // A shade that ends at the line says nothing of its own.
  const columns = [[line || 'value', series.value], [low, series.min], [high, series.max]]
    .filter(([name], i) => i === 0 || (name && name !== line));
  const rows = series.end_us.map((end, i) =>
    [timeCell(end), ...columns.map(each => text(each[1][i]))]);
  const head = ['End', ...columns.map(([name]) =>
    series.unit ? `${name} (${series.unit})` : name)];
  return makeTable([head, ...rows.reverse().slice(0, 200)]);
}
