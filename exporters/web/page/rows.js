// A table of which only the rows in view are in the document; those above and below are two rows
// of their height.

const kMore = 5;  // rows beyond the view, for scrolling
const kHold = 3000;  // milliseconds

// What changes by itself stands still while the pointer or the focus is in it, and a while after.
export class Hold {
  constructor(box) {
    this.release();
    const set = (name, value) => () => {
      this[name] = value;
      if (!value) this.leftAt = performance.now();
    };
    box.addEventListener('pointerenter', set('isOver', true));
    box.addEventListener('pointerleave', set('isOver', false));
    box.addEventListener('focusin', set('hasFocus', true));
    box.addEventListener('focusout', set('hasFocus', false));
  }

  isHeld() {
    return this.isOver || this.hasFocus || performance.now() < this.leftAt + kHold;
  }

  // What is hidden is left without an event.
  release() {
    this.isOver = this.hasFocus = false;
    this.leftAt = -Infinity;
  }
}

// A list of buttons is one stop of the Tab key; arrows go on from there.
export function makeOneStop(list) {
  let active = null;
  const buttons = () => [...list.querySelectorAll('button')];
  const leaveOne = () => {
    const all = buttons();
    if (!all.includes(active)) active = all[0];
    for (const each of all) each.tabIndex = each === active ? 0 : -1;
  };
  new MutationObserver(leaveOne).observe(list, {childList: true, subtree: true});
  list.addEventListener('focusin', event => {
    active = event.target;
    leaveOne();
  });
  list.addEventListener('keydown', event => {
    const step = {ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1}[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return;  // Alt+Left is Back
    event.preventDefault();
    const all = buttons();
    all[all.indexOf(event.target) + step]?.focus();
  });
}

export class RowWindow {
  // `fill(tr, row)` shows a row; `make()` makes an empty one. Rows have one height.
  constructor(box, table, make, fill) {
    this.box = box;
    this.body = table.tBodies[0];
    this.table = table;
    this.make = make;
    this.fill = fill;
    this.above = this.spacer();
    this.below = this.spacer();
    this.rows = [];
    this.onScroll = () => {};
    this.isFresh = false;
    this.active = table.tHead.querySelector('button');
    this.hold = new Hold(box);
    box.addEventListener('focusin', event => {
      if (event.target.tagName === 'BUTTON') this.setActive(event.target);
    });
    table.addEventListener('keydown', event => this.key(event));
    box.addEventListener('scroll', () => {
      const {first} = this.wanted();
      if (first !== this.first) this.onScroll();
    }, {passive: true});
  }

  // Then the order of rows stays.
  isHeld() { return this.hold.isHeld(); }

  // The order to ask for: that of the rows that are shown, or 0.
  orderWanted(number) {
    const isHeld = this.isHeld() && !this.isFresh;
    this.isFresh = false;
    return isHeld ? number ?? 0 : 0;
  }

  // The next rows come in their own order.
  sortAgain() { this.isFresh = true; }

  // The table is one stop of the Tab key; arrows go on from there, up to the headings.
  setActive(button) {
    if (this.active !== button) this.active.tabIndex = -1;
    this.active = button;
    button.tabIndex = 0;
  }

  key(event) {
    const headings = [...this.table.tHead.querySelectorAll('button')];
    const buttons = this.rows.map(tr => tr.cells[0].firstChild);
    const at = buttons.indexOf(event.target);
    const heading = headings.indexOf(event.target);
    const steps = {ArrowUp: at > 0 ? buttons[at - 1] : at === 0 ? headings[0] : undefined,
                   ArrowDown: at >= 0 ? buttons[at + 1] : buttons[0],
                   ArrowLeft: headings[heading - 1],
                   ArrowRight: heading >= 0 ? headings[heading + 1] : undefined};
    if (!(event.key in steps)) return;
    event.preventDefault();
    steps[event.key]?.focus();
  }

  spacer() {
    const tr = document.createElement('tr');
    tr.className = 'spacer';
    tr.setAttribute('aria-hidden', 'true');
    tr.append(document.createElement('td'));
    this.body.append(tr);
    return tr;
  }

  rowHeight() {
    return this.rows[0]?.getBoundingClientRect().height || 28;
  }

  // That of the focus, else that of what is chosen, else the first heading.
  leaveOneStop() {
    for (const button of this.table.querySelectorAll('button')) button.tabIndex = -1;
    const chosen = this.table.querySelector('tr.chosen button');
    const isThere = this.table.contains(this.active);
    if (this.hold.hasFocus && isThere) this.setActive(this.active);
    else this.setActive(chosen ?? this.table.tHead.querySelector('button'));
  }

  // Which rows to ask for.
  wanted() {
    const height = this.rowHeight();
    const first = Math.max(0, Math.floor(this.box.scrollTop / height) - kMore);
    const even = first - first % 2;
    const seen = Math.ceil(Math.max(200, this.box.clientHeight) / height);
    return {first: even, rows: seen + 2 * kMore};
  }

  show(rows, first, all) {
    while (this.rows.length < rows.length) {
      const tr = this.make();
      this.rows.push(tr);
      this.body.insertBefore(tr, this.below);
    }
    while (this.rows.length > rows.length) this.rows.pop().remove();
    rows.forEach((row, i) => {
      this.rows[i].setAttribute('aria-rowindex', first + i + 2);
      this.fill(this.rows[i], row);
    });
    this.first = first;
    this.leaveOneStop();
    this.table.setAttribute('aria-rowcount', all + 1);
    const height = this.rowHeight();
    this.above.firstChild.style.height = `${first * height}px`;
    this.below.firstChild.style.height = `${Math.max(0, all - first - rows.length) * height}px`;
  }
}

const kNamesMax = 20000;
const shownNames = new Map();

// From an answer: stored names that people read otherwise, with how they do.
export function learnNames(names) {
  if (shownNames.size > kNamesMax) shownNames.clear();
  for (const [name, text] of Object.entries(names ?? {})) shownNames.set(name, text);
}

// Of a statistic, or of INTERFACE/STATISTIC.
export function shownName(name) {
  const at = name.indexOf('/') + 1;
  return name.slice(0, at) + (shownNames.get(name.slice(at)) ?? name.slice(at));
}

// Only what differs is written, so that nothing is laid out anew for nothing.
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
