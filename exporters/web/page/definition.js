// The definition of the statistic that is shown, as its line. The controls edit the line; the
// daemon alone judges it.
import {define} from './api.js';

const kTypes = ['value', 'range', 'list', 'array', 'quantiles', 'last', 'history', 'raw'];

const byId = id => document.getElementById(id);

function withKey(line, key, value) {
  const token = new RegExp(`(^| )${key}=[^ ]*`);
  return token.test(line) ? line.replace(token, `$1${key}=${value}`) : `${line} ${key}=${value}`;
}

export class DefinitionForm {
  constructor(onChanged) {
    this.onChanged = onChanged;
    this.line = byId('line');
    byId('type').append(...kTypes.map(type => new Option(type, type)));
    this.line.addEventListener('input', () => this.showControls());
    byId('is-on').addEventListener('change', event =>
      this.edit('on', event.target.checked ? 1 : 0));
    byId('type').addEventListener('change', event => this.edit('type', event.target.value));
    byId('revert').addEventListener('click', () => this.revert());
    byId('reset').addEventListener('click', () => this.send(`name=${this.name} data=reset`,
                                                            'The data was reset.'));
    byId('definition').addEventListener('submit', event => {
      event.preventDefault();
      this.apply();
    });
    this.line.addEventListener('keydown', event => {
      if (event.key !== 'Enter') return;
      event.preventDefault();
      this.apply();
    });
  }

  edit(key, value) {
    this.line.value = withKey(this.line.value, key, value);
    this.showControls();
  }

  // Another statistic: what was typed for the one before is dropped.
  forget() {
    this.interfaceName = this.name = this.known = null;
    this.tell('', '');
  }

  // What is typed stays, while the line of the daemon is as it was when typing began.
  show(interfaceName, statistic, readOnly) {
    const line = statistic.view.definition;
    const isEdited = this.known !== null && this.line.value !== this.known;
    this.interfaceName = interfaceName;
    this.name = statistic.name;
    if (!isEdited) {
      this.line.value = line;
      this.known = line;
      this.showControls();
    }
    this.current = line;
    const isPath = interfaceName.includes('/');
    const reason = readOnly || (isPath ? 'latency histograms have no definition' : '');
    byId('definition-note').textContent = reason;
    for (const id of ['is-on', 'type', 'apply', 'reset', 'line']) byId(id).disabled = !!reason;
    byId('revert').disabled = this.line.value === line;
  }

  showControls() {
    const value = key => new RegExp(`(?:^| )${key}=([^ ]*)`).exec(this.line.value)?.[1];
    byId('is-on').checked = value('on') !== '0';
    byId('type').value = value('type') ?? '';
    byId('revert').disabled = this.line.value === this.current;
  }

  apply() {
    return this.send(this.line.value.replace(/\s+/g, ' ').trim(), 'Applied.');
  }

  revert() {
    this.line.value = this.known = this.current;
    this.showControls();
    this.tell('', '');
  }

  tell(fault, done) {
    byId('definition-fault').hidden = !fault;
    byId('definition-fault').textContent = fault;
    byId('definition-done').textContent = done;
  }

  async send(line, done) {
    try {
      const warning = await define(this.interfaceName, line);
      this.tell(warning ? `warning: ${warning}` : '', done);
      this.known = this.line.value;  // the next answer has the daemon's line
      this.onChanged();
    } catch (error) {
      this.tell(error.message, '');
    }
  }
}
