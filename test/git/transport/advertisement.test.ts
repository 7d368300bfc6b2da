// Advertisements that this server writes from the refs are identical to those of git, byte for byte.
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { slotCounts } from '../../../src/git/process/slots.js'
import { listEveryRef } from '../../../src/git/refs/list.js'
import { closeGitProcesses } from '../../../src/git/repository/processes.js'
import { parseLsRefs } from '../../../src/git/transport/advertisement.js'
import { pktLine } from '../../../src/git/transport/pkt-line.js'
import { spoolRequest } from '../../../src/git/transport/request-spool.js'
import { advertise, type Output, uploadPack } from '../../../src/git/transport/transport.js'
import t, { type Test } from '../../helpers/tap.js'
import { environment, git, repositoryWith } from '../history.js'

const bytesOf = (output: Output) => buffer(Readable.from(output))

t.teardown(() => closeGitProcesses())

type Change = (path: string) => void
const head = (path: string) => git(path, ['rev-parse', 'master'])

/** Each change is made to the same repository, after the ones before it. */
const CHANGES: readonly (readonly [name: string, change: Change])[] = [
  ['as it was created', () => {}],
  ['a loose branch and a branch in folders', path => git(path, ['branch', 'deep/er/branch', 'side'])],
  ['hidden refs', path => git(path, ['update-ref', 'refs/internal/keep/1', 'master'])],
  ['a hidden name of a branch', path => git(path, ['update-ref', 'refs/heads/refs/heads/x', 'master'])],
  ['other kinds of refs', path => git(path, ['update-ref', 'refs/notes/commits', 'side'])],
  ['a tag of a tag', path => git(path, ['tag', '-a', '-m', 'x', 'twice', 'v1.0'])],
  ['a tag of a tree', path => git(path, ['tag', '-a', '-m', 'x', 'tree', 'master^{tree}'])],
  ['a branch that is a blob', path => git(path, ['update-ref', 'refs/odd/blob', 'master:empty'])],
  ['names that are not ASCII', path => git(path, ['update-ref', 'refs/heads/äö', 'master'])],
  ['everything packed', path => git(path, ['pack-refs', '--all'])],
  ['a packed ref that moved', path => git(path, ['update-ref', 'refs/heads/side', 'master~1'])],
  ['a packed tag that is deleted', path => git(path, ['tag', '-d', 'twice'])],
  ['a loose tag over a packed one', path => git(path, ['tag', '-f', '-a', '-m', 'again', 'v1.0', 'side'])],
  [
    'packed without the targets of tags',
    path => {
      git(path, ['pack-refs', '--all'])
      const file = join(path, 'packed-refs')
      const lines = readFileSync(file, 'latin1').split('\n')
      const plain = lines.filter(line => !line.startsWith('^')).map(line => line.replace(/with:.*/, 'with: sorted '))
      writeFileSync(file, plain.join('\n'), 'latin1')
    }
  ],
  ['a symbolic ref other than HEAD', path => git(path, ['symbolic-ref', 'refs/remotes/o/HEAD', 'refs/heads/side'])],
  ['without it', path => git(path, ['symbolic-ref', '-d', 'refs/remotes/o/HEAD'])],
  ['a damaged ref', path => writeFileSync(join(path, 'refs/heads/broken'), 'nothing\n')],
  ['a ref to a missing object', path => writeFileSync(join(path, 'refs/heads/broken'), `${'b'.repeat(40)}\n`)],
  ['a lock', path => writeFileSync(join(path, 'refs/heads/broken'), `${head(path)}\n`)],
  ['a stale lock', path => writeFileSync(join(path, 'refs/heads/broken.lock'), '')],
  ['an unborn HEAD', path => git(path, ['symbolic-ref', 'HEAD', 'refs/heads/none'])],
  ['a detached HEAD', path => writeFileSync(join(path, 'HEAD'), `${head(path)}\n`)],
  ['HEAD in a folder', path => git(path, ['symbolic-ref', 'HEAD', 'refs/heads/deep/er/branch'])],
  ['an empty folder', path => mkdirSync(join(path, 'refs/heads/empty/folder'), { recursive: true })]
]

const SERVICES = [
  ['git-upload-pack', undefined],
  ['git-upload-pack', 'version=1'],
  ['git-upload-pack', 'version=2'],
  ['git-receive-pack', undefined]
] as const

const list = (...args: string[]) => {
  const lines = args.length === 0 ? [] : [Buffer.from('0001'), ...args.map(arg => pktLine(`${arg}\n`))]
  const first = [pktLine('command=ls-refs\n'), pktLine('agent=git/2.39.5'), pktLine('object-format=sha1')]
  return Buffer.concat([...first, ...lines, Buffer.from('0000')])
}

