// Without a statistic that is chosen: which ones changed most, the slowest, what is new or silent.
import {clock, drawSpark, isoTime, makeSpark, rowHeading} from './charts.js';
import {Hold, makeOneStop, setText, shownName} from './rows.js';
import {factText} from './span.js';
import {byId, choosePath, state} from './state.js';

const kBlocks = 120;  // of 5 s: a minute and the nine before it
const kLines = {rate: 'Samples', value: 'Values', level: 'Usual size of a sample'};

const number = count => count.toLocaleString('en');
const minutes = seconds => `${Math.round(seconds / 60)} min`;

function noteOf(changed) {
  const {state: kind, to_us: to, baseline_s: baseline, ranked, left_out: leftOut} = changed;
  if (kind === 'none') return `Nothing is ranked: ${changed.reason}.`;
  if (kind === 'reading') return 'Reading the past:';
  if (kind === 'ended') {
    return `Nothing is ranked: the store of the past ends at ${clock(to)}. Its recorder does ` +
      'not run or cannot write; systemctl status tally-record says why.';
  }
  if (kind === 'young') {
    return `Too little past: the store has ${minutes(baseline)} before the newest minute, and ` +
      '2 min are needed.';
  }
  const of = `the newest minute, compared with the ${minutes(baseline)} before, of ` +
    `${number(ranked)} statistics` +
    (leftOut ? `, ${number(leftOut)} more are not read` : '');
  return kind === 'unusual' ? `Unlike before: ${of}.` : `Nothing unusual: ${of}.`;
}

// What changes with each reading: it is not announced.
function timeOf({state: kind, part, to_us: to, rows}) {
  if (kind === 'reading') return `${Math.round(100 * part)} %`;
  if (kind === 'unusual') return `(until ${clock(to)})`;
  if (kind !== 'usual') return '';
  return `(until ${clock(to)})` + (rows.length ? ' The least usual:' : '');
}

function leads(button) {
  button.addEventListener('click', () => choosePath(button.dataset.path));
  return button;
}
leads(byId('worst-name'));

function pathButton() {
  const button = document.createElement('button');
  button.type = 'button';
  return leads(button);
}
function showPath(button, path, text = path) {
  button.dataset.path = path;
  setText(button, shownName(text));
  return button;
}

function makeRow(body) {
  const tr = body.insertRow();
  tr.append(rowHeading(pathButton()));
  for (const each of ['why', 'since', 'line', 'number']) tr.insertCell().className = each;
  tr.cells[3].append(makeSpark(kBlocks));
  return tr;
}

// The name of a row of one statistic, or of several of an interface; it leads to the first.
function namePath(button, {interface: name, statistics}) {
  const path = `${name}/${statistics[0]}`;
  const isOne = statistics.length === 1;
  showPath(button, path, isOne ? path : name);
  button.title = isOne ? shownName(path) : statistics.map(shownName).join(', ');
}

function fillRow(tr, row) {
  namePath(tr.cells[0].firstChild, row);
  setText(tr.cells[1], row.why);
  setText(tr.cells[2], `since ${clock(row.since_us)}`);
  tr.cells[2].title = isoTime(row.since_us);
  drawSpark(tr.cells[3].firstChild, row.line, kBlocks);
  tr.cells[3].title = `${kLines[row.channel] ?? kLines.level}, 10 min`;
  setText(tr.cells[4], row.score.toFixed(1));
  tr.classList.toggle('pale', !row.unusual);
}

// What the store lacks of the time that is compared.
function showLacks({facts = [], facts_more: more = 0}) {
  const rest = more ? [`${number(more)} more before`] : [];
  byId('changed-lacks').hidden = !facts.length;
  setText(byId('changed-lacks'), [...rest, ...facts.map(factText)].join(' · '));
}

function showWorst(worst) {
  byId('worst').hidden = !worst;
  if (!worst) return;
  setText(byId('worst-p99'), worst.text);
  showPath(byId('worst-name'), `${worst.interface}/${worst.statistic}`);
}

// `all`: how many names there are; fill() shows one in its item.
function showNames(id, note, names, {all, shown = names.length}, fill) {
  byId(id).hidden = !names.length;
  setText(byId(`${id}-note`), `${note}: ${number(all)}` +
    (all > shown ? `; the first ${shown}:` : ''));
  const list = byId(`${id}-list`);
  while (list.children.length > names.length) list.lastChild.remove();
  names.forEach((name, i) => {
    const item = list.children[i] ?? list.appendChild(document.createElement('li'));
    if (!item.firstChild) item.append(pathButton());
    fill(item, name);
  });
}

function showNew({new: names = [], new_all: all = 0}) {
  showNames('new', 'New in these 10 min', names, {all},
            (item, name) => showPath(item.firstChild, name));
}

// Beside the rows: a silence is a row while it is new.
function showSilent({silent: rows = [], silent_all: all = 0}) {
  const shown = rows.reduce((sum, each) => sum + each.statistics.length, 0);
  showNames('silent', 'Silent for a minute or longer', rows, {all, shown}, (item, row) => {
    namePath(item.firstChild, row);
    if (item.childNodes.length < 2) item.append(document.createElement('span'));
    setText(item.lastChild, ` ${row.why}, since ${clock(row.since_us)}`);
    item.lastChild.title = isoTime(row.since_us);
  });
}

// A row or a name is not changed while the pointer or the focus is there.
const holds = {};
for (const id of ['changed-table', 'worst', 'new', 'silent']) holds[id] = new Hold(byId(id));
for (const id of ['changed-table', 'new-list', 'silent-list']) makeOneStop(byId(id));

function showRows(rows) {
  const body = byId('changed-table').tBodies[0];
  if (rows.length && body.rows.length && holds['changed-table'].isHeld()) return;
  byId('changed-table').hidden = !rows.length;
  while (body.rows.length > rows.length) body.deleteRow(-1);
  rows.forEach((row, i) => fillRow(body.rows[i] ?? makeRow(body), row));
}

// For the title of the page: whether something is unusual, and the worst p99.
let landed = null;
export const landing = () => state.interfaceName ? null : landed;

export function showChanged({changed, worst}) {
  landed = {isUnusual: changed.state === 'unusual', worst};
  setText(byId('changed-note'), noteOf(changed));
  setText(byId('changed-time'), timeOf(changed));
  showRows(changed.rows ?? []);
  showLacks(changed);
  if (!holds.worst.isHeld()) showWorst(worst);
  if (!holds.new.isHeld()) showNew(changed);
  if (!holds.silent.isHeld()) showSilent(changed);
}

// Whether there is something to rank, and nothing else is shown.
export function showLanding(isThere) {
  const isLanding = isThere && !state.interfaceName;
  byId('landing').hidden = !isLanding;
  if (!isLanding) Object.values(holds).forEach(each => each.release());
  document.body.classList.toggle('landing', isLanding);
  return isLanding;
}
