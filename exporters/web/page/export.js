// Saves what is shown as CSV, TSV, JSON, PNG or SVG.
import {isoTime} from './charts.js';
import {pngOf, printable, shapesOfLine, shapesOfMap, svgText} from './picture.js';
import {setText, shownName} from './rows.js';
import {byId, state} from './state.js';
import {heat, line, shownView} from './statistic.js';

// A text that a spreadsheet would take for a formula has an apostrophe before it; a number has not.
const isNumber = value => typeof value === 'number' || /^-?\d+(\.\d+)?$/.test(value);
function cellText(value) {
  if (isNumber(value)) return String(value);
  const text = printable(value ?? '');
  return /^[\s=+\-@|%]/.test(text) ? `'${text}` : text;
}

export const csvCell = value => isNumber(value) ? cellText(value)
  : `"${cellText(value).replaceAll('"', '""')}"`;
const csvOf = rows => rows.map(row => row.map(csvCell).join(',') + '\r\n').join('');
// Printable text has no tab and no end of a line, so TSV needs no quotes.
const tsvOf = rows => rows.map(row => row.map(cellText).join('\t') + '\n').join('');

// Returns a row for each interval that the map or the line has: the count of each bin, or the
// values.
function rowsOverTime() {
  if (shownView()?.total.percentiles && heat.heat) {
    const {bins, end_us: ends, seconds, states} = heat.whole;
    return [['end', 'seconds', ...bins.map(bin => bin.text)],
            ...ends.map((end, i) => [isoTime(end), seconds[i],
              ...'un'.includes(states[i]) ? bins.map(() => '') : heat.countsOf(i, heat.whole)])];
  }
  const {series} = line;
  if (!series) return null;
  const [name, low, high] = series.names;
  const columns = [[name || 'value', series.value], [low, series.min], [high, series.max],
                   ...(series.stacks ?? []).map(each => [each.name, each.values])]
    .filter(([each], i) => i === 0 || (each && each !== name));
  return [['end', ...columns.map(([each]) => each)],
          ...series.end_us.map((end, i) =>
            [isoTime(end), ...columns.map(each => each[1][i] ?? '')])];
}

function rowsOfBars() {
  const bars = shownView()?.total.bars ?? [];
  const before = new Map((state.past?.before?.statistics[0]?.view.total.bars ?? [])
    .map(bar => [bar.label, bar.count]));
  return [['value', 'count', ...before.size ? ['before'] : []],
          ...bars.map(bar => [bar.label, bar.count,
                              ...before.size ? [before.get(bar.label) ?? 0] : []])];
}

// Returns the list of statistics as it is in sight, each with its numbers.
function rowsOfList() {
  return [['interface', 'statistic', 'type', 'samples per second', 'level', 'values'],
          ...state.rows.map(row => [state.interfaceName, row.name, row.type_text,
                                    row.rate_number ?? '', row.level ?? '', row.text])];
}

const times = () => state.span ? `${isoTime(state.span.from)} to ${isoTime(state.span.to)}`
  : `up to ${isoTime(state.data?.realtime_us ?? state.overview.realtime_us)}`;

function everything() {
  const {interfaceName, statistic, label, span, versus, overview, past, data} = state;
  return {
    tallyfs: overview.tallyfs, host: overview.view.host, mount: overview.view.mount,
    made: new Date().toISOString(), address: location.href, interface: interfaceName, statistic,
    sum_by: label || undefined,
    times: times(), span, versus, now: span ? past?.now : data, before: past?.before ?? undefined,
    over_time: (shownView()?.total.percentiles ? heat.whole : line.series) ?? undefined,
  };
}

// JSON is written in ASCII, since other letters could turn the direction of a text around.
const asciiJson = value => JSON.stringify(value, null, 1).replace(/[^\x00-\x7e]/g, each =>
  `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`) + '\n';

function shapes() {
  const {overview, interfaceName, statistic, label} = state;
  const isMap = !!shownView()?.total.percentiles && heat.heat;
  if (!isMap && !line.series) throw new Error('There is no map or line to draw.');
  const title = `${interfaceName} / ${shownName(statistic)}${label ? `, summed by ${label}` : ''}`;
  const texts = {title, note: `tallyfs ${overview.tallyfs}`,
    about: `${overview.view.host}:${overview.view.mount}   ${times()}   ${shownView().type_text}`};
  return isMap ? shapesOfMap(heat, texts) : shapesOfLine(line, texts);
}

async function table(rows, name) {
  if (!rows?.length) return [];
  return byId('table-format').value === 'csv' ? [csvOf(rows), `${name}.csv`, 'text/csv']
    : [tsvOf(rows), `${name}.tsv`, 'text/tab-separated-values'];
}

const kMakers = {
  'table-times': () => table(rowsOverTime(), 'times'),
  'table-values': () => table(rowsOfBars(), 'values'),
  'table-list': () => table(rowsOfList(), 'list'),
  json: async () => [asciiJson(everything()), 'json', 'application/json'],
  svg: async () => [svgText(shapes()), 'svg', 'image/svg+xml'],
  png: async () => [await pngOf(shapes()), 'png', 'image/png'],
};

function save(content, ending, type) {
  const name = [state.overview.view.host, state.interfaceName, state.statistic, ending].join('.')
    .replace(/[^A-Za-z0-9._-]+/g, '_').slice(-120);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], {type}));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  setText(byId('span-done'), `Saved as ${name}.`);
}

for (const button of byId('export').querySelectorAll('button')) {
  button.addEventListener('click', async () => {
    try {
      const [content, ending, type] = await kMakers[button.value]();
      if (!content?.length && !(content instanceof Blob)) throw new Error('Nothing to save yet.');
      save(content, ending, type);
    } catch (error) {
      setText(byId('span-fault'), error.message);
    }
  });
}
