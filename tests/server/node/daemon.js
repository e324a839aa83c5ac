'use strict';
// A simulated daemon as a child process, and a client made from the public .proto files.
const {spawn} = require('child_process');
const fs = require('fs');
const net = require('net');
const os = require('os');
const path = require('path');
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');

const options = {keepCase: true, longs: Number, enums: String, defaults: true};

function load(proto, file) {
  return grpc.loadPackageDefinition(loader.loadSync(path.join(proto, file), options));
}

const freePort = () => new Promise(resolve => {
  const s = net.createServer().listen(0, '127.0.0.1', () => {
    const {port} = s.address();
    s.close(() => resolve(port));
  });
});
const sleep = ms => new Promise(resolve => setTimeout(resolve, ms));

/** Starts sim_daemon with key=value settings; {address, http, stop()} once it serves. */
async function start(program, ...settings) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'cuzk-node-'));
  const http = `127.0.0.1:${await freePort()}`;
  const log = fs.openSync(path.join(dir, 'log'), 'w');
  const child = spawn(program, [dir, `daemon.status_listen=${http}`, ...settings], {stdio: ['ignore', 'ignore', log]});
  const ended = new Promise(resolve => child.on('exit', resolve));
  for (let i = 0; ; i++) {
    if (i > 300 || child.exitCode !== null) throw new Error(fs.readFileSync(path.join(dir, 'log'), 'utf8'));
    if (await fetch(`http://${http}/readyz`).then(r => r.ok, () => false)) break;
    await sleep(50);
  }
  return {
    address: `unix://${dir}/sock`, http,
    async stop() {
      child.kill('SIGTERM');
      const code = await ended;
      fs.rmSync(dir, {recursive: true});
      return code;
    },
  };
}

/** call(method, request, options) resolves to {reply} or {code, details}; raw() gives the grpc call. */
function client(Service, address) {
  const c = new Service(address, grpc.credentials.createInsecure(), {
    'grpc.max_send_message_length': -1, 'grpc.max_receive_message_length': -1});
  return {
    call: (method, request, more) => new Promise(resolve =>
      c[method](request, more || {}, (e, reply) => resolve(e ? {code: e.code, details: e.details} : {code: 0, reply}))),
    raw: c,
    close: () => c.close(),
  };
}

/** The body of a simulated job: what sim.h calls sim_body. */
function work(id, shape = 0, flags = 0) {
  const b = Buffer.alloc(16);
  b.writeBigUInt64LE(BigInt(id), 0);
  b.writeUInt32LE(shape, 8);
  b.writeUInt32LE(flags, 12);
  return b;
}
const porep = (id, more) => ({proof_kind: 'POREP_SEAL_COMMIT', randomness: work(id, 0), ...more});
const winning = (id, more) => ({proof_kind: 'WINNING_POST', randomness: work(id, 1), ...more});

module.exports = {start, client, load, porep, winning, work, sleep, grpc};
