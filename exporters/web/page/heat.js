// The heat map: time from left to right, the statistic's bins from bottom to top, counts as
// colours. Bins, counts, the least count of each colour and the colours come from the server.
import {clock, makeTable} from './charts.js';

const kLeft = 74;
const kBottom = 22;
const kTop = 6;
const kTableColumns = 12;

export class HeatMap {
  constructor(parts) {
    Object.assign(this, parts);  // canvas, tip, legend, onColumn
    this.chosen = null;  // the end of a column, in microseconds
    this.canvas.addEventListener('pointermove', event => this.point(event));
    this.canvas.addEventListener('pointerleave', () => { this.tip.hidden = true; });
    this.canvas.addEventListener('click', event => {
      const place = this.place(event);
      this.choose(place ? this.heat.end_us[place.column] : null);
    });
    this.canvas.addEventListener('keydown', event => this.key(event));
  }

  forget() {
    this.heat = null;
    this.chosen = null;
    this.tip.hidden = true;
  }

  show(heat, seconds) {
    this.heat = heat;
    this.columns = Math.max(1, Math.ceil(seconds / heat.seconds_each));
    if (this.chosen !== null && !heat.end_us.includes(this.chosen)) this.chosen = null;
    this.repaint();
  }

  repaint() {
    if (!this.heat) return;
    this.draw();
    this.drawLegend();
  }

  choose(end) {
    this.chosen = end === this.chosen ? null : end;
    this.draw();
    this.onColumn();
  }

