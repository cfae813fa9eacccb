// Feeds the interface `example` with how late the timers of Node fire: node feeder.js
// Node's standard library has no Unix datagram sockets, so one tally-send takes the lines.
const { spawn } = require('node:child_process');

const tally = spawn('tally-send', { stdio: ['pipe', 'ignore', 'inherit'] });
tally.on('error', (error) => console.error(`no tally-send: ${error.message}`));
tally.stdin.on('error', () => {}); // it has ended; 'close' below has its exit status
tally.on('close', (status) => {
  if (status === 0) console.log('100 samples are in statistics/example/data');
  process.exitCode = status ?? 1;
});

function feed(name, x, y = 1) {
  if (tally.stdin.writable) tally.stdin.write(`example/${name} ${x} ${y}\n`);
}

// What is there already stays as its users have defined it.
tally.stdin.write('create example/lateness_us type=range on=1 units=microseconds/timers\n');

let count = 0;
let due = performance.now() + 1;
setTimeout(function fired() {
  feed('lateness_us', Math.round((performance.now() - due) * 1000));
  if (++count === 100) return tally.stdin.end(); // tally-send ends when all is taken
  due = performance.now() + 1;
  setTimeout(fired, 1);
}, 1);
