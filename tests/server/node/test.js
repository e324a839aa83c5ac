'use strict';
// A client that is not ours: @grpc/grpc-js and the public .proto files, every call of the service.
//   node test.js SIM_DAEMON PROTO_FOLDER
const assert = require('assert/strict');
const {start, client, load, porep, winning, work, sleep, grpc} = require('./daemon');
const [program, proto] = process.argv.slice(2);
const {ProvingEngine} = load(proto, 'cuzk/v1/proving.proto').cuzk.v1;
const {Health} = load(proto, 'grpc/health/v1/health.proto').grpc.health.v1;
const {ServerReflection} = load(proto, 'grpc/reflection/v1alpha/reflection.proto').grpc.reflection.v1alpha;
const S = grpc.status;

async function calls() {
  const d = await start(program, 'load_us=2000', 'devices=2');
  const c = client(ProvingEngine, d.address);
  let r = await c.call('SubmitProof', porep(1, {request_id: 'porep-1000-7'}));
  assert.equal(r.reply.job_id, 'porep-1000-7');
  assert.equal(r.reply.assigned_gpu, '');
  r = await c.call('AwaitProof', {job_id: 'porep-1000-7'});
  assert.equal(r.reply.status, 'COMPLETED');
  assert.equal(r.reply.proof.length, 10 * 192);
  assert.equal(r.reply.proof.readUInt32LE(0), 1);
  assert.equal((await c.call('AwaitProof', {job_id: 'x'})).code, S.NOT_FOUND);
  // Curio's window ids have spaces and brackets; one Prove call for each proof.
  const id = 'wdpost-1000-0-[12 34 255]';
  r = await c.call('Prove', {submit: winning(2, {request_id: id})});
  assert.equal(r.reply.result.job_id, id);
  assert.equal(r.reply.result.status, 'COMPLETED');
  // The retry after a timeout joins; another body under the same key is refused.
  const again = await c.call('Prove', {submit: winning(2, {request_id: id})});
  assert.deepEqual(again.reply.result.proof, r.reply.result.proof);
  assert.equal((await c.call('Prove', {submit: winning(3, {request_id: id})})).code, S.ALREADY_EXISTS);
  r = await c.call('Prove', {});
  assert.equal(r.code, S.INVALID_ARGUMENT);
  assert.equal(r.details, 'missing submit field');
  assert.equal((await c.call('SubmitProof', {})).code, S.INVALID_ARGUMENT);
  // A failed proof is not an error of the call.
  r = await c.call('Prove', {submit: winning(4, {randomness: work(4, 1, 2)})});
  assert.equal(r.code, 0);
  assert.equal(r.reply.result.status, 'FAILED');
  assert.match(r.reply.result.error_message, /simulated bad witness/);
  assert.match(r.reply.result.job_id, /^[0-9a-f-]{36}$/);
  r = await c.call('PreloadSRS', {circuit_id: 'porep-32g'});
  assert.equal(r.reply.already_loaded, true);
  assert.equal((await c.call('PreloadSRS', {circuit_id: 'porep-3g'})).code, S.INVALID_ARGUMENT);
  r = await c.call('EvictSRS', {circuit_id: 'porep-32g'});
  assert.equal(r.reply.was_loaded, true);
  assert.ok(r.reply.freed_bytes > 0);
  r = await c.call('GetStatus', {});
  assert.equal(r.reply.gpus.length, 2);
  assert.equal(r.reply.total_proofs_completed, 2);
  assert.equal(r.reply.total_proofs_failed, 1);
  assert.equal(r.reply.queues.length, 4);
  assert.ok(r.reply.loaded_srs.every(k => k.circuit_id === 'winning-32g'));
  r = await c.call('GetMetrics', {});
  assert.match(r.reply.prometheus_text, /^cuzk_proofs_completed_total 2$/m);
  c.close();
  assert.equal(await d.stop(), 0);
}

