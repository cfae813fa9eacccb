// Lines over time: of a history, and of what other types without bins counted. Numbers, ticks and
// names come from the server; D3 has the scales, the axes and the shapes. The pointer has a
// crosshair and a tip; dragging selects a time.
/* global d3 */
import {clock, makeTable, timeCell, timeTicks} from './charts.js';
import {selectTimes} from './span.js';
import {state} from './state.js';

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

const shown = value => value === null || value === undefined ? '-'
  : value.toLocaleString('en', {maximumFractionDigits: 3});

export class LineChart {
  constructor({svg, tip}) {
    Object.assign(this, {svg, tip, series: null, window: 0, marked: null});
    svg.addEventListener('pointermove', event => this.point(event));
    svg.addEventListener('pointerleave', () => this.point(null));
    selectTimes(svg, at => this.timeAt(at), span => this.markSpan(span));
  }

  // `seconds`: how long the axis of time is; 0: as long as the points are.
  take(series, seconds = 0) {
    this.series = series;
    this.window = seconds;
  }

  forget() {
    this.series = null;
    this.tip.hidden = true;
  }

  markSpan(span) {
    this.marked = span;
    this.draw();
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
    const ticks = series.ticks.map(tick => tick.value);
    const y = d3.scaleLinear().domain([Math.min(...ticks), Math.max(...ticks)])
      .range([size.bottom, size.top]);
    Object.assign(this, {x, size, points});
    axes(svg, series, x, y, size);
    this.drawSpans(svg);
    if (series.stacks) this.drawStacks(svg, y);
    else this.drawLine(svg, y);
    this.cross = svg.append('line').attr('class', 'cross').attr('y1', size.top)
      .attr('y2', size.bottom).attr('visibility', 'hidden');
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

  drawLine(svg, y) {
    const {x, points} = this;
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
  }

  // The five that grew most, one upon the other; above them, up to the line, all others.
  drawStacks(svg, y) {
    const {x, points, series} = this;
    const below = points.map(() => 0);
    series.stacks.forEach((stack, at) => {
      const parts = points.map((p, i) => ({time: p.time, low: below[i],
        high: stack.values[i] === null ? null : below[i] += stack.values[i]}));
      svg.append('path').attr('class', `stack stack-${at}`).attr('d', d3.area()
        .defined(p => p.high !== null).x(p => x(p.time)).y0(p => y(p.low))
        .y1(p => y(p.high))(parts));
    });
    this.drawLine(svg, y);
  }

  legend() {
    const {stacks, legend, names} = this.series;
    return !stacks ? legend || names[0] : 'growth in a second, of ' +
      `${stacks.map(each => each.name).join(', ') || 'nothing'}, and of all as the line`;
  }

  timeAt(clientX) {
    if (!this.x) return null;
    const at = clientX - this.svg.getBoundingClientRect().left;
    const [begin, end] = this.x.range();
    return Math.round(this.x.invert(Math.min(end, Math.max(begin, at))).getTime() * 1000);
  }

  point(event) {
    const isOver = event && this.x;
    this.tip.hidden = !isOver;
    if (!isOver) return this.cross?.attr('visibility', 'hidden');
    const at = d3.bisector(p => p.time).center(this.points, this.x.invert(
      event.clientX - this.svg.getBoundingClientRect().left));
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
    const text = value => value === null ? '-' : value.toLocaleString('en');
    const [line, low, high] = series.names;
    // A shade that ends at the line says nothing of its own.
    const columns = [[line || 'value', series.value], [low, series.min], [high, series.max],
                     ...(series.stacks ?? []).map(each => [each.name, each.values])]
      .filter(([name], i) => i === 0 || (name && name !== line));
    const rows = series.end_us.map((end, i) =>
      [timeCell(end), ...columns.map(each => text(each[1][i]))]);
    const head = ['End', ...columns.map(([name]) =>
      series.unit ? `${name} (${series.unit})` : name)];
    return [head, ...rows.reverse()];
  }
}
