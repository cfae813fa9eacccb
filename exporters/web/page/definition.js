// The definition of the statistic that is shown, as its line. The controls edit the line; the
// daemon alone judges it. What would discard data says so before, and is done after a second click.
import {define, read} from './api.js';
import {clock} from './charts.js';
import {setText, shownName} from './rows.js';
import {byId, state} from './state.js';

// Keys that a line leaves out where the end is open.
const kEnds = ['range_min', 'range_max'];
// Keys that change nothing of how it counts, or that cannot be set.
const kKeeping = ['name', 'of', 'on', 'base', 'units', 'help', 'hits_out_of_range', 'hits_missed',
                  'data', 'started', 'stopped'];

function keysOf(line) {
  return new Map(line.trim().split(/\s+/).filter(each => each.includes('='))
    .map(each => [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)]));
}

function withKey(line, key, value) {
  const token = new RegExp(`(^| )${key}=[^ ]*`);
  return token.test(line) ? line.replace(token, `$1${key}=${value}`) : `${line} ${key}=${value}`;
}

// What a statistic holds, and of whom; empty: nothing.
const heldOf = statistic => statistic.view.held_text &&
  `${statistic.view.held_text} of ${shownName(statistic.name)}, counted since ` +
  clock(statistic.view.since_us);

// Whether a line without name= may discard something of any statistic.
const mayDiscard = keys => keys.get('data') === 'reset' || keys.get('of') === '' ||
  [...keys.keys()].some(key => !kKeeping.includes(key));

// The word of X in units=X/Y.
const unitOfX = keys => (keys.get('units') ?? '').split('/').slice(0, -1).join();

// Whether a line would count in another way than the one before. Of quantiles only the precision
// and the unit of X say how; a range does for arrays alone.
function discards(line, before) {
  const [after, was] = [keysOf(line), keysOf(before)];
  const type = after.get('type') ?? was.get('type');
  if (after.get('data') === 'reset' || after.get('of') === '') return true;
  if (type !== was.get('type')) return true;
  const hasPercentiles = type === 'quantiles' || was.get('mode') === 'quantiles';
  if (hasPercentiles && after.get('units') && unitOfX(after) !== unitOfX(was)) return true;
  const keeps = key => kKeeping.includes(key) || (type === 'quantiles' && key !== 'precision') ||
    (type !== 'array' && kEnds.includes(key));
  return [...after].some(([key, value]) =>
    (was.has(key) || kEnds.includes(key)) && was.get(key) !== value && !keeps(key));
}

export class DefinitionForm {
  constructor(onChanged) {
    this.onChanged = onChanged;
    this.line = byId('line');
    this.line.addEventListener('input', () => this.edited());
    byId('is-on').addEventListener('change', event =>
      this.edit(withKey(this.line.value, 'on', event.target.checked ? 1 : 0)));
    byId('type').addEventListener('change', event => this.changeType(event.target.value));
    byId('revert').addEventListener('click', () => this.revert());
    byId('reset').addEventListener('click', () => this.reset());
    byId('undo').addEventListener('click', () => this.undo());
    byId('confirm-yes').addEventListener('click', () => this.confirmed?.());
    byId('add-view').addEventListener('change', event => {
      if (event.target.value) this.proposeView(event.target.value);
      event.target.value = '';
    });
    byId('confirm-view').addEventListener('click', () => this.addView());
    byId('confirm-no').addEventListener('click', () => this.ask(null));
    byId('definition').addEventListener('submit', event => {
      event.preventDefault();
      this.apply();
    });
    byId('definition').addEventListener('keydown', event => {
      if (event.key === 'Escape') this.ask(null);
    });
    this.line.addEventListener('keydown', event => {
      if (event.key !== 'Enter') return;
      event.preventDefault();
      this.apply();
    });
  }

  edit(line) {
    this.line.value = line;
    this.edited();
  }

  // What was said of the line before is not said of this one.
  edited() {
    this.tell('', '');
    this.ask(null);
  }

