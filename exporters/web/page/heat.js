// The heat map: time from left to right, the statistic's bins from bottom to top, counts as
// colours. Bins, counts, the least count of each colour and the colours come from the server.
// A column is as wide as the seconds that it covers, and coloured by its counts in seconds_each.
// Where the server says `names` of the columns, they stand for themselves, not for times.
/* global d3 */
import {clock, makeTable, timeTicks} from './charts.js';
import {SpanMarker, selectTimes} from './span.js';
import {state} from './state.js';

const kLeft = 74;
const kBottom = 22;
const kTop = 6;
const kTableColumns = 12;

const kFolded = 4;  // so many empty bins beside each other are one row

// Which bins a row is of, [first, last]: without the empty ones at both ends, but for one.
function rowsOf(hit) {
  const rows = [];
  const end = Math.min(hit.length, hit.lastIndexOf(true) + 2);
  for (let first = Math.max(0, hit.indexOf(true) - 1); first < end;) {
    const next = hit.indexOf(true, first);
    const isFolded = next - first >= kFolded;
    rows.push([first, isFolded ? next - 1 : first]);
    first = isFolded ? next : first + 1;
  }
  return rows;
}

function fitted(heat) {
  const hit = heat.bins.map((_, bin) => heat.counts.some(counts => counts[bin] > 0));
  if (!hit.includes(true)) return heat;
  const rows = rowsOf(hit);
  const bins = rows.map(([first, last]) => first === last ? heat.bins[first]
    : {text: `${heat.bins[first].text} to ${heat.bins[last].text}`, end: heat.bins[last].end,
       isFolded: true});
  return {...heat, bins, counts: heat.counts.map(counts =>
    counts.length ? rows.map(([first]) => counts[first]) : counts)};
}

export class HeatMap extends SpanMarker {
  constructor(parts) {
    super();
    Object.assign(this, parts);  // canvas, tip, legend, onColumn, onBin
    this.chosen = null;  // the end of a column, in microseconds
    this.framed = null;  // the text of a bin
    this.pointer = null;  // where it is on the canvas
    this.canvas.addEventListener('pointermove', ({clientX, clientY}) =>
      this.point(this.pointer = {clientX, clientY}));
    this.canvas.addEventListener('pointerleave', () => {
      this.pointer = null;
      this.tip.hidden = true;
      this.onBin(null);
    });
    this.canvas.addEventListener('click', event => {
      const place = this.place(event);
      this.choose(place ? this.heat.end_us[place.column] : null);
    });
    this.canvas.addEventListener('keydown', event => this.key(event));
    this.canvas.addEventListener('keyup', event => {
      if (event.key === 'Shift') this.selectMarked(false);
    });
    this.canvas.addEventListener('blur', () => this.leaveMarked());
    selectTimes(this.canvas, at => this.timeAt(at), span => this.markSpan(span));
  }

  timesOf(column) {
    const end = this.heat.end_us[column];
    return {from: end - this.heat.seconds[column] * 1e6, to: end};
  }

  // Of the left and right edge; null: columns are no times.
  timeAt(clientX) {
    if (!this.heat?.end_us.length || this.heat.names) return null;
    const {box, second} = this.layout();
    const at = Math.min(box.width, Math.max(kLeft, clientX - box.left));
    return Math.round(this.heat.end_us.at(-1) - (box.width - at) / second * 1e6);
  }

  forget() {
    this.heat = this.whole = this.marked = this.anchor = null;
    this.chosen = null;
    this.pointer = null;
    this.tip.hidden = true;
  }

  // There is nothing to draw.
  clear() {
    this.forget();
    this.canvas.getContext('2d').clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.legend.replaceChildren();
  }

  // To be drawn by repaint().
  take(heat, seconds) {
    this.whole = heat;
    this.heat = fitted(heat);
    this.window = seconds;
    let behind = 0;  // seconds between a column's end and the right edge
    this.behind = heat.seconds.map(() => 0);
    for (let i = heat.seconds.length - 1; i >= 0; --i) {
      this.behind[i] = behind;
      behind += heat.seconds[i];
    }
    if (this.chosen !== null && !heat.end_us.includes(this.chosen)) this.chosen = null;
  }

