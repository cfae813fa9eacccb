// node-lynx: UDP.
const Lynx = require('lynx');

const client = new Lynx(process.argv[2], Number(process.argv[3]), { scope: 'lynx' });
for (let i = 0; i < 200; i += 1) client.increment('hits');
client.gauge('level', 42.5);
for (let i = 0; i < 3; i += 1) client.timing('wait', 320);
client.set('users', 'joe');
// Its sends are done in their order.
setTimeout(() => client.close(), 300);