  // The line as that of a view: the same samples, under a name that is free.
  viewOf(line, ending = keysOf(line).get('type')) {
    const source = keysOf(this.current).get('of') ?? this.name;
    const names = state.rows.map(each => each.name);
    const name = count => source.replace(/(?=\{|$)/, `_${ending}${count}`);
    let count = '';
    while (names.includes(name(count))) count = Number(count || 1) + 1;
    return withKey(withKey(line, 'of', source), 'name', name(count));
  }

  // Of percentiles, over time, or of what is above a bound alone: how many, and how large.
  proposeView(kind) {
    this.edit(kind !== 'above' ? this.viewOf(this.lines[kind])
      : this.viewOf(withKey(this.lines.range, 'range_min', this.above), 'above'));
    this.line.focus();
  }

  // The bound is the p99, or the average, as it is now.
  showAbove({level, type_text: type, total}) {
    const decimals = Number(keysOf(this.current).get('decimals') ?? 0);
    const isKnown = level > 0 && !type.startsWith('value');
    this.above = (isKnown ? Math.ceil(level) / 10 ** decimals : 1).toFixed(decimals);
    const what = total.percentiles ? 'p99' : 'the average';
    setText(byId('view-above'), `above ${isKnown ? `${what}, ` : ''}${this.above}`);
  }

  addView() {
    const line = this.viewOf(this.line.value.replace(/\s+/g, ' ').trim());
    this.edit(line);
    return this.apply();
  }

  // With all that the type needs, and nothing that it does not take, as the server proposes.
  changeType(type) {
    const on = keysOf(this.line.value).get('on');
    this.edit(on === undefined ? this.lines[type] : withKey(this.lines[type], 'on', on));
  }

  // Another statistic: what was typed for the one before is dropped.
  forget() {
    this.interfaceName = this.name = this.known = this.ofAll = null;
    this.tell('', '');
    this.ask(null);
  }

  // What is typed stays, while the line of the daemon is as it was when typing began.
  // `all`: how many statistics the interface has.
  show(interfaceName, statistic, readOnly, all) {
    const line = statistic.view.definition;
    const isEdited = this.known !== null && this.line.value !== this.known;
    this.interfaceName = interfaceName;
    this.name = statistic.name;
    this.lines = statistic.view.lines;
    this.offerTypes(Object.keys(this.lines));
    this.held = heldOf(statistic);
    byId('undo').hidden = !statistic.view.can_undo;
    setText(byId('undo'), this.ofAll ? 'Undo for all' : 'Undo');
    this.all = `all ${all} statistics of ${interfaceName}`;
    this.current = line;
    this.showAbove(statistic.view);
    if (!isEdited) {
      this.line.value = line;
      this.known = line;
    }
    const isPath = interfaceName.includes('/');
    this.close(isPath ? 'Latency histograms have no definition.' : readOnly);
    this.showControls();
  }

  // The types are those of the server's lines, which do not change while it runs.
  offerTypes(types) {
    if (byId('type').options.length === types.length) return;
    byId('type').replaceChildren(...types.map(type => new Option(type, type)));
  }

  // With a reason; without one it is open.
  close(reason) {
    setText(byId('definition-note'), reason);
    byId('definition').classList.toggle('closed', !!reason);
    for (const id of ['is-on', 'type', 'add-view', 'apply', 'reset', 'undo', 'confirm-view',
                      'confirm-yes']) {
      byId(id).disabled = !!reason;
    }
    this.line.readOnly = !!reason;
  }

  showControls() {
    const keys = keysOf(this.line.value);
    byId('is-on').checked = keys.get('on') !== '0';
    byId('type').value = keys.get('type') ?? '';
    byId('revert').disabled = this.line.value === this.current;
    const warning = this.line.value.trim() === this.current ? '' : this.warning(keys);
    byId('definition-loss').hidden = !warning || !byId('confirm').hidden;
    setText(byId('definition-loss'), warning);
  }

  // What is to be known of the line before it is applied.
  warning(keys) {
    const name = keys.get('name');
    if (keys.size === 0) return '';
    if (name === undefined) return `Without name= the line is for ${this.all}.`;
    if (name !== this.name) return `The line is for ${name}, not for ${this.name}.`;
    return this.held && discards(this.line.value, this.current)
      ? `Apply discards ${this.held}.` : '';
  }

  // What the line would discard, of the statistic that it names, or of all; empty: nothing.
  async lossOf(line) {
    const keys = keysOf(line);
    const name = keys.get('name');
    if (name === undefined) {
      if (!mayDiscard(keys)) return '';
      return keys.get('data') === 'reset' ? `the data of ${this.all}`
        : `what it changes in ${this.all}`;
    }
    if (name === this.name) return discards(line, this.current) ? this.held : '';
    const url = `api/1/statistics/${encodeURIComponent(this.interfaceName)}?statistic=`;
    const named = encodeURIComponent(name);
    // A name that is free is that of a new view, or the daemon refuses it.
    const {view} = await read('names', `${url}&filter=${named}`);
    if (!view.rows.some(row => row.name === name)) return '';
    const [other] = (await read('other', url + named)).statistics;
    return discards(line, other.view.definition) ? heldOf(other) : '';
  }

  // Asks in the page, if there is something to lose; null: asks no more.
  // `canKeep`: a view could have the new type beside the data.
  ask(what, loss, act, canKeep = false) {
    this.confirmed = what && (() => {
      this.ask(null);
      act();
    });
    byId('confirm').hidden = !what;
    if (what) {
      setText(byId('confirm-text'), `Discard ${loss}?`);
      setText(byId('confirm-yes'), what);
      byId('confirm-view').hidden = !canKeep;
      byId(canKeep ? 'confirm-view' : 'confirm-no').focus();
    }
    if (this.current) this.showControls();
  }

  reset() {
    const act = () => this.send(`name=${this.name} data=reset`, 'The data was reset.');
    return this.held ? this.ask('Discard and reset', this.held, act) : act();
  }

  // The daemon says what is lost by it: samples since a new definition.
  undo() {
    return this.ofAll ? this.send('undo=1', `Undo brought back the data of ${this.all}.`)
      : this.send(`name=${this.name} undo=1`, 'Undo brought back the data.');
  }

  async apply() {
    const {name, line: {value}} = this;
    const line = value.replace(/\s+/g, ' ').trim();
    if (!line) return this.tell('The line is empty: nothing would change.', '');
    const to = keysOf(line).get('name');
    const act = () => this.send(line, to === name ? 'Applied.'
      : `Applied to ${to === undefined ? this.all : to}.`);
    let loss;
    try {
      loss = await this.lossOf(line);
    } catch (error) {
      return this.tell(error.message, '');
    }
    if (this.name !== name || this.line.value !== value) return;  // edited meanwhile
    const {type, of} = Object.fromEntries(keysOf(line));
    const canKeep = to === name && of === undefined && type !== keysOf(this.current).get('type');
    return loss ? this.ask('Discard and apply', loss, act, canKeep) : act();
  }

  revert() {
    this.line.value = this.known = this.current;
    this.ask(null);
    this.tell('', '');
  }

  tell(fault, done) {
    byId('definition-fault').hidden = !fault;
    // The reason wraps. The line and its caret below do not.
    const [reason, ...rest] = fault.split('\n');
    const first = document.createElement('span');
    first.textContent = reason;
    byId('definition-fault').replaceChildren(first, rest.join('\n'));
    // The reason is in sight, wherever the button is.
    if (fault) byId('definition-fault').scrollIntoView({block: 'nearest'});
    byId('definition-done').textContent = done;
  }

  async send(line, done) {
    try {
      const warning = await define(this.interfaceName, line);
      const keys = keysOf(line);
      // In one step, as it was discarded; what discards nothing changes nothing of that.
      if (keys.has('name') || keys.has('undo')) this.ofAll = false;
      else if (mayDiscard(keys)) this.ofAll = true;
      this.tell(warning ? `warning: ${warning}` : '', done);
      this.known = this.line.value;  // the next answer has the daemon's line
      this.onChanged();
    } catch (error) {
      this.tell(error.message, '');
    }
  }
}
