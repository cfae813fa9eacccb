// Lines over time: of a history, and of what other types without bins counted. Numbers, ticks and
// names come from the server; D3 has the scales, the axes and the shapes. The pointer has a
// crosshair and a tip; dragging selects a time. A few outliers are beyond the top of a linear axis,
// marked and named; what is 0 or below has no place on a logarithmic one, and is counted.
/* global d3 */
import {clock, makeTable, timeCell, timeTicks} from './charts.js';
import {SpanMarker, selectTimes} from './span.js';
import {state} from './state.js';

const kBeyondNamed = 3;

// The value axis of a series between two places: `at(value)`, or null where it has none.
export function valueAxis(series, kind, [bottom, top]) {
  const isLog = kind === 'log' && series.log_ticks.length > 0;
  const ticks = isLog ? series.log_ticks : series.ticks;
  const values = ticks.map(tick => tick.value);
  const scale = (isLog ? d3.scaleLog() : d3.scaleLinear())
    .domain([Math.min(...values), Math.max(...values)]).range([bottom, top]).clamp(true);
  const has = value => value !== null && (!isLog || value > 0);
  // A shade that begins at 0 or below begins at the bottom.
  const end = value => has(value) ? scale(value) : bottom;
  return {isLog, ticks, scale, has, end};
}

// Of a linear axis: which points are beyond its top.
const beyondOf = (series, axis) => axis.isLog ? [] : series.beyond;

