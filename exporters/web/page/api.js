// Requests to tally-web: the token, what was answered before, and what went wrong.

const kToken = 'tally-token';

// From the fragment, which no server sees, into this tab's memory.
export function takeToken() {
  const found = /[#&]token=([0-9a-f]+)/.exec(location.hash);
  if (!found) return;
  sessionStorage.setItem(kToken, found[1]);
  const rest = location.hash.replace(/([#&])token=[0-9a-f]+&?/, '$1').replace(/[#&]$/, '');
  history.replaceState(null, '', location.pathname + rest);
}

export function setToken(token) {
  sessionStorage.setItem(kToken, token.trim());
}

export class Refusal extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

function headers(more) {
  const token = sessionStorage.getItem(kToken);
  return token ? {Authorization: `Bearer ${token}`, ...more} : {...more};
}

async function reasonOf(response) {
  const text = await response.text();
  try {
    return JSON.parse(text).error ?? text;
  } catch {
    return text.trim() || `status ${response.status}`;
  }
}

const answers = new Map();  // slot -> {url, etag, json}

// What is shown in one place of the page. Its last answer is kept, for an answer "as before".
export async function read(slot, url) {
  const last = answers.get(slot);
  const known = last?.url === url ? last : null;
  const response = await fetch(url, {
    headers: headers(known?.etag ? {'If-None-Match': known.etag} : {}),
    cache: 'no-store',
    signal: AbortSignal.timeout(8000),
  });
  if (response.status === 304 && known) return known.json;
  if (!response.ok) throw new Refusal(response.status, await reasonOf(response));
  const answer = {url, etag: response.headers.get('ETag'), json: await response.json()};
  answers.set(slot, answer);
  return answer.json;
}

// Returns the daemon's warning, if it has one.
export async function define(interfaceName, line) {
  const response = await fetch(`api/1/definition/${encodeURIComponent(interfaceName)}`, {
    method: 'POST',
    headers: headers({'Content-Type': 'application/json'}),
    body: JSON.stringify({line}),
  });
  if (!response.ok) throw new Refusal(response.status, await reasonOf(response));
  return (await response.json()).warning;
}
