// Histogram triggers of an event: for each a table of its keys, hit counts as bars, and values.
import {nameTable, rowHeading} from './charts.js';
import {setText} from './rows.js';

const kShortKey = 22;

function heading(text, name) {
  const th = document.createElement('th');
  th.scope = 'col';
  th.textContent = text;
  th.className = name;
  return th;
}

function makeTrigger() {
  const section = document.createElement('section');
  section.className = 'panel hist';
  const title = document.createElement('h3');
  const note = document.createElement('p');
  note.className = 'note';
  const box = document.createElement('div');
  box.className = 'scroll';
  const table = document.createElement('table');
  table.createTHead().insertRow();
  table.createTBody();
  box.append(table);
  section.append(title, note, box);
  return section;
}

// Keys, hit count, its bar, its share, then values.
function headingsOf(trigger) {
  const keys = trigger.columns.filter(each => each.is_key);
  const values = trigger.columns.filter(each => !each.is_key);
  return [...keys.map(each => [each.name, 'key']), ['hits', 'number hits'], ['', 'bar'],
          ['%', 'number share'], ...values.map(each => [each.name, 'number'])];
}

function cellsOf(trigger, row) {
  const keys = trigger.columns.filter(each => each.is_key).length;
  return [...row.cells.slice(0, keys), row.text, '', row.share === '-' ? '' : row.share,
          ...row.cells.slice(keys)];
}

function fillRow(tr, headings, names, texts, part) {
  const tags = names.map(name => name === 'key' ? 'TH' : 'TD');
  if ([...tr.cells].map(each => each.tagName).join() !== tags.join()) {
    tr.replaceChildren(...tags.map(tag => tag === 'TH' ? rowHeading()
      : document.createElement('td')));
  }
  names.forEach((name, i) => {
    const td = tr.cells[i];
    if (td.className !== name) td.className = name;
    td.dataset.name = headings[i];
    if (name !== 'bar') return setText(td, texts[i]);
    if (!td.firstElementChild) td.replaceChildren(document.createElement('div'));
    td.firstElementChild.style.width = part > 0 ? `max(2px, ${100 * part}%)` : '0';
  });
}

function fillTrigger(section, trigger) {
  const [title, note, box] = section.children;
  setText(title, trigger.trigger);
  const rows = trigger.matching > trigger.rows.length
    ? `the first ${trigger.rows.length.toLocaleString('en')} of ` : '';
  const dropped = trigger.dropped_text === '0' ? '' : `, ${trigger.dropped_text} dropped`;
  setText(note, `${trigger.hits_text} hits${dropped}; ${rows}` +
    `${trigger.matching.toLocaleString('en')} entries, ${trigger.order}`);
  const table = box.firstChild;
  nameTable(table, trigger.trigger);
  const headings = headingsOf(trigger);
  const head = table.tHead.rows[0];
  if (head.textContent !== headings.map(each => each[0]).join('')) {
    head.replaceChildren(...headings.map(([text, name]) => heading(text, name)));
  }
  const body = table.tBodies[0];
  while (body.rows.length > trigger.rows.length) body.deleteRow(-1);
  while (body.rows.length < trigger.rows.length) body.insertRow();
  const [texts, names] = [0, 1].map(at => headings.map(each => each[at]));
  const keys = names.filter(name => name === 'key').length;
  // What needs more room than a narrow screen has.
  table.classList.toggle('stacks', names.at(-1) === 'number' ||
    trigger.rows.some(row => row.cells.slice(0, keys).join(' ').length > kShortKey));
  trigger.rows.forEach((row, i) =>
    fillRow(body.rows[i], texts, names, cellsOf(trigger, row), row.part));
}

// Into `box`, where those of the reading before are.
export function showTriggers(box, triggers) {
  while (box.children.length > triggers.length) box.lastChild.remove();
  while (box.children.length < triggers.length) box.append(makeTrigger());
  triggers.forEach((trigger, i) => fillTrigger(box.children[i], trigger));
}
