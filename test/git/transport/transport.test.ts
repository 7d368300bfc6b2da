// Runs standard git clients against a plain HTTP server, and sends requests that are cut off.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { slotCounts } from '../../../src/git/process/slots.js'
import { refValue, ZERO } from '../../../src/git/refs/refs.js'
import { closeGitProcesses } from '../../../src/git/repository/processes.js'
import { FLUSH, pktLine } from '../../../src/git/transport/pkt-line.js'
import { type PushResult, readPushCommands, receivePack, refusePush } from '../../../src/git/transport/receive.js'
import { spoolRequest } from '../../../src/git/transport/request-spool.js'
import { advertise, type Service, uploadPack } from '../../../src/git/transport/transport.js'
import t, { type Test } from '../../helpers/tap.js'
import { until } from '../../helpers/until.js'
import { environment, git, repositoryWith } from '../history.js'

t.teardown(() => closeGitProcesses())

type Host = {
  repository: string
  url: string
  refuse: Map<string, string>
  /** Whether small pushes may be received without git. */
  small: boolean
  /** Shown to the user after a push. */
  lines: string[]
  results: PushResult[][]
  /** Runs between git's end and the report to the client. */
  hold: () => Promise<void>
  /** Resolves with the results of the next push, even when it fails. */
  nextPush: () => Promise<PushResult[]>
}