  // Seconds of the window from before the first column, of which nothing is known.
  unseen() {
    const seen = this.heat?.seconds.reduce((sum, each) => sum + each, 0) ?? 0;
    return Math.max(0, this.window - seen);
  }

  repaint() {
    if (!this.heat) return;
    this.draw();
    this.drawLegend();
    // Under a pointer that rests there is another column now.
    if (this.pointer) this.point(this.pointer);
  }

  choose(end) {
    this.chosen = end === this.chosen ? null : end;
    this.draw();
    this.onColumn();
  }

  // Left and right: the column; up and down: its bin, whose count the tip has. With Shift a span
  // grows from the chosen column, and is selected with Enter, or when Shift is let go; with Ctrl
  // and Enter it is the one beside the first.
  key(event) {
    const ends = this.heat?.end_us ?? [];
    if (event.key === 'Enter' && this.marked) return this.selectMarked(event.ctrlKey);
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    const up = {ArrowUp: 1, ArrowDown: -1}[event.key];
    if (!(step || up) || !ends.length) return;
    event.preventDefault();
    event.stopPropagation();
    const last = ends.length - 1;
    const at = this.chosen === null ? last + (step ? 1 : 0) : ends.indexOf(this.chosen);
    const to = Math.min(last, Math.max(0, at + (step ?? 0)));
    this.chosen = ends[to];
    if (up) this.goUp(to, up);
    if (step && event.shiftKey && !this.heat.names) this.growTo(this.timesOf(to));
    this.draw();
    this.onColumn();
  }

  goUp(column, step) {
    const bins = this.heat.bins;
    const at = bins.findIndex(each => each.text === this.framed);
    const hit = this.countsOf(column).findIndex(each => each > 0);
    const bin = at < 0 ? Math.max(0, hit) : Math.min(bins.length - 1, Math.max(0, at + step));
    this.framed = bins[bin].text;
    this.onBin(this.framed);
    this.tip.hidden = false;
    this.tip.textContent = this.textOf(column, bin);
    Object.assign(this.tip.style, {left: `${kLeft}px`, right: '', top: '4px'});
  }

  // The bin with this text, in all columns; null: none.
  frame(text) {
    if (this.framed === text) return;
    this.framed = text;
    this.draw();
  }

  // All columns are shown again, without a call of onColumn.
  leave() {
    if (this.chosen === null) return;
    this.chosen = null;
    this.draw();
  }

  // The chosen column as bars, with its name; null if none is.
  bars() {
    const at = this.chosen === null ? -1 : this.heat.end_us.indexOf(this.chosen);
    if (at < 0) return null;
    return {name: this.nameOf(at), bars: this.barsOf(at)};
  }

  barsOf(at) {
    const counts = this.countsOf(at);
    const sum = counts.reduce((a, b) => a + b, 0);
    const most = Math.max(...counts, 1);
    return counts.map((count, i) => ({
      label: this.heat.bins[i].text, count, text: count.toLocaleString('en'),
      share: sum ? (100 * count / sum).toFixed(1) : '-', part: count / most,
    }));
  }

  countsOf(column, heat = this.heat) {
    const counts = heat.counts[column];
    return counts.length ? counts : heat.bins.map(() => 0);
  }

  colours() {
    return this.heat[document.documentElement.dataset.theme === 'dark' ? 'dark' : 'light'];
  }

  // 0: nothing was counted. What was counted is seen, however long the column is.
  level(count, column) {
    if (count === 0) return 0;
    const each = count * this.heat.seconds_each / this.heat.seconds[column];
    let level = 1;
    while (level < this.heat.least.length && each >= this.heat.least[level]) ++level;
    return level;
  }

  labelOf(column) {
    return this.heat.names?.[column] ?? clock(this.heat.end_us[column]);
  }

  // The same, and how long it is where that is not a second.
  nameOf(column) {
    const seconds = this.heat.seconds[column];
    return this.labelOf(column) + (seconds > 1 ? ` (${seconds} s)` : '');
  }

