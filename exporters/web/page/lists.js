// The left side: interfaces, statistics of one of them, latency histograms, histogram triggers.
import {drawSpark, makeSpark} from './charts.js';
import {RowWindow, setText} from './rows.js';
import {byId, choose, choosePath, eventPath, kLatencies, refresh, state} from './state.js';

function makeRow(button, cells) {
  const tr = document.createElement('tr');
  tr.insertCell().append(button);
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

export const interfaces = new RowWindow(byId('interface-box'), byId('interface-table'), () => {
  const tr = makeRow(makeButton(button => choose(button.textContent, null)),
                     ['number', 'minute']);
  tr.cells[2].append(makeSpark());
  return tr;
}, (tr, row) => {
  const button = tr.cells[0].firstChild;
  setText(button, row.interface);
  button.title = `${row.interface}: ${row.on} of ${row.statistics} statistics on`;
  setText(tr.cells[1], row.view.rate_text);
  tr.cells[1].classList.toggle('off', row.on === 0);
  drawSpark(tr.cells[2].firstChild, row.view.minute);
  mark(tr, row.interface === state.interfaceName);
});

export const statistics = new RowWindow(byId('statistic-box'), byId('statistic-table'), () =>
  makeRow(makeButton(button => choose(state.interfaceName, button.textContent)),
          ['number', 'now']),
(tr, row) => {
  const button = tr.cells[0].firstChild;
  setText(button, row.name);
  button.title = `${row.name}: ${row.type_text}`;
  setText(tr.cells[1], row.rate_text);
  tr.cells[1].classList.toggle('off', row.rate_text === 'off');
  setText(tr.cells[2], row.text);
  tr.cells[2].title = row.text;
  mark(tr, row.name === state.statistic);
});
interfaces.onScroll = statistics.onScroll = () => refresh();

export function sortBy(order) {
  state.sort = order;
  byId('by-rate').parentElement.setAttribute('aria-sort',
                                             order === 'rate' ? 'descending' : 'none');
  byId('by-name').parentElement.setAttribute('aria-sort', order === 'name' ? 'ascending' : 'none');
  byId('interface-box').scrollTop = 0;
  refresh();
}

// A list of buttons: a text, and the path that it leads to.
function showPaths(list, paths, textOf, chosen) {
  while (list.children.length > paths.length) list.lastChild.remove();
  while (list.children.length < paths.length) {
    const item = document.createElement('li');
    item.append(makeButton(button => choosePath(button.title)));
    list.append(item);
  }
  paths.forEach((path, i) => {
    const button = list.children[i].firstChild;
    setText(button, textOf(path));
    button.title = path;
    markButton(button, path === chosen);
  });
}

export function showLatencies(names) {
  byId('latencies').hidden = byId('hists').hidden = !names.length;
  showPaths(byId('latency-list'), names.map(name => `${kLatencies}${name}/${name}`),
            path => path.split('/').pop(), `${state.interfaceName}/${state.statistic}`);
}

export function showHists(answer) {
  showPaths(byId('hist-list'), answer.hists,
            path => path.replace(/^tracing\/(instances\/)?/, '').replace(/(^|\/)events\//, '$1'),
            eventPath());
  setText(byId('hist-note'), answer.left_out ? 'There are more events than are asked.'
    : answer.hists.length ? ''
    : "No event has one: write 'hist:keys=FIELD' into its trigger file.");
}

// The neighbour of what is chosen, among the rows that are in view.
export function move(step) {
  const rows = state.overview?.interfaces ?? [];
  if (!rows.length) return;
  const at = rows.findIndex(row => row.interface === state.interfaceName);
  const to = at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step));
  choose(rows[to].interface, null);
  interfaces.rows[to]?.scrollIntoView({block: 'nearest'});
}
