// A table of which only the rows in view are in the document; those above and below are two rows
// of their height.

const kMore = 5;  // rows beyond the view, for scrolling

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
    box.addEventListener('scroll', () => {
      const {first} = this.wanted();
      if (first !== this.first) this.onScroll();
    }, {passive: true});
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
    this.table.setAttribute('aria-rowcount', all + 1);
    const height = this.rowHeight();
    this.above.firstChild.style.height = `${first * height}px`;
    this.below.firstChild.style.height = `${Math.max(0, all - first - rows.length) * height}px`;
  }
}

// Only what differs is written, so that nothing is laid out anew for nothing.
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
