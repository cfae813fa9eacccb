// A map or a line as a picture to take along, with title, host, times and legend: shapes, and the
// same as SVG or on a canvas. Names are text, and what is not printable in them is escaped.
/* global d3 */
import {timeTicks} from './charts.js';
import {valueAxis} from './line.js';
import {state} from './state.js';

const kWidth = 960;
const kHeight = 520;
const kArea = {left: 84, right: kWidth - 20, top: 66, bottom: kHeight - 66};

// Control bytes, and marks that turn the direction of a text, as \u001b.
export const printable = text => String(text).replace(
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
  each => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);

const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const rect = (x, y, width, height, fill) => ({kind: 'rect', x, y, width, height, fill});
const path = (d, stroke, fill = 'none', width = 1) =>
  ({kind: 'path', d: d ?? '', stroke, fill, width});
const label = (x, y, text, anchor = 'start', size = 12, fill = css('--dim')) =>
  ({kind: 'text', x, y, text: printable(text), anchor, size, fill});

function frame({title, about, note}) {
  return [rect(0, 0, kWidth, kHeight, css('--ground')),
          label(16, 26, title, 'start', 18, css('--text')), label(16, 46, about),
          label(16, kHeight - 12, note)];
}

function timeAxis(x) {
  const {ticks, text} = timeTicks(x, 8);
  return ticks.flatMap(tick => [
    path(`M${x(tick)},${kArea.bottom}v5`, css('--dim')),
    label(x(tick), kArea.bottom + 18, text(tick), 'middle')]);
}

const rounded = number => Math.round(number * 100) / 100;

// `map`: a HeatMap with columns that are times.
export function shapesOfMap(map, texts) {
  const {heat} = map;
  const shapes = frame(texts);
  const end = heat.end_us.at(-1);
  const x = d3.scaleTime().domain([new Date(end / 1000 - map.window * 1000), new Date(end / 1000)])
    .range([kArea.left, kArea.right]);
  const height = (kArea.bottom - kArea.top) / Math.max(1, heat.bins.length);
  const y = bin => kArea.bottom - (bin + 1) * height;
  shapes.push(rect(kArea.left, kArea.top, kArea.right - kArea.left, kArea.bottom - kArea.top,
                   css('--edge')));
  heat.end_us.forEach((at, column) => {
    const left = Math.max(kArea.left, x(new Date((at - heat.seconds[column] * 1e6) / 1000)));
    const width = x(new Date(at / 1000)) - left;
    if ('un'.includes(heat.states[column]) || width <= 0) return;
    shapes.push(rect(rounded(left), kArea.top, rounded(width + .3), kArea.bottom - kArea.top,
                     css('--panel')));
    heat.counts[column].forEach((count, bin) => {
      const level = map.level(count, column);
      if (level > 0) shapes.push(rect(rounded(left), rounded(y(bin)), rounded(width + .3),
                                      rounded(Math.max(1, height - .7)), map.colours()[level - 1]));
    });
  });
  let free = Infinity;
  heat.bins.forEach((bin, i) => {
    if (free - y(i) < 16) return;
    free = y(i);
    shapes.push(label(kArea.left - 8, y(i) + 4, bin.end, 'end'));
  });
  return [...shapes, ...timeAxis(x), ...legendOf(map)];
}

function legendOf(map) {
  const y = kHeight - 34;
  const shapes = [label(16, y, 'counts:')];
  let x = 74;
  for (const {colour, text} of map.legendTexts()) {
    shapes.push(rect(x, y - 10, 12, 12, colour), label(x + 17, y, text));
    x += 30 + 8 * text.length;
  }
  shapes.push(rect(x + 10, y - 10, 12, 12, css('--edge')), label(x + 27, y, 'not observed'));
  return shapes;
}

// `line`: a LineChart.
export function shapesOfLine(line, texts) {
  const {series} = line;
  const shapes = frame(texts);
  const times = series.end_us.map(end => new Date(end / 1000));
  const end = times.at(-1);
  const begin = line.window ? new Date(end - line.window * 1000) : times[0];
  const x = d3.scaleTime().domain([begin, end]).range([kArea.left, kArea.right]);
  const {isLog, ticks, has, end: y} = valueAxis(series, state.axis, [kArea.bottom, kArea.top]);
  for (const tick of ticks) {
    shapes.push(path(`M${kArea.left},${rounded(y(tick.value))}H${kArea.right}`, css('--edge')),
                label(kArea.left - 8, y(tick.value) + 4, tick.text, 'end'));
  }
  const at = (_, i) => rounded(x(times[i]));
  const between = (low, high) => d3.area().defined((_, i) => low[i] !== null && has(high[i]))
    .x(at).y0((_, i) => rounded(y(low[i]))).y1((_, i) => rounded(y(high[i])))(times);
  const curve = values => d3.line().defined((_, i) => has(values[i])).x(at)
    .y((_, i) => rounded(y(values[i])))(times);
  shapes.push(path(between(series.min, series.max), 'none', css('--edge')));
  let below = times.map(() => 0);
  for (const stack of isLog ? [] : series.stacks ?? []) {
    const above = below.map((each, i) => stack.values[i] === null ? null : each + stack.values[i]);
    shapes.push(path(between(below, above), css('--ground'), css('--bar')));
    below = above.map((each, i) => each ?? below[i]);
  }
  shapes.push(path(curve(series.value), css('--accent'), 'none', 2));
  return [...shapes, ...timeAxis(x), label(16, kHeight - 34, line.legend())];
}

const escaped = text => String(text).replace(/[&<>"']/g, each => `&#${each.charCodeAt(0)};`);

function svgOf(shape) {
  const of = names => names.map(name => ` ${name}="${escaped(shape[name])}"`).join('');
  if (shape.kind === 'rect') return `<rect${of(['x', 'y', 'width', 'height', 'fill'])}/>`;
  if (shape.kind === 'path') {
    return `<path${of(['d', 'stroke', 'fill'])} stroke-width="${shape.width}"/>`;
  }
  return `<text${of(['x', 'y', 'fill'])} font-size="${shape.size}"` +
    ` text-anchor="${shape.anchor}">${escaped(shape.text)}</text>`;
}

export const svgText = shapes => `<svg xmlns="http://www.w3.org/2000/svg" width="${kWidth}"` +
  ` height="${kHeight}" viewBox="0 0 ${kWidth} ${kHeight}" font-family="sans-serif">\n` +
  `${shapes.map(svgOf).join('\n')}\n</svg>\n`;

function draw(pen, shape) {
  pen.fillStyle = shape.fill;
  if (shape.kind === 'rect') return pen.fillRect(shape.x, shape.y, shape.width, shape.height);
  if (shape.kind === 'path') {
    const line = new Path2D(shape.d);
    if (shape.fill !== 'none') pen.fill(line);
    if (shape.stroke === 'none') return;
    pen.strokeStyle = shape.stroke;
    pen.lineWidth = shape.width;
    return pen.stroke(line);
  }
  pen.font = `${shape.size}px sans-serif`;
  pen.textAlign = shape.anchor === 'middle' ? 'center' : shape.anchor;
  pen.fillText(shape.text, shape.x, shape.y);
}

// As a Blob with twice as many pixels each way.
export function pngOf(shapes) {
  const canvas = document.createElement('canvas');
  canvas.width = 2 * kWidth;
  canvas.height = 2 * kHeight;
  const pen = canvas.getContext('2d');
  pen.scale(2, 2);
  for (const shape of shapes) draw(pen, shape);
  return new Promise(done => canvas.toBlob(done, 'image/png'));
}