  layout() {
    const box = this.canvas.getBoundingClientRect();
    const second = (box.width - kLeft) / this.window;
    const height = (box.height - kBottom - kTop) / Math.max(1, this.heat.bins.length);
    // The newest column is at the right.
    const width = i => this.heat.seconds[i] * second;
    return {box, second, width, height,
            x: i => box.width - this.behind[i] * second - width(i),
            y: i => box.height - kBottom - (i + 1) * height};
  }

  draw() {
    if (!this.heat) return;
    const place = this.layout();
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(place.box.width * ratio);
    this.canvas.height = Math.round(place.box.height * ratio);
    const pen = this.canvas.getContext('2d');
    pen.scale(ratio, ratio);
    this.drawCells(pen, place);
    this.drawAxes(pen, place);
    this.describe();
  }

  drawCells(pen, place) {
    const colours = this.colours();
    const css = getComputedStyle(document.documentElement);
    const edge = css.getPropertyValue('--edge');
    pen.fillStyle = css.getPropertyValue('--ground');
    pen.fillRect(kLeft, kTop, place.box.width - kLeft, place.box.height - kBottom - kTop);
    this.drawUnseen(pen, place, css);
    this.heat.end_us.forEach((end, column) => {
      const x = place.x(column);
      const width = place.width(column);
      this.heat.counts[column].forEach((count, bin) => {
        const level = this.level(count, column);
        if (level === 0) return;
        pen.fillStyle = colours[level - 1];
        // A gap between bins shows that they are several; columns touch.
        pen.fillRect(x, place.y(bin) + .5, width + .3, Math.max(1, place.height - 1));
      });
      const known = this.heat.states[column];
      if (known !== 'c') this.drawUnsure(pen, place, x, width, known, edge);
      if (end === this.chosen) {
        this.drawFrame(pen, css, x, kTop, width, place.box.height - kBottom - kTop);
      }
    });
    this.drawFolds(pen, place, edge);
    if (!this.heat.names) this.drawSpans(pen, place, css);
    const bin = this.heat.bins.findIndex(each => each.text === this.framed);
    if (bin < 0) return;
    this.drawFrame(pen, css, kLeft, place.y(bin), place.box.width - kLeft - 1, place.height);
  }

  // A dashed line stands for several bins without a sample.
  drawFolds(pen, place, edge) {
    pen.strokeStyle = edge;
    pen.lineWidth = 1;
    pen.setLineDash([2, 6]);
    this.heat.bins.forEach((bin, i) => {
      if (!bin.isFolded) return;
      const y = Math.round(place.y(i) + place.height / 2) + .5;
      pen.beginPath();
      pen.moveTo(kLeft, y);
      pen.lineTo(place.box.width, y);
      pen.stroke();
    });
    pen.setLineDash([]);
  }

  // The chosen span is framed; the one beside it, too, with dashes.
  drawSpans(pen, place, css) {
    const end = this.heat.end_us.at(-1);
    if (end === undefined) return;
    const x = time => Math.min(place.box.width - 1,
      Math.max(kLeft, place.box.width - (end - time) / 1e6 * place.second));
    const height = place.box.height - kBottom - kTop;
    for (const [span, dashes] of [[state.span, []], [state.versus, [5, 4]], [this.marked, []]]) {
      if (!span) continue;
      pen.setLineDash(dashes);
      this.drawFrame(pen, css, x(span.from), kTop, Math.max(2, x(span.to) - x(span.from)), height);
    }
    pen.setLineDash([]);
  }

  // Hatched: seconds that were not read one by one; widely: not at all. Dotted: a reset or a new
  // definition came in between.
  drawUnsure(pen, place, x, width, state, edge) {
    const height = place.box.height - kBottom - kTop;
    pen.save();
    pen.beginPath();
    pen.rect(x, kTop, width, height);
    pen.clip();
    pen.strokeStyle = pen.fillStyle = edge;
    pen.lineWidth = 1;
    const step = state === 'n' ? 14 : 7;
    for (let y = kTop + 4; y < kTop + height + width; y += step) {
      if (state === 'u') {
        pen.fillRect(x + width / 2 - .75, y, 1.5, 1.5);
        continue;
      }
      pen.beginPath();
      pen.moveTo(x, y);
      pen.lineTo(x + width, y - width);
      pen.stroke();
    }
    pen.restore();
  }