async function serve(t: Test, count = 0): Promise<Host> {
  const waiting: ((results: PushResult[]) => void)[] = []
  const host: Host = {
    repository: await repositoryWith(t, count),
    url: '',
    refuse: new Map(),
    small: false,
    lines: [],
    results: [],
    hold: async () => {},
    nextPush: () => new Promise(resolve => waiting.push(resolve))
  }
  const server = createServer((req, res) => {
    answer(host, waiting, req, res).catch(() => res.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  host.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/one.git`
  return host
}

async function answer(
  host: Host,
  waiting: ((results: PushResult[]) => void)[],
  req: IncomingMessage,
  res: ServerResponse
) {
  const url = new URL(req.url ?? '', 'http://x')
  const protocol = String(req.headers['git-protocol'] ?? '')
  const service = (url.searchParams.get('service') ?? url.pathname.split('/').at(-1)) as Service
  const kind = url.pathname.endsWith('info/refs') ? 'advertisement' : 'result'
  res.setHeader('content-type', `application/x-${service}-${kind}`)
  if (kind === 'advertisement') return await pipeline(await advertise(host.repository, service, { protocol }), res)
  const input = req.headers['content-encoding'] === 'gzip' ? pipelineInto(req) : req
  if (service === 'git-upload-pack') {
    const request = await spoolRequest(input, 10_000_000, 'too large')
    return await pipeline(await uploadPack(host.repository, request, { protocol }), res)
  }
  const { commands, capabilities, packAt, rest } = await readPushCommands(input)
  if (commands.some(({ ref }) => host.refuse.has(ref))) {
    return res.end(await refusePush({ commands, capabilities, reasons: host.refuse, input: rest }))
  }
  const beforeReport = async (results: PushResult[]) => {
    host.results.push(results)
    await host.hold()
    waiting.shift()?.(results)
    return host.lines
  }
  const push = { commands, capabilities, beforeReport }
  if (host.small) {
    const body = await buffer(rest)
    const both = { ...push, small: { body, packAt }, input: () => Readable.from([body]) }
    return await pipeline((await receivePack(host.repository, both)).output, res)
  }
  const { output } = await receivePack(host.repository, { ...push, input: () => rest })
  await pipeline(output, res)
}

function pipelineInto(req: IncomingMessage): Readable {
  const gunzip = createGunzip()
  pipeline(req, gunzip).catch(() => {})
  return gunzip
}

async function client(cwd: string, ...args: string[]): Promise<{ code: number; text: string }> {
  const child: ChildProcess = spawn('git', args, { cwd, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  const text: string[] = []
  child.stdout?.on('data', chunk => text.push(String(chunk)))
  child.stderr?.on('data', chunk => text.push(String(chunk)))
  const [code] = await once(child, 'close')
  return { code, text: text.join('') }
}

async function workTree(t: Test, host: Host): Promise<string> {
  const folder = join(t.testdirName, 'work')
  mkdirSync(folder, { recursive: true })
  git(folder, ['init', '-q', '-b', 'master'])
  git(folder, ['remote', 'add', 'origin', host.url])
  change(folder, 'README')
  return folder
}

function change(folder: string, name: string, content: string | Buffer = name): string {
  writeFileSync(join(folder, name), content)
  git(folder, ['add', '.'])
  git(folder, ['commit', '-q', '-m', name])
  return git(folder, ['rev-parse', 'HEAD'])
}

t.test('a client clones and fetches with every protocol version, including shallow and partial', async t => {
  const host = await serve(t, 200)
  git(host.repository, ['update-ref', 'refs/pipelines/7', 'master'])
  const head = git(host.repository, ['rev-parse', 'master'])
  const folder = t.testdirName
  for (const version of ['0', '1', '2']) {
    const into = `v${version}`
    const done = await client(folder, '-c', `protocol.version=${version}`, 'clone', '-q', host.url, into)
    t.equal(done.code, 0, done.text)
    t.equal(git(join(folder, into), ['rev-parse', 'HEAD']), head)
    const listed = await client(folder, '-c', `protocol.version=${version}`, 'ls-remote', host.url)
    t.match(listed.text, /refs\/heads\/side/)
    t.notMatch(listed.text, /pipelines/)
  }
  t.equal((await client(folder, 'clone', '-q', '--depth', '3', host.url, 'shallow')).code, 0)
  t.equal((await client(folder, 'clone', '-q', '--no-checkout', '--filter=blob:none', host.url, 'partial')).code, 0)
  git(host.repository, ['branch', 'later', 'master~2'])
  t.equal((await client(join(folder, 'v2'), 'fetch', '-q', 'origin', 'later')).code, 0)
  t.match(await client(folder, 'ls-remote', host.url), { code: 0, text: /refs\/heads\/later/ })
})

for (const small of [false, true])
  t.test(`a client pushes${small ? ' without git' : ''}`, t => pushEverything(t, small))

/** Creates, moves, forces and deletes branches, several at once, and pushes tags. */
async function pushEverything(t: Test, small: boolean) {
  const host = await serve(t)
  host.small = small
  const folder = await workTree(t, host)
  const one = git(folder, ['rev-parse', 'HEAD'])
  t.match(await client(folder, 'push', 'origin', 'master'), { code: 0, text: /\[new branch\]/ })
  t.same(host.results.at(-1), [{ ref: 'refs/heads/master', ok: true, reason: null }])
  const two = change(folder, 'big', Buffer.alloc(3_000_000, Math.random().toString()))
  git(folder, ['tag', '-a', '-m', 'x', 'v1'])
  t.equal((await client(folder, 'push', '-q', '--follow-tags', 'origin', 'master', 'master:refs/heads/äö')).code, 0)
  t.same(
    host.results
      .at(-1)
      ?.map(({ ref, ok }) => `${ref} ${ok}`)
      .sort(),
    ['refs/heads/master true', 'refs/heads/äö true', 'refs/tags/v1 true']
  )
  t.equal(await refValue(host.repository, 'refs/heads/master'), two)
  t.equal((await client(folder, 'push', '-q', '-f', 'origin', `${one}:master`)).code, 0)
  t.equal(await refValue(host.repository, 'refs/heads/master'), one)
  t.equal((await client(folder, 'push', '-q', 'origin', ':master')).code, 0)
  t.equal(await refValue(host.repository, 'refs/heads/master'), null)
  t.match(await client(folder, 'push', 'origin', 'master:refs/pipelines/1'), {
    code: 1,
    text: /remote rejected.*hidden ref/
  })
  t.match(host.results.at(-1), [{ ref: 'refs/pipelines/1', ok: false, reason: /hidden ref/ }])
  t.match(await client(folder, 'push', 'origin', 'master:refs/heads/refs/heads/x'), { code: 1 })
}

t.test('a refused push shows its reason, with and without sidebands', async t => {
  const host = await serve(t)
  const folder = await workTree(t, host)
  host.refuse.set('refs/heads/master', 'this branch is\nprotected')
  const refused = await client(folder, 'push', 'origin', 'master', 'master:other')
  t.equal(refused.code, 1)
  t.match(refused.text, /! \[remote rejected\] +master -> master \(this branch is protected\)/)
  t.match(refused.text, /! \[remote rejected\] +master -> other \(another change/)
  t.equal(await refValue(host.repository, 'refs/heads/other'), null)
  t.same(host.results, [])
  const commands = [{ old: ZERO, new: 'a'.repeat(40), ref: 'refs/heads/master' }]
  const plain = await refusePush({ commands, capabilities: ['report-status'], reasons: host.refuse })
  t.equal(plain.toString(), '000eunpack ok\n0032ng refs/heads/master this branch is protected\n0000')
  t.equal((await refusePush({ commands, capabilities: [], reasons: host.refuse })).toString(), '0000')
})

t.test('a name that is not UTF-8 is refused with its original bytes, so that git shows the reason', async t => {
  const host = await serve(t)
  const folder = await workTree(t, host)
  host.refuse.set('refs/heads/br\ufffd', 'the name is not UTF-8')
  git(folder, ['commit', '-q', '--allow-empty', '-m', 'one'])
  const push = `git push origin "HEAD:refs/heads/$(printf 'br\\351')" HEAD:refs/heads/other`
  const child = spawn('sh', ['-c', push], { cwd: folder, env: environment, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', chunk => (said += String(chunk)))
  t.equal((await once(child, 'close'))[0], 1)
  t.match(said, /br.+ \(the name is not UTF-8\)/)
  t.match(said, /other \(another change in this push was refused\)/)
})

t.test("git's own check refuses a broken object", async t => {
  const host = await serve(t)
  const folder = await workTree(t, host)
  const blob = git(folder, ['hash-object', '-w', '--stdin'], '[submodule "x"]\n\turl = -ufoo\n\tpath = x\n')
  const tree = git(folder, ['mktree'], `100644 blob ${blob}\t.gitmodules\n`)
  const bad = git(folder, ['commit-tree', '-m', 'bad', tree])
  for (const small of [false, true]) {
    host.small = small
    t.match(await client(folder, 'push', 'origin', `${bad}:refs/heads/bad`), { code: 1, text: /unpacker error/ })
    t.match(host.results.at(-1), [{ ref: 'refs/heads/bad', ok: false, reason: /unpacker error/ }])
  }
})

t.test('the client gets no report of success before the effects are recorded', async t => {
  const host = await serve(t)
  const folder = await workTree(t, host)
  let ended = false
  host.hold = async () => {
    t.equal(await refValue(host.repository, 'refs/heads/master'), git(folder, ['rev-parse', 'HEAD']))
    t.equal(slotCounts().running, 0, 'the slot is free')
    for (let turn = 0; turn < 20; turn++) await new Promise(resolve => setTimeout(resolve, 5))
    t.equal(ended, false)
  }
  const push = client(folder, 'push', 'origin', 'master')
  void push.then(() => {
    ended = true
  })
  t.equal((await push).code, 0)
  host.hold = async () => {
    throw new Error('the database is away')
  }
  change(folder, 'next')
  t.not((await client(folder, 'push', 'origin', 'master')).code, 0, 'no report when the effects could not be recorded')
})

/** Returns the body of a push of one commit, as a client would send it. */
function pushBody(folder: string, id: string, capabilities = 'report-status side-band-64k'): Buffer {
  return Buffer.concat([pktLine(`${ZERO} ${id} refs/heads/cut\0 ${capabilities}\n`), FLUSH, packOf(folder, id)])
}

function packOf(folder: string, id: string): Buffer {
  const name = git(folder, ['pack-objects', '-q', '--revs', '../pack'], `${id}\n`)
  return readFileSync(join(folder, '..', `pack-${name}.pack`))
}

t.test('a push that is cut off at any place changes no ref', async t => {
  const host = await serve(t)
  const folder = await workTree(t, host)
  const id = change(folder, 'big', Buffer.from(Array.from({ length: 100_000 }, () => Math.random() * 256)))
  const body = pushBody(folder, id)
  const headSize = body.indexOf('PACK')
  for (const size of [10, headSize - 2, headSize, headSize + 20, body.length >> 1, body.length - 10]) {
    const ended = size < headSize ? null : host.nextPush()
    const outgoing = request(`${host.url}/git-receive-pack`, {
      method: 'POST',
      headers: { 'content-length': body.length }
    })
    outgoing.on('error', () => {})
    await new Promise(resolve => outgoing.write(body.subarray(0, size), resolve))
    // With complete commands, git runs until the client leaves.
    if (ended) await until('git has begun', () => slotCounts().running === 1)
    outgoing.destroy()
    if (ended) t.match(await ended, [{ ref: 'refs/heads/cut', ok: false }], `cut at ${size}`)
    t.equal(await refValue(host.repository, 'refs/heads/cut'), null)
  }
  t.equal(slotCounts().running, 0)
  t.same(
    readdirSync(join(host.repository, 'objects')).filter(
      name => name.startsWith('tmp_') || name.startsWith('incoming')
    ),
    []
  )
  const results: PushResult[][] = []
  const whole = await readPushCommands(Readable.from(Array.from(body, byte => Buffer.from([byte]))))
  t.same(whole.commands, [{ old: ZERO, new: id, ref: 'refs/heads/cut' }])
  const { output, done } = await receivePack(host.repository, {
    ...whole,
    input: () => whole.rest,
    beforeReport: async result => {
      results.push(result)
      return []
    }
  })
  t.match((await buffer(output)).toString('latin1'), /unpack ok\n[^/]*ok refs\/heads\/cut/)
  t.same([await done], results)
  t.equal(await refValue(host.repository, 'refs/heads/cut'), id)
})

t.test('the process ends when a client leaves during a clone', async t => {
  const host = await serve(t)
  const folder = await workTree(t, host)
  const id = change(folder, 'big', Buffer.from(Array.from({ length: 1_000_000 }, () => Math.random() * 256)))
  await client(folder, 'push', '-q', 'origin', 'master')
  const body = Buffer.concat([pktLine(`want ${id} side-band-64k ofs-delta\n`), FLUSH, pktLine('done\n')])
  const input = await spoolRequest(Readable.from([body]), body.length, 'too large')
  const output = Readable.from(await uploadPack(host.repository, input))
  await once(output, 'readable')
  t.equal(slotCounts().running, 1)
  output.destroy()
  await until('git has ended', () => slotCounts().running === 0)
  await advertise(host.repository, 'git-upload-pack')
  await until('git has ended', () => slotCounts().running === 0)
})

t.test('input that is not the git protocol is refused', async t => {
  const line = `${ZERO} ${'a'.repeat(40)} refs/heads/x`
  const wrong = [
    '',
    'GET /',
    '0003',
    'fff5',
    'zzzz',
    '0005a0000',
    `${pktLine('push-cert x\n')}0000`,
    String(pktLine(line))
  ]
  for (const text of wrong)
    await t.rejects(readPushCommands(Readable.from([Buffer.from(text)])), { name: 'BadProtocol' }, text)
  const many = Readable.from(Array.from({ length: 10_001 }, () => pktLine(line)))
  await t.rejects(readPushCommands(many), { name: 'TooLarge', message: /at most 10,000 refs/ })
  t.match(await readPushCommands(Readable.from([FLUSH])), { commands: [], capabilities: [] })
  const shallow = [pktLine(`shallow ${'b'.repeat(40)}\n`), pktLine(`${line}\0 report-status agent=x\n`), FLUSH]
  t.match(await readPushCommands(Readable.from(shallow)), {
    shallow: ['b'.repeat(40)],
    capabilities: ['report-status', 'agent=x']
  })
})
