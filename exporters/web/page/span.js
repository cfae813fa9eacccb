// The times that are shown: selected with the pointer or by keys in a map or a line, or written
// into fields; a second one beside the first; a link to what is shown.
import {clock, isoTime} from './charts.js';
import {setText} from './rows.js';
import {before, byId, chooseSpan, onChanged, state} from './state.js';

const kDrag = 5;  // pixels; less is a click
const kSecond = 1e6;

// `timeAt(clientX)`: a time in microseconds; `onMove(span)`: the part to mark, null: none. With
// Shift it is the second span.
export function selectTimes(element, timeAt, onMove, onSpan = selectSpan) {
  let from = null;
  const spanTo = event => {
    const times = [timeAt(from.clientX), timeAt(event.clientX)].sort((a, b) => a - b);
    return {from: times[0], to: Math.max(times[1], times[0] + kSecond)};
  };
  const isDrag = event => from && Math.abs(event.clientX - from.clientX) >= kDrag;
  element.addEventListener('pointerdown', event => {
    if (event.button !== 0 || timeAt(event.clientX) === null) return;
    from = {clientX: event.clientX};
    element.setPointerCapture?.(event.pointerId);
  });
  element.addEventListener('pointermove', event => {
    if (isDrag(event)) onMove(spanTo(event));
  });
  element.addEventListener('pointerup', event => {
    const span = isDrag(event) ? spanTo(event) : null;
    from = null;
    if (!span) return;
    onMove(null);
    // The click that ends it chooses nothing.
    const swallow = each => each.stopImmediatePropagation();
    element.addEventListener('click', swallow, true);
    setTimeout(() => element.removeEventListener('click', swallow, true));
    onSpan(span, event.shiftKey);
  });
  element.addEventListener('pointercancel', () => { from = null; onMove(null); });
}

// A drawing that marks the span that is being selected, with draw() of its own. By keys a span
// grows from `anchor`, where Shift was pressed.
export class SpanMarker {
  marked = null;
  anchor = null;

  markSpan(span) {
    this.marked = span;
    this.draw();
  }

  growTo(span) {
    this.anchor ??= span;
    this.marked = {from: Math.min(span.from, this.anchor.from),
                   to: Math.max(span.to, this.anchor.to)};
  }

  selectMarked(isSecond) {
    const span = this.marked;
    this.marked = this.anchor = null;
    if (span) selectSpan(span, isSecond);
  }

  // A span that is being selected is not.
  leaveMarked() {
    this.anchor = null;
    if (this.marked) this.markSpan(null);
  }
}

// To whole seconds; the first span, or the one beside it; of what is chosen, or of an interface.
export function selectSpan(span, isSecond, interfaceName = state.interfaceName) {
  const whole = {from: Math.floor(span.from / kSecond) * kSecond,
                 to: Math.ceil(span.to / kSecond) * kSecond};
  if (isSecond && state.span) chooseSpan(state.span, whole);
  else chooseSpan(whole, null, interfaceName);
}

// What a map of the spans shows: both of them, with some time around, up to now.
export function timesAround({span, versus}, now) {
  const from = Math.min(span.from, versus?.from ?? Infinity);
  const to = Math.max(span.to, versus?.to ?? 0);
  const more = Math.ceil((span.to - span.from) / 2 / kSecond) * kSecond;
  return {from: from - more, to: Math.max(to, Math.min(to + more, now))};
}

export function lengthText(span) {
  const seconds = Math.round((span.to - span.from) / kSecond);
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

export const factText = each =>
  `${clock(each.begin_us)} to ${clock(each.end_us)}: ${each.reason}`;
export const spanText = span => `${clock(span.from)} – ${clock(span.to)} (${lengthText(span)})`;

// ---- fields: "12:03", "12:03:20", with a day before them, "2026-11-27 12:03"; local times; and
// "since reset", of the statistic that is shown, up to now

const kSinceReset = 'since reset';

function sinceReset() {
  const since = state.data?.view.since_us;
  if (!since) throw new Error('Nothing is known of a reset of it: it is not there now.');
  return {from: since, to: Math.max(state.overview.realtime_us, since + kSecond)};
}

function timeOf(text) {
  const found = /^(?:(\d{4})-(\d\d)-(\d\d)[ T]+)?(\d{1,2}):(\d\d)(?::(\d\d))?$/.exec(text.trim());
  if (!found) return null;
  const [year, month, day, hour, minute, second] = found.slice(1).map(each => Number(each ?? 0));
  const date = found[1] ? new Date(year, month - 1, day) : new Date();
  date.setHours(hour, minute, second, 0);
  return hour < 24 && minute < 60 && second < 60 ? date.getTime() * 1000 : null;
}

function spanOf(prefix) {
  if (byId(`${prefix}-from`).value.trim() === kSinceReset) return sinceReset();
  const [from, to] = ['from', 'to'].map(each => timeOf(byId(`${prefix}-${each}`).value));
  if (from === null || to === null) {
    throw new Error('Write times as 12:03, 12:03:20 or 2026-11-27 12:03, or the first one as ' +
                    'since reset.');
  }
  if (to <= from) throw new Error('The second time must be later than the first.');
  return {from, to};
}

function fill(prefix, span) {
  for (const end of ['from', 'to']) {
    const field = byId(`${prefix}-${end}`);
    if (document.activeElement !== field) field.value = span ? clock(span[end]) : '';
    field.title = span ? isoTime(span[end]) : '';
  }
}

function showSpan() {
  const {span, versus} = state;
  document.body.classList.toggle('of-past', !!span);
  fill('span', span);
  fill('versus', versus);
  byId('versus-fields').hidden = !versus;
  byId('span-before').hidden = byId('span-live').hidden = !span;
  byId('span-before').setAttribute('aria-pressed', String(!!versus));
  byId('window-choice').hidden = !!span;
  setText(byId('span-fault'), '');
}
onChanged(showSpan);

byId('span-form').addEventListener('submit', event => {
  event.preventDefault();
  try {
    chooseSpan(spanOf('span'), byId('versus-fields').hidden ? null : spanOf('versus'));
  } catch (error) {
    setText(byId('span-fault'), error.message);
  }
});
byId('span-live').addEventListener('click', () => chooseSpan(null));
byId('span-before').addEventListener('click', () =>
  chooseSpan(state.span, state.versus ? null : before(state.span)));
byId('copy-link').addEventListener('click', async () => {
  try {
    // The token is not in the address: it lies in this tab's memory.
    await navigator.clipboard.writeText(location.href);
    setText(byId('span-done'), 'The link is copied; it has no token.');
  } catch {
    setText(byId('span-done'), `Copy the address of this page: ${location.href}`);
  }
});
showSpan();