  // Not as if nothing had been counted: of another ground, and named where there is room.
  drawUnseen(pen, place, css) {
    const width = this.unseen() * place.second;
    if (width < 1) return;
    const height = place.box.height - kBottom - kTop;
    pen.fillStyle = css.getPropertyValue('--panel');
    pen.fillRect(kLeft, kTop, width, height);
    this.drawUnsure(pen, place, kLeft, width, 'n', css.getPropertyValue('--edge'));
    const text = 'not observed';
    pen.font = `13px ${getComputedStyle(document.body).fontFamily}`;
    const length = pen.measureText(text).width;
    if (length + 16 > width) return;
    const middle = kTop + height / 2;
    pen.fillStyle = css.getPropertyValue('--panel');
    pen.fillRect(kLeft + width / 2 - length / 2 - 6, middle - 11, length + 12, 22);
    pen.fillStyle = css.getPropertyValue('--dim');
    pen.textAlign = 'center';
    pen.textBaseline = 'middle';
    pen.fillText(text, kLeft + width / 2, middle);
  }

  drawFrame(pen, css, x, y, width, height) {
    pen.strokeStyle = css.getPropertyValue('--text');
    pen.lineWidth = 1.5;
    pen.strokeRect(x, y, width, height);
  }

  drawAxes(pen, place) {
    const css = getComputedStyle(document.documentElement);
    pen.fillStyle = css.getPropertyValue('--dim');
    pen.strokeStyle = css.getPropertyValue('--edge');
    pen.lineWidth = 1;
    pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    this.drawBinEnds(pen, place);
    pen.textBaseline = 'alphabetic';
    pen.textAlign = 'center';
    if (this.heat.names) this.drawNames(pen, place);
    else if (this.heat.end_us.length) this.drawTimes(pen, place);
  }

  // A label stands at the upper end of its bin.
  drawBinEnds(pen, place) {
    pen.textAlign = 'right';
    pen.textBaseline = 'middle';
    let free = Infinity;
    this.heat.bins.forEach((bin, i) => {
      const y = Math.max(kTop + 6, place.y(i));
      if (free - y < 17 && i > 0) return;
      pen.fillText(bin.end, kLeft - 8, y);
      free = y;
    });
  }

  // A mark stands at its time, its label below it as far as there is room.
  mark(pen, place, x, text) {
    const bottom = place.box.height - kBottom;
    pen.beginPath();
    pen.moveTo(x, bottom);
    pen.lineTo(x, bottom + 4);
    pen.stroke();
    const half = pen.measureText(text).width / 2;
    pen.fillText(text, Math.min(x, place.box.width - half), place.box.height - 4);
  }

  // At round times of the viewer's time zone, also where nothing was read yet.
  drawTimes(pen, place) {
    const end = this.heat.end_us[this.heat.end_us.length - 1] / 1000;
    const x = d3.scaleTime().domain([new Date(end - this.window * 1000), new Date(end)])
      .range([kLeft, place.box.width]);
    const {ticks, text} = timeTicks(x, (place.box.width - kLeft) / 120);
    for (const tick of ticks) this.mark(pen, place, x(tick), text(tick));
  }

  drawNames(pen, place) {
    let free = Infinity;
    for (let i = this.heat.names.length - 1; i >= 0; --i) {
      const x = place.x(i) + place.width(i) / 2;
      if (free - x < 80) continue;
      this.mark(pen, place, x, this.labelOf(i));
      free = x;
    }
  }

  place(event) {
    if (!this.heat) return null;
    const place = this.layout();
    const at = event.clientX - place.box.left;
    const column = this.heat.end_us.findIndex(
      (_, i) => at >= place.x(i) && at < place.x(i) + place.width(i));
    const bin = Math.floor((place.box.height - kBottom - (event.clientY - place.box.top)) /
                           place.height);
    const isInside = column >= 0 && at >= kLeft && bin >= 0 && bin < this.heat.bins.length;
    return isInside ? {column, bin} : null;
  }