async function waiting() {
  const d = await start(program, 'compute_us=40000', 'daemon.queue_limit=2');
  const c = client(ProvingEngine, d.address);
  await c.call('SubmitProof', porep(1, {request_id: 'a'}));
  await c.call('SubmitProof', porep(2, {request_id: 'b'}));
  // A full queue says when to try again.
  const full = await new Promise(resolve => c.raw.SubmitProof(porep(3), e => resolve(e)));
  assert.equal(full.code, S.RESOURCE_EXHAUSTED);
  assert.deepEqual(full.metadata.get('grpc-retry-pushback-ms'), ['2000']);
  let r = await c.call('AwaitProof', {job_id: 'a', timeout_ms: 50});
  assert.equal(r.reply.status, 'TIMEOUT');
  // The client's deadline and its cancellation end the call, not the job.
  r = await c.call('AwaitProof', {job_id: 'a'}, {deadline: Date.now() + 50});
  assert.equal(r.code, S.DEADLINE_EXCEEDED);
  const cancelled = await new Promise(resolve => {
    const call = c.raw.AwaitProof({job_id: 'a'}, e => resolve(e.code));
    setTimeout(() => call.cancel(), 20);
  });
  assert.equal(cancelled, S.CANCELLED);
  r = await c.call('CancelProof', {job_id: 'b'});
  assert.equal(r.code, 0);
  r = await c.call('AwaitProof', {job_id: 'b'});
  assert.equal(r.reply.status, 'CANCELLED');
  r = await c.call('AwaitProof', {job_id: 'a'});
  assert.equal(r.reply.status, 'COMPLETED');
  c.close();
  await d.stop();
}

async function large() {
  const d = await start(program);
  const c = client(ProvingEngine, d.address);
  // As large as a real C1 output, and over every limit.
  let r = await c.call('Prove', {submit: porep(1, {vanilla_proof: Buffer.alloc(51 << 20, 1)})});
  assert.equal(r.reply.result.status, 'COMPLETED');
  r = await c.call('SubmitProof', porep(2, {vanilla_proof: Buffer.alloc(257 << 20)}));
  assert.equal(r.code, S.RESOURCE_EXHAUSTED);
  r = await c.call('GetStatus', {});
  assert.equal(r.code, 0);
  assert.ok(r.reply.pinned_memory_bytes < 16 * 2 ** 30);
  c.close();
  await d.stop();
}

async function health() {
  const d = await start(program);
  const c = client(Health, d.address);
  let r = await c.call('Check', {service: ''});
  assert.equal(r.reply.status, 'SERVING');
  r = await c.call('Check', {service: 'cuzk.v1.ProvingEngine'});
  assert.equal(r.reply.status, 'SERVING');
  assert.equal((await c.call('Check', {service: 'other'})).code, S.NOT_FOUND);
  const watch = c.raw.Watch({service: ''});
  const seen = [];
  watch.on('data', m => seen.push(m.status));
  watch.on('error', () => {});
  await sleep(200);
  assert.deepEqual(seen, ['SERVING']);
  watch.cancel();
  c.close();
  await d.stop();
}

async function reflection() {
  const ask = d => new Promise(resolve => {
    const c = new ServerReflection(d.address, grpc.credentials.createInsecure());
    const stream = c.ServerReflectionInfo(), seen = [];
    stream.on('data', m => seen.push(m));
    stream.on('error', e => resolve({code: e.code}));
    stream.on('end', () => resolve({code: 0, seen}));
    stream.write({list_services: ''});
    stream.write({file_containing_symbol: 'cuzk.v1.ProvingEngine.Prove'});
    stream.write({file_by_filename: 'nothing.proto'});
    stream.end();
  });
  let d = await start(program);
  assert.equal((await ask(d)).code, S.UNIMPLEMENTED);
  await d.stop();
  d = await start(program, 'daemon.reflection=true');
  const {seen} = await ask(d);
  assert.deepEqual(seen[0].list_services_response.service.map(s => s.name), ['cuzk.v1.ProvingEngine', 'grpc.health.v1.Health']);
  const file = seen[1].file_descriptor_response.file_descriptor_proto[0];
  assert.ok(file.includes('cuzk/v1/proving.proto') && file.includes('EvictSRS'));
  assert.equal(seen[2].error_response.error_code, S.NOT_FOUND);
  await d.stop();
}

(async () => {
  for (const test of [calls, waiting, large, health, reflection]) {
    await test();
    console.log('ok', test.name);
  }
})().catch(e => {
  console.error(e);
  process.exit(1);
});