function axes(svg, {ticks}, x, y, size) {
  const texts = new Map(ticks.map(tick => [tick.value, tick.text]));
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

// Small ones have their first digits.
const shown = value => value === null || value === undefined ? '-'
  : value.toLocaleString('en', value && Math.abs(value) < 0.1 ? {maximumSignificantDigits: 4}
    : {maximumFractionDigits: 3});

export class LineChart extends SpanMarker {
  constructor({svg, tip}) {
    super();
    Object.assign(this, {svg, tip, series: null, window: 0});
    this.shown = null;   // the end of the point that has the crosshair
    svg.addEventListener('pointermove', event => this.point(event));
    svg.addEventListener('pointerleave', () => this.show(null));
    svg.addEventListener('keydown', event => this.key(event));
    svg.addEventListener('keyup', event => {
      if (event.key === 'Shift') this.selectMarked(false);
    });
    svg.addEventListener('blur', () => {
      this.leaveMarked();
      this.show(null);
    });
    selectTimes(svg, at => this.timeAt(at), span => this.markSpan(span));
  }

  // As in a heat map: left and right go to a point, with Shift a span grows from it, and is
  // selected with Enter, or when Shift is let go; with Ctrl and Enter it is the one beside.
  key(event) {
    const ends = this.series?.end_us ?? [];
    if (event.key === 'Enter' && this.marked) return this.selectMarked(event.ctrlKey);
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!step || !ends.length) return;
    event.preventDefault();
    event.stopPropagation();
    const at = ends.includes(this.shown) ? ends.indexOf(this.shown) : ends.length;
    const to = Math.min(ends.length - 1, Math.max(0, at + step));
    if (event.shiftKey) this.growTo({from: ends[to - 1] ?? ends[0] - 1e6, to: ends[to]});
    this.shown = ends[to];
    this.draw();
  }

  // `seconds`: how long the axis of time is; 0: as long as the points are.
  take(series, seconds = 0) {
    this.series = series;
    this.window = seconds;
  }

  // The old drawing stays, but has no points.
  forget() {
    this.series = this.marked = this.anchor = this.shown = this.x = null;
    this.showCross();
  }

  // The span shaded, and the line, as the legend names them; where there is no value, there is a
  // gap, and what stands between two gaps is a point.
  draw() {
    const {series} = this;
    const svg = d3.select(this.svg);
    svg.selectAll('*').remove();
    this.x = null;
    const box = this.svg.getBoundingClientRect();
    if (!series?.end_us.length || box.width < 50) return;
    const size = {left: 70, right: box.width - 14, top: 12, bottom: box.height - 26};
    const points = series.end_us.map((end, i) => ({
      time: new Date(end / 1000), value: series.value[i], min: series.min[i], max: series.max[i],
    }));
    const end = points[points.length - 1].time;
    const begin = this.window ? new Date(end - this.window * 1000) : points[0].time;
    const x = d3.scaleTime().domain([begin, end]).range([size.left, size.right]);
    const axis = valueAxis(series, state.axis, [size.bottom, size.top]);
    Object.assign(this, {x, size, points, axis});
    axes(svg, axis, x, axis.scale, size);
    this.drawSpans(svg);
    // Parts of a sum have no heights of their own on a logarithmic axis.
    if (series.stacks && !axis.isLog) this.drawStacks(svg);
    this.drawLine(svg);
    this.drawBeyond(svg);
    this.cross = svg.append('line').attr('class', 'cross').attr('y1', size.top)
      .attr('y2', size.bottom).attr('visibility', 'hidden');
    this.showCross();
    const last = points[points.length - 1];
    this.svg.setAttribute('aria-label', `Line of ${points.length} times; the newest, of ` +
      `${clock(series.end_us[series.end_us.length - 1])}, is ${last.value ?? 'without a value'}`);
  }

  drawSpans(svg) {
    const {x, size} = this;
    const [begin, end] = x.range();
    for (const [span, name] of [[state.span, 'chosen-span'], [state.versus, 'versus-span'],
                                [this.marked, 'chosen-span']]) {
      if (!span) continue;
      const at = time => Math.min(end, Math.max(begin, x(new Date(time / 1000))));
      svg.append('rect').attr('class', name).attr('x', at(span.from)).attr('y', size.top)
        .attr('width', Math.max(1, at(span.to) - at(span.from)))
        .attr('height', size.bottom - size.top);
    }
  }

  drawLine(svg) {
    const {x, points, axis: {has, end}} = this;
    const hasSpan = p => p.min !== null && has(p.max);
    const hasValue = p => has(p.value);
    svg.append('path').attr('class', 'span').attr('d', d3.area().defined(hasSpan)
      .x(p => x(p.time)).y0(p => end(p.min)).y1(p => end(p.max))(points));
    svg.append('path').attr('class', 'spans').attr('d', alone(points, hasSpan)
      .map(p => `M${x(p.time)},${end(p.min)}V${end(p.max)}`).join(''));
    svg.append('path').attr('class', 'curve').attr('d', d3.line().defined(hasValue)
      .x(p => x(p.time)).y(p => end(p.value))(points));
    svg.append('path').attr('class', 'points').attr('d', alone(points, hasValue)
      .map(p => `M${x(p.time)},${end(p.value)}h0`).join(''));
  }

  // An arrow upwards at the top for each point that is beyond it.
  drawBeyond(svg) {
    const {x, points, size, series, axis} = this;
    svg.append('path').attr('class', 'beyond').attr('d', beyondOf(series, axis)
      .map(({at}) => `M${x(points[at].time)},${size.top - 7}l4,7h-8Z`).join(''));
  }

  // The five that grew most, one upon the other; above them, up to the line, all others.
  drawStacks(svg) {
    const {x, points, series, axis: {end}} = this;
    const below = points.map(() => 0);
    series.stacks.forEach((stack, at) => {
      const parts = points.map((p, i) => ({time: p.time, low: below[i],
        high: stack.values[i] === null ? null : below[i] += stack.values[i]}));
      svg.append('path').attr('class', `stack stack-${at}`).attr('d', d3.area()
        .defined(p => p.high !== null).x(p => x(p.time)).y0(p => end(p.low))
        .y1(p => end(p.high))(parts));
    });
  }

  legend() {
    const {stacks, legend, names} = this.series;
    const axis = valueAxis(this.series, state.axis, [0, 1]);
    const line = !stacks ? legend || names[0]
      : axis.isLog ? 'growth in a second, of all values; a linear axis shows its parts, too'
      : 'growth in a second, of ' +
        `${stacks.map(each => each.name).join(', ') || 'nothing'}; the line is of all values`;
    return [line, this.beyondText(axis), this.lowText(axis)].filter(Boolean).join('; ');
  }

  // Whose outliers they are: of a list that of its values which grew most then.
  beyondText(axis) {
    const {stacks, end_us: ends, beyond_all: all} = this.series;
    const named = beyondOf(this.series, axis);
    if (!named.length) return '';
    const nameOf = ({at, name}) => !stacks?.length ? name
      : stacks.reduce((a, b) => b.values[at] > a.values[at] ? b : a).name;
    const texts = named.slice(0, kBeyondNamed).map(each =>
      `${nameOf(each)} ${each.text} at ${clock(ends[each.at])}`);
    const more = all > texts.length ? ` and ${all - texts.length} more` : '';
    return `beyond the top: ${texts.join(', ')}${more}`;
  }

  lowText(axis) {
    const low = this.series.value.filter(value => value !== null && !axis.has(value)).length;
    return low ? `a logarithmic axis cannot show values of 0 or below: ${low}` : '';
  }

  timeAt(clientX) {
    if (!this.x) return null;
    const at = clientX - this.svg.getBoundingClientRect().left;
    const [begin, end] = this.x.range();
    return Math.round(this.x.invert(Math.min(end, Math.max(begin, at))).getTime() * 1000);
  }

  point(event) {
    if (!this.x) return;
    const at = d3.bisector(p => p.time).center(this.points, this.x.invert(
      event.clientX - this.svg.getBoundingClientRect().left));
    this.show(this.series.end_us[at]);
  }

  show(end) {
    this.shown = end;
    this.showCross();
  }

  // At the point that was pointed at, as long as it is drawn.
  showCross() {
    const at = this.x ? this.series.end_us.indexOf(this.shown) : -1;
    this.tip.hidden = at < 0;
    if (at < 0) return this.cross?.attr('visibility', 'hidden');
    const x = this.x(this.points[at].time);
    this.cross.attr('visibility', 'visible').attr('x1', x).attr('x2', x);
    this.tip.textContent = this.textOf(at);
    const width = this.svg.getBoundingClientRect().width;
    this.tip.style.left = x < width / 2 ? `${x + 12}px` : '';
    this.tip.style.right = x < width / 2 ? '' : `${width - x + 12}px`;
    this.tip.style.top = '14px';
  }

  textOf(at) {
    const {series} = this;
    const [line, low, high] = series.names;
    const unit = series.unit ? ` ${series.unit}` : '';
    const named = [[line || 'value', series.value[at]], [low, series.min[at]],
                   [high, series.max[at]]];
    const texts = (series.stacks ?? []).map(each => [each.name, each.values[at]]);
    return `${clock(series.end_us[at])}   ` + [...named, ...texts]
      .filter(([name, value], i) => i === 0 || (name && name !== line && value !== null))
      .map(([name, value]) => `${name} ${shown(value)}`).join('   ') + unit;
  }

  table() { return makeTable(this.rows().slice(0, 201), this.legend() || 'Values by time'); }

  // The newest first, with headings.
  rows() {
    const {series} = this;
    const [line, low, high] = series.names;
    // A shade that ends at the line says nothing of its own.
    const columns = [[line || 'value', series.value], [low, series.min], [high, series.max],
                     ...(series.stacks ?? []).map(each => [each.name, each.values])]
      .filter(([name], i) => i === 0 || (name && name !== line));
    const rows = series.end_us.map((end, i) =>
      [timeCell(end), ...columns.map(each => shown(each[1][i]))]);
    const head = ['End', ...columns.map(([name]) =>
      series.unit ? `${name} (${series.unit})` : name)];
    return [head, ...rows.reverse()];
  }
}