const REQUESTS = [
  list(),
  list('peel', 'symrefs', 'unborn', 'ref-prefix HEAD', 'ref-prefix refs/heads/', 'ref-prefix refs/tags/'),
  list('peel', 'symrefs'),
  list('symrefs', 'ref-prefix HEAD'),
  list('unborn', 'symrefs', 'ref-prefix refs/heads/deep'),
  list('peel', 'ref-prefix refs/tags/'),
  list(...Array.from({ length: 100 }, (_, at) => `ref-prefix refs/heads/${at}`), 'ref-prefix refs/heads/d')
]

function gitSays(path: string, args: string[], protocol: string | undefined, input: string | Buffer = ''): string {
  const options = ['safe.directory=*', 'uploadpack.allowAnySHA1InWant=true', 'receive.advertisePushOptions=true']
  const settings = options.flatMap(option => ['-c', option])
  const env = { ...environment, ...(protocol && { GIT_PROTOCOL: protocol }) }
  return execFileSync('git', [...settings, ...args, path], { env, input, stdio: 'pipe' }).toString('latin1')
}

async function check(t: Test, path: string, name: string) {
  for (const [service, protocol] of SERVICES) {
    const own = (await bytesOf(await advertise(path, service, { protocol }))).toString('latin1')
    const said = gitSays(path, [service.slice(4), '--stateless-rpc', '--advertise-refs'], protocol)
    const first = protocol === 'version=2' ? '' : `${pktLine(`# service=${service}\n`)}0000`
    t.equal(own, first + said, `${name}: ${service} ${protocol ?? ''}`)
  }
  for (const [index, request] of REQUESTS.entries()) {
    const input = await spoolRequest(Readable.from([request]), 65_536, 'too large')
    const own = (await bytesOf(await uploadPack(path, input, { protocol: 'version=2' }))).toString('latin1')
    t.equal(own, gitSays(path, ['upload-pack', '--stateless-rpc'], 'version=2', request), `${name}: ls-refs ${index}`)
  }
}

t.test('every state of a repository is advertised as git does', async t => {
  const path = await repositoryWith(t, 60)
  for (const [name, change] of CHANGES) {
    change(path)
    await check(t, path, name)
  }
})

t.test('an empty repository is advertised as git does', async t => {
  const path = await repositoryWith(t)
  await check(t, path, 'empty')
  git(path, ['update-ref', 'refs/internal/1', git(path, ['hash-object', '-w', '--stdin'], 'x')])
  await check(t, path, 'only a hidden ref')
})

t.test('a known list is not read again, and every change is noticed', async t => {
  const path = await repositoryWith(t, 60)
  const old = new Date(Date.now() - 3_600_000)
  const first = await listEveryRef(path)
  // Change times cannot be set back, so a folder counts as settled two seconds after its last change at the earliest.
  t.not((await listEveryRef(path))?.refs, first?.refs, 'a folder that has just changed is read again')
  for (let at = 0; at < 50; at++) {
    git(path, ['update-ref', 'refs/heads/side', at % 2 === 0 ? 'master' : 'master~1'])
    utimesSync(join(path, 'refs/heads'), old, old)
    const found = (await listEveryRef(path))?.refs.find(({ name }) => name === 'refs/heads/side')
    t.equal(found?.id, git(path, ['rev-parse', 'refs/heads/side']))
  }
})

t.test('after the first time neither a process nor a slot is used', async t => {
  const path = await repositoryWith(t, 60)
  await bytesOf(await advertise(path, 'git-upload-pack'))
  const output = await advertise(path, 'git-upload-pack')
  t.equal(slotCounts().running, 0)
  await bytesOf(output)
  // With this line, git can no longer read the configuration.
  appendFileSync(join(path, 'config'), '[broken\n')
  t.match((await bytesOf(await advertise(path, 'git-receive-pack'))).toString(), /refs\/heads\/side/)
})

t.test('only a plain request for refs is answered without git', async t => {
  t.match(parseLsRefs(REQUESTS[1] as Buffer), { peel: true, symrefs: true, unborn: true })
  const others = [
    '',
    '0000',
    'garbage',
    list('surprise').toString(),
    list('peel').toString().slice(0, -4),
    `${list('peel')}0000`,
    list('peel').toString().replace('ls-refs', 'ls-reps'),
    list('peel').toString().replace('sha1', 'sha9')
  ]
  for (const text of others) t.equal(parseLsRefs(Buffer.from(text)), null, text)
})
