// The left side: interfaces, statistics of one of them, latency histograms, histogram triggers.
import {drawSparkAround, factorText, makeSpark, markSpark, rowHeading} from './charts.js';
import {makeOneStop, RowWindow, setText, shownName} from './rows.js';
import {selectSpan, selectTimes} from './span.js';
import {byId, choose, choosePath, eventPath, kLatencies, leaveFragment, onChanged, refresh, state}
  from './state.js';

function makeRow(button, cells) {
  const tr = document.createElement('tr');
  tr.append(rowHeading(button));
  for (const name of cells) tr.insertCell().className = name;
  return tr;
}

function makeButton(onClick) {
  const button = document.createElement('button');
  button.type = 'button';
  button.addEventListener('click', () => onClick(button));
  return button;
}

function markButton(button, isChosen) {
  if (isChosen) button.setAttribute('aria-current', 'true');
  else button.removeAttribute('aria-current');
}

function mark(tr, isChosen) {
  tr.classList.toggle('chosen', isChosen);
  markButton(tr.cells[0].firstChild, isChosen);
}

// A time of a last minute.
function minuteAt(spark, clientX) {
  const {left, width} = spark.getBoundingClientRect();
  const part = Math.min(1, Math.max(0, (clientX - left) / width));
  return Math.round(state.overview.realtime_us - (1 - part) * 60e6);
}

export const interfaces = new RowWindow(byId('interface-box'), byId('interface-table'), () => {
  const tr = makeRow(makeButton(button => choose(button.textContent, null)),
                     ['number', 'number', 'minute']);
  const spark = makeSpark();
  tr.cells[3].append(spark);
  selectTimes(spark, at => minuteAt(spark, at),
              span => spark.classList.toggle('selecting', !!span),
              span => selectSpan(span, false, tr.cells[0].firstChild.textContent));
  return tr;
}, (tr, row) => {
  const button = tr.cells[0].firstChild;
  setText(button, row.interface);
  button.title = `${row.interface}: ${row.on} of ${row.statistics} statistics on`;
  setText(tr.cells[1], row.view.rate_text);
  tr.cells[1].classList.toggle('off', row.on === 0);
  const {p99, p99_known: isKnown} = row.view;
  setText(tr.cells[2], p99?.text ?? (isKnown || row.on === 0 ? '' : '?'));
  tr.cells[2].title = p99 ? `${shownName(p99.statistic)}: p99 of the last minute ${p99.bounds}`
    : isKnown ? '' : 'Not computed. A click on the interface computes it.';
  drawSparkAround(tr.cells[3].firstChild, row.view.minute);
  markSpark(tr.cells[3].firstChild, state.span, state.overview.realtime_us);
  mark(tr, row.interface === state.interfaceName);
});

export const statistics = new RowWindow(byId('statistic-box'), byId('statistic-table'), () =>
  makeRow(makeButton(button => choose(state.interfaceName, button.dataset.name, state.label)),
          ['number', 'now']),
(tr, row) => {
  const button = tr.cells[0].firstChild;
  button.dataset.name = row.name;
  setText(button, shownName(row.name));
  const parts = row.parts > 1 ? `, of ${row.parts} statistics` : '';
  button.title = `${shownName(row.name)}: ${row.type_text}${parts}`;
  const was = beside?.get(row.name);
  const times = (now, then) => was ? factorText(now, then) : '';
  setText(tr.cells[1], `${row.rate_text} ${times(row.rate_number, was?.rate_number)}`.trim());
  tr.cells[1].title = was ? `was ${was.rate_text}` : '';
  tr.cells[1].classList.toggle('off', row.rate_text === 'off');
  // A total grows with the time that it is of: its rate says more.
  const level = row.type_text.startsWith('value') ? '' : times(row.level, was?.level);
  setText(tr.cells[2], `${row.brief} ${level}`.trim());
  tr.cells[2].title = was ? `${row.text}, was ${was.text}` : row.text;
  mark(tr, row.name === state.statistic);
});
for (const [id, rows] of [['re-sort', interfaces], ['re-order', statistics]]) {
  byId(id).addEventListener('click', () => {
    rows.sortAgain();
    refresh();
  });
}
// Where the order would change by itself.
export function showHeld() {
  byId('re-sort').hidden = !interfaces.isHeld() || state.sort === 'name';
  byId('re-order').hidden = !statistics.isHeld() || ['defined', 'name'].includes(state.order);
}

interfaces.onScroll = statistics.onScroll = () => refresh();

// Long names have smaller letters. Where one does not fit into a line then, as with tags, all rows
// become as high, and stay so for the interface; what stands beside them has two lines.
const kShortLength = 18;
const kLineLength = 28;
const kLinesMax = 4;
const kLeftOutNamed = 3;
let linesOf = null;
let lines = 1;
// `before`: rows of the span that is compared, if one is.
let beside = null;
export function showStatistics(view, before) {
  beside = before && new Map(before.map(row => [row.name, row]));
  setText(byId('order-value'), state.span ? 'In this time' : 'Since reset');
  if (linesOf !== state.interfaceName) lines = 1;
  linesOf = state.interfaceName;
  const longest = Math.max(0, ...view.rows.map(row => shownName(row.name).length));
  lines = Math.min(kLinesMax, Math.max(lines, beside ? 2 : 1, Math.ceil(longest / kLineLength)));
  byId('statistic-table').dataset.lines = lines;
  byId('statistic-table').classList.toggle('long', longest > kShortLength);
  state.rows = view.rows;
  statistics.show(view.rows, view.first, view.matching);
  showMatching('statistic-note', view.matching, view.of, state.label ? 'sum' : 'statistic',
               state.statisticFilter);
  setText(byId('in-no-sum'), leftOutText(view, 'In no sum: '));
}