  key(event) {
    const ends = this.heat?.end_us ?? [];
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!step || !ends.length) return;
    event.preventDefault();
    event.stopPropagation();
    const at = this.chosen === null ? ends.length : ends.indexOf(this.chosen);
    this.chosen = ends[Math.min(ends.length - 1, Math.max(0, at + step))];
    this.draw();
    this.onColumn();
  }

  // The chosen column as bars; null if none is.
  bars() {
    const at = this.chosen === null ? -1 : this.heat.end_us.indexOf(this.chosen);
    if (at < 0) return null;
    const counts = this.countsOf(at);
    const sum = counts.reduce((a, b) => a + b, 0);
    const most = Math.max(...counts, 1);
    return counts.map((count, i) => ({
      label: this.heat.bins[i].text, count, text: count.toLocaleString('en'),
      share: sum ? (100 * count / sum).toFixed(1) : '-', part: count / most,
    }));
  }

  countsOf(column) {
    const counts = this.heat.counts[column];
    return counts.length ? counts : this.heat.bins.map(() => 0);
  }

  colours() {
    return this.heat[document.documentElement.dataset.theme === 'dark' ? 'dark' : 'light'];
  }

  // 0: nothing was counted.
  level(count) {
    if (count < this.heat.least[0]) return 0;
    let level = 1;
    while (level < this.heat.least.length && count >= this.heat.least[level]) ++level;
    return level;
  }

  layout() {
    const box = this.canvas.getBoundingClientRect();
    const width = (box.width - kLeft) / this.columns;
    const height = (box.height - kBottom - kTop) / Math.max(1, this.heat.bins.length);
    // The newest column is at the right.
    const first = this.columns - this.heat.end_us.length;
    return {box, width, height, x: i => kLeft + (first + i) * width,
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
    this.heat.end_us.forEach((end, column) => {
      const x = place.x(column);
      const state = this.heat.states[column];
      if (state !== 'c') this.drawUnknown(pen, place, x, state, edge);
      this.heat.counts[column].forEach((count, bin) => {
        const level = this.level(count);
        if (level === 0) return;
        pen.fillStyle = colours[level - 1];
        // A gap between bins shows that they are several; columns touch.
        pen.fillRect(x, place.y(bin) + .5, place.width + .3, Math.max(1, place.height - 1));
      });
      if (end === this.chosen) this.drawFrame(pen, place, x, css);
    });
  }

  // Hatched: nothing was read. Dotted: a reset or a new definition came in between.
  drawUnknown(pen, place, x, state, edge) {
    pen.strokeStyle = pen.fillStyle = edge;
    pen.lineWidth = 1;
    const bottom = place.box.height - kBottom;
    for (let y = kTop + 4; y < bottom; y += 7) {
      if (state === 'u') {
        pen.fillRect(x + place.width / 2 - .75, y, 1.5, 1.5);
        continue;
      }
      pen.beginPath();
      pen.moveTo(x, Math.min(bottom, y + place.width));
      pen.lineTo(x + place.width, y);
      pen.stroke();
    }
  }

  drawFrame(pen, place, x, css) {
    pen.strokeStyle = css.getPropertyValue('--text');
    pen.lineWidth = 1.5;
    pen.strokeRect(x, kTop, place.width, place.box.height - kBottom - kTop);
  }

  drawAxes(pen, place) {
    const css = getComputedStyle(document.documentElement);
    pen.fillStyle = css.getPropertyValue('--dim');
    pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    pen.textAlign = 'right';
    pen.textBaseline = 'middle';
    let free = Infinity;
    this.heat.bins.forEach((bin, i) => {
      // A label stands at the upper end of its bin.
      const y = Math.max(kTop + 6, place.y(i));
      if (free - y < 17 && i > 0) return;
      pen.fillText(bin.end, kLeft - 8, y);
      free = y;
    });
    pen.textBaseline = 'alphabetic';
    pen.textAlign = 'center';
    const step = Math.ceil(80 / place.width);
    const count = this.heat.end_us.length;
    for (let i = count - 1; i >= 0; i -= step) {
      const x = place.x(i) + place.width / 2;
      const half = 26;
      if (x - half < kLeft) break;
      pen.fillText(clock(this.heat.end_us[i]), Math.min(x, place.box.width - half),
                   place.box.height - 5);
    }
  }

  place(event) {
    if (!this.heat) return null;
    const place = this.layout();
    const column = Math.floor((event.clientX - place.box.left - place.x(0)) / place.width);
    const bin = Math.floor((place.box.height - kBottom - (event.clientY - place.box.top)) /
                           place.height);
    const isInside = column >= 0 && column < this.heat.end_us.length && bin >= 0 &&
      bin < this.heat.bins.length;
    return isInside ? {column, bin} : null;
  }

  point(event) {
    const at = this.place(event);
    this.tip.hidden = !at;
    if (!at) return;
    this.tip.textContent = this.textOf(at.column, at.bin);
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    const isRight = x > box.width / 2;
    this.tip.style.left = isRight ? '' : `${x + 14}px`;
    this.tip.style.right = isRight ? `${box.width - x + 14}px` : '';
    this.tip.style.top = `${Math.max(0, event.clientY - box.top - 34)}px`;
  }

  textOf(column, bin) {
    const state = this.heat.states[column];
    const time = clock(this.heat.end_us[column]);
    if (state === 'm') return `${time}  was not read`;
    if (state === 'u') return `${time}  not known: a reset or a new definition`;
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
    const text = last < 0 ? 'nothing was read yet' : `the newest interval has ${sum} ` +
      `${this.heat.counts_of || 'samples'}` +
      (sum ? `, most of them in ${this.heat.bins[most].text}` : '');
    this.canvas.setAttribute('aria-label', `Heat map of ${last + 1} intervals and ` +
      `${this.heat.bins.length} bins; ${text}`);
  }

  drawLegend() {
    const least = this.heat.least;
    const colours = this.colours();
    this.legend.replaceChildren('counts:');
    // While counts are small, there are levels that none of them has.
    const levels = least.map((_, i) => i).filter(i => i + 1 === least.length
      ? least[i] <= this.heat.top : least[i] !== least[i + 1]);
    const step = Math.max(1, (levels.length - 1) / 5);
    const shown = new Set();
    for (let at = 0; at <= levels.length - 1 + 1e-9; at += step) shown.add(levels[Math.round(at)]);
    for (const level of shown) {
      const span = document.createElement('span');
      const swatch = document.createElement('i');
      swatch.style.background = colours[level];
      span.append(swatch, `${least[level].toLocaleString('en')}${level === 0 ? '' : '+'}`);
      this.legend.append(span);
    }
  }

  // The newest columns, and the bins that they have hit.
  table() {
    const count = this.heat.end_us.length;
    const columns = [];
    for (let i = Math.max(0, count - kTableColumns); i < count; ++i) columns.push(i);
    const rows = this.heat.bins.map((bin, at) =>
      [bin.text, ...columns.map(i => this.heat.states[i] === 'c' ? this.countsOf(i)[at] : '?')]);
    const hit = rows.filter(row => row.slice(1).some(each => each !== 0)).reverse();
    return makeTable([['', ...columns.map(i => clock(this.heat.end_us[i]))], ...hit]);
  }
}