  isUnseen(event) {
    if (!this.heat) return false;
    const {box, second} = this.layout();
    const at = event.clientX - box.left - kLeft;
    return at >= 0 && at < this.unseen() * second && event.clientY < box.bottom - kBottom;
  }

  point(event) {
    const at = this.place(event);
    const isUnseen = !at && this.isUnseen(event);
    this.tip.hidden = !at && !isUnseen;
    this.onBin(at ? this.heat.bins[at.bin].text : null);
    if (this.tip.hidden) return;
    this.tip.textContent = isUnseen ? 'not observed: tally-web did not read then'
                                    : this.textOf(at.column, at.bin);
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    const isRight = x > box.width / 2;
    this.tip.style.left = isRight ? '' : `${x + 14}px`;
    this.tip.style.right = isRight ? `${box.width - x + 14}px` : '';
    this.tip.style.top = `${Math.max(0, event.clientY - box.top - 34)}px`;
  }

  textOf(column, bin) {
    const known = this.heat.states[column];
    const time = this.nameOf(column);
    if (known === 'u') return `${time}  not known: a reset or a new definition`;
    if (known === 'n') return `${time}  not observed`;
    const counts = this.countsOf(column);
    const sum = counts.reduce((a, b) => a + b, 0);
    const share = sum ? `  =  ${(100 * counts[bin] / sum).toFixed(1)} %` : '';
    const what = this.heat.counts_of || 'samples';
    return `${time}   ${this.heat.bins[bin].text}   ${counts[bin].toLocaleString('en')} ` +
      `${what}${share}`;
  }

  describe() {
    const last = this.heat.end_us.length - 1;
    const counts = last < 0 ? [] : this.countsOf(last);
    const sum = counts.reduce((a, b) => a + b, 0);
    const most = counts.indexOf(Math.max(...counts));
    const of = this.heat.names ? this.labelOf(Math.max(0, last)) : 'the newest interval';
    const text = last < 0 ? 'nothing was read yet' : `${of} has ${sum} ` +
      `${this.heat.counts_of || 'samples'}` +
      (sum ? `, most of them in ${this.heat.bins[most].text}` : '');
    const unseen = this.unseen() > 0 ? `; ${this.unseen()} s before were not observed` : '';
    this.canvas.setAttribute('aria-label', `Heat map of ${last + 1} ` +
      `${this.heat.names ? 'CPUs' : 'intervals'} and ${this.heat.bins.length} bins; ` +
      `${text}${unseen}`);
  }

  // Some of the colours, with the least count of each.
  legendTexts() {
    const {least, top} = this.heat;
    const colours = this.colours();
    // While counts are small, there are levels that none of them has.
    const levels = least.map((_, i) => i).filter(i => i + 1 === least.length
      ? least[i] <= top : least[i] !== least[i + 1]);
    const step = Math.max(1, (levels.length - 1) / 5);
    const shown = new Set();
    for (let at = 0; at <= levels.length - 1 + 1e-9; at += step) shown.add(levels[Math.round(at)]);
    return [...shown].map(level => ({colour: colours[level],
      text: `${least[level].toLocaleString('en')}${level === 0 ? '' : '+'}`}));
  }

  drawLegend() {
    this.legend.replaceChildren('counts:');
    for (const {colour, text} of this.legendTexts()) {
      const span = document.createElement('span');
      const swatch = document.createElement('i');
      swatch.style.background = colour;
      span.append(swatch, text);
      this.legend.append(span);
    }
  }

  // The newest columns, and the bins that they have hit.
  table() { return makeTable(this.rows(kTableColumns), 'Counts of the newest intervals, by bin'); }

  rows(columnsMax = Infinity) {
    const count = this.heat.end_us.length;
    const columns = [];
    for (let i = Math.max(0, count - columnsMax); i < count; ++i) columns.push(i);
    const isKnown = i => !'un'.includes(this.heat.states[i]);
    const rows = this.heat.bins.map((bin, at) =>
      [bin.text, ...columns.map(i => isKnown(i) ? this.countsOf(i)[at] : '?')]);
    const hit = rows.filter(row => row.slice(1).some(each => each !== 0)).reverse();
    return [['Bin', ...columns.map(i => this.nameOf(i))], ...hit];
  }
}