// Statistics that do not add up with others, the first with their reasons; empty without one.
export function leftOutText({left_out: first = [], left_out_all: all = 0}, before) {
  if (!all) return '';
  const named = first.slice(0, kLeftOutNamed);
  const more = all > named.length ? `, and ${(all - named.length).toLocaleString('en')} more` : '';
  const texts = named.map(each => `${shownName(each.name)} (${each.reason})`);
  return `${before}${texts.join(', ')}${more}.`;
}

// By which labels statistics can be added up.
export function showLabels({labels}) {
  const select = byId('add-up');
  const known = ['', ...labels];
  if ([...select.options].map(each => each.value).join() !== known.join()) {
    select.replaceChildren(...known.map(each => new Option(each || 'no label', each)));
  }
  select.value = state.label;
  byId('add-up-box').hidden = !labels.length;
}
byId('add-up').addEventListener('change', event => {
  byId('statistic-box').scrollTop = 0;
  statistics.sortAgain();
  choose(state.interfaceName, null, event.target.value);
});

// Of the time that is shown nothing is known; what was listed before is of another time.
export function showNoRows() {
  showStatistics({rows: [], first: 0, matching: 0, of: 0});
  setText(byId('statistic-note'), 'No statistic of this interface is known in this time.');
}

// What a filter has left.
export function showMatching(id, matching, all, what, filter) {
  const of = `of ${all.toLocaleString('en')} ${what}s`;
  const text = !filter || all === 0 ? ''
    : matching > 0 ? `${matching.toLocaleString('en')} ${of}`
    : `None ${of} has '${filter}' in its name. Esc clears the filter.`;
  setText(byId(id), text);
}

function markSort(prefix, names, chosen) {
  for (const each of names) {
    byId(`${prefix}-${each}`).parentElement.setAttribute('aria-sort',
      each !== chosen ? 'none' : each === 'name' ? 'ascending' : 'descending');
  }
}

function showSorts() {
  markSort('by', ['rate', 'name', 'p99'], state.sort);
  markSort('order', ['name', 'rate', 'value'], state.order);
  byId('filter').value = state.filter;
  byId('only-counted').checked = state.onlyCounted;
}
onChanged(showSorts);

export function sortBy(order) {
  state.sort = order;
  byId('interface-box').scrollTop = 0;
  interfaces.sortAgain();
  sorted();
}

// A second time: as they were defined.
export function orderBy(order) {
  state.order = order === state.order ? 'defined' : order;
  byId('statistic-box').scrollTop = 0;
  statistics.sortAgain();
  sorted();
}

function sorted() {
  leaveFragment(true);
  showSorts();
  refresh();
}

for (const each of ['found', 'latency', 'hist']) makeOneStop(byId(`${each}-list`));

// A list of buttons: a text, and the path that it leads to.
function showPaths(list, paths, textOf, chosen) {
  while (list.children.length > paths.length) list.lastChild.remove();
  while (list.children.length < paths.length) {
    const item = document.createElement('li');
    item.append(makeButton(button => choosePath(button.dataset.path)));
    list.append(item);
  }
  paths.forEach((path, i) => {
    const button = list.children[i].firstChild;
    setText(button, textOf(path));
    button.dataset.path = path;
    button.title = shownName(path);
    markButton(button, path === chosen);
  });
}

export function showLatencies(names) {
  byId('latencies').hidden = byId('hists').hidden = !names.length;
  showPaths(byId('latency-list'), names.map(name => `${kLatencies}${name}/${name}`),
            path => path.split('/').pop(), `${state.interfaceName}/${state.statistic}`);
}

// Statistics that the filter of interfaces finds; all of them are known a while after.
export function showFound(view) {
  const {found, found_all: all, searched, interfaces: of} = view;
  const number = count => count.toLocaleString('en');
  const rest = searched < of ? ` in ${number(searched)} of ${number(of)} interfaces so far` : '';
  byId('found').hidden = !state.filter || !found || (all === 0 && !rest);
  if (byId('found').hidden) return;
  setText(byId('found-note'), `Statistics that match the filter: ${number(all)}${rest}` +
    (all > found.length ? `; the first ${found.length}:` : ''));
  showPaths(byId('found-list'), found, shownName, `${state.interfaceName}/${state.statistic}`);
}

export function showHists(answer) {
  showPaths(byId('hist-list'), answer.hists,
            path => path.replace(/^tracing\/(instances\/)?/, '').replace(/(^|\/)events\//, '$1'),
            eventPath());
  setText(byId('hist-note'), answer.left_out ? 'There are more events than are asked.'
    : answer.hists.length ? ''
    : "No event has one: write 'hist:keys=FIELD' into its trigger file.");
}
