// Tests what a stock git client may do, what is refused, and the messages that it gets then.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { makeUser, startAppliance } from './appliance.js'
import { askApi, eventually, git, gitEnvironment, remoteUrl, tryGit } from './client.js'
import { makePast } from './past.js'
import { rowsOf } from './rows.js'

const folder = mkdtempSync(join(tmpdir(), 'gitstead-push-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const home = join(folder, 'home')
const ann = await makeUser(home, 'ann')
const bob = await makeUser(home, 'bob')
const appliance = await startAppliance({ home })
t.teardown(() => appliance.stop())
const { url } = appliance

async function newProject(name: string, values: object = {}): Promise<{ id: number; remote: string }> {
  const { json } = await askApi<{ id: number }>({ url, token: ann.private_token }, 'POST', '/projects', {
    name,
    ...values
  })
  return { id: json.id, remote: remoteUrl(url, `ann/${name}`, 'ann', ann.private_token) }
}

const source = join(folder, 'source')
makePast(source, { commits: 400 })
const shared = await newProject('shared', { visibility_level: 20 })
await git(source, ['push', '--quiet', shared.remote, 'refs/heads/*:refs/heads/*', 'refs/tags/*:refs/tags/*'])
const refsAt = (remote: string) => git(folder, ['ls-remote', '--quiet', remote])

t.test('a refused push shows the reason and moves no ref', async t => {
  const before = await refsAt(shared.remote)
  const refused: [string[], RegExp][] = [
    [[':refs/heads/master'], /remote rejected.*the default branch cannot be deleted/],
    [['master:refs/internal/mine'], /remote rejected.*the name is reserved/],
    [['master:refs/pipelines/1'], /remote rejected.*the name is reserved/],
    [['master:refs/heads/fine', ':refs/heads/master'], /another change in this push was refused/]
  ]
  for (const [specs, text] of refused) {
    const { ok, stderr } = await tryGit(source, ['push', shared.remote, ...specs])
    t.notOk(ok, specs.join(' '))
    t.match(stderr, text)
  }
  const asBob = await tryGit(source, ['push', remoteUrl(url, 'ann/shared', 'bob', bob.private_token), 'master:bobs'])
  t.notOk(asBob.ok)
  t.match(asBob.stderr, /403/, 'a user who may only read may not push')
  const anonymous = await tryGit(source, ['push', `${url}/ann/shared.git`, 'master:theirs'])
  t.match(
    anonymous.stderr,
    /could not read Username|Authentication failed/,
    'without credentials, git asks for a username'
  )
  t.equal(await refsAt(shared.remote), before)
})

t.test('only members see a private project', async t => {
  const { remote } = await newProject('secret')
  await git(source, ['push', '--quiet', remote, 'master'])
  const asBob = await tryGit(folder, ['ls-remote', remoteUrl(url, 'ann/secret', 'bob', bob.private_token)])
  t.match(asBob.stderr, /not found/, 'a stranger may not know that it exists')
  const missing = await tryGit(folder, ['ls-remote', remoteUrl(url, 'ann/missing', 'bob', bob.private_token)])
  t.match(missing.stderr, /not found/)
  const wrong = await tryGit(folder, ['ls-remote', remoteUrl(url, 'ann/secret', 'ann', 'wrong')])
  t.match(wrong.stderr, /Authentication failed/)
  for (const path of ['secret', 'missing']) {
    const answer = await fetch(`${url}/ann/${path}.git/info/refs?service=git-upload-pack`)
    t.equal(answer.status, 401)
    t.match(answer.headers.get('www-authenticate'), /^Basic realm=/)
  }
})

t.test('passwords and personal access tokens work for git too', async t => {
  const token = 'personal-access-token-of-ann'
  const hash = createHash('sha256').update(token).digest()
  for (const [scopes, secret] of [
    ['api', token],
    ['read_user', `${token}-2`]
  ] as const) {
    await rowsOf(
      home,
      "insert into access_tokens (token_hash, user_id, kind, scopes, created_at) values (?, ?, 'personal', ?, now())",
      [scopes === 'api' ? hash : createHash('sha256').update(secret).digest(), ann.id, scopes]
    )
  }
  for (const secret of ['password of ann', token]) {
    const remote = remoteUrl(url, 'ann/secret', 'ann', secret)
    t.match(await refsAt(remote), /refs\/heads\/master/)
    t.ok((await tryGit(source, ['push', '--quiet', remote, `master:by-${secret.length}`])).ok)
  }
  const narrow = await tryGit(folder, ['ls-remote', remoteUrl(url, 'ann/secret', 'ann', `${token}-2`)])
  t.match(narrow.stderr, /Authentication failed/, 'a token with another scope does not work')
})

t.test('every protocol version works, also shallow, in chunks and compressed', async t => {
  for (const version of ['0', '1', '2']) {
    const target = join(folder, `clone-${version}`)
    await git(folder, ['-c', `protocol.version=${version}`, 'clone', '--quiet', shared.remote, target])
    t.equal(await git(target, ['rev-parse', 'HEAD']), await git(source, ['rev-parse', 'master']))
    t.equal(await git(target, ['fsck', '--full']), '')
  }
  const shallow = join(folder, 'shallow')
  await git(folder, ['clone', '--quiet', '--depth', '3', shared.remote, shallow])
  t.ok(Number(await git(shallow, ['rev-list', '--count', '--first-parent', 'HEAD'])) <= 3)
  await git(shallow, ['commit', '--quiet', '--allow-empty', '-m', 'from a shallow clone'])
  await git(shallow, ['push', '--quiet', 'origin', 'HEAD:refs/heads/from-shallow'])
  await git(shallow, ['fetch', '--quiet', '--unshallow'])
  t.equal(await git(shallow, ['fsck', '--full']), '')

  const chunked = await newProject('chunked')
  const small = ['-c', 'http.postBuffer=65536', 'push', '--quiet', chunked.remote, 'master', 'side']
  t.ok((await tryGit(source, small)).ok, 'git sends a pack larger than its buffer in chunks')
  const many = join(folder, 'clone-0')
  for (let at = 0; at < 60; at++) await git(many, ['commit', '--quiet', '--allow-empty', '-m', `mine ${at}`])
  await git(source, ['push', '--quiet', shared.remote, 'side:extra'])
  t.ok((await tryGit(many, ['fetch', '--quiet', 'origin'])).ok, 'git sends a long list of commits compressed')
})

t.test('an empty repository, many tags, and forced and deleted branches work', async t => {
  const { remote } = await newProject('empty')
  const clone = join(folder, 'empty-clone')
  await git(folder, ['clone', '--quiet', remote, clone])
  t.same(readdirSync(clone), ['.git'])
  writeFileSync(join(clone, 'file'), 'one')
  await git(clone, ['add', '.'])
  await git(clone, ['commit', '--quiet', '-m', 'one'])
  await git(clone, ['push', '--quiet', 'origin', 'HEAD:main', 'HEAD:work'])
  const head = await git(clone, ['rev-parse', 'HEAD'])
  for (let at = 0; at < 500; at++) {
    mkdirSync(join(clone, '.git/refs/tags'), { recursive: true })
    writeFileSync(join(clone, '.git/refs/tags', `t-${at}`), `${head}\n`)
  }
  await git(clone, ['push', '--quiet', 'origin', '--tags'])
  t.equal((await refsAt(remote)).split('\n').filter(line => line.includes('refs/tags/')).length, 500)
  await git(clone, ['commit', '--quiet', '--amend', '-m', 'two'])
  t.match((await tryGit(clone, ['push', 'origin', 'HEAD:work'])).stderr, /non-fast-forward|rejected/)
  await git(clone, ['push', '--quiet', '--force', 'origin', 'HEAD:work'])
  t.match(await refsAt(remote), new RegExp(`${await git(clone, ['rev-parse', 'HEAD'])}\trefs/heads/work`))
  await git(clone, ['push', '--quiet', 'origin', ':work'])
  t.notMatch(await refsAt(remote), /refs\/heads\/work/)
  await eventually(async () => {
    const [left] = await rowsOf<{ open: number }>(home, "select count(*) as open from ref_changes where state = 'open'")
    return left?.open === 0
  })
})

t.test('an interrupted push moves no ref', async t => {
  const { id, remote } = await newProject('cut')
  const next = await git(source, ['rev-parse', 'master'])
  const line = `${'0'.repeat(40)} ${next} refs/heads/master\0 report-status side-band-64k agent=git/2\n`
  const head = `${(line.length + 4).toString(16).padStart(4, '0')}${line}0000`
  const packing = { cwd: source, env: gitEnvironment, input: next, maxBuffer: 1 << 28 }
  const pack = execFileSync('git', ['pack-objects', '--quiet', '--revs', '--stdout'], packing)
  const sending = request(`${url}/ann/cut.git/git-receive-pack`, {
    method: 'POST',
    auth: `ann:${ann.private_token}`,
    headers: { 'content-type': 'application/x-git-receive-pack-request', 'content-length': head.length + pack.length }
  })
  sending.on('error', () => undefined)
  await new Promise(resolve =>
    sending.write(Buffer.concat([Buffer.from(head), pack.subarray(0, pack.length / 2)]), resolve)
  )
  const closed = new Promise<void>(resolve => sending.once('close', () => resolve()))
  sending.destroy()
  await closed
  await eventually(async () => (await openChangesOf(id)) === 0)
  t.equal(await refsAt(remote), '')
  t.same(await rowsOf(home, `select id from ref_changes where project_id = ${id}`), [], 'no row records the push')
  t.ok((await tryGit(source, ['push', '--quiet', remote, 'master'])).ok, 'the next push is accepted')
})

t.test('the answer to a push names the pipeline, or the error in the CI file', async t => {
  const { remote } = await newProject('answers')
  const clone = join(folder, 'answers')
  await git(folder, ['init', '--quiet', '--initial-branch=master', clone])
  const push = async (ci: string, message = 'change') => {
    writeFileSync(join(clone, '.gitstead-ci.yml'), ci)
    await git(clone, ['add', '.'])
    await git(clone, ['commit', '--quiet', '--allow-empty', '-m', message])
    const { ok, stderr } = await tryGit(clone, ['push', remote, 'HEAD:master'])
    t.ok(ok, stderr)
    return stderr
  }
  const good = 'test:\n  script: echo\n'
  // An answer does not wait for a busy worker.
  const said = await eventually(async () => {
    const said = await push(good)
    t.match(said, /^remote: (?:pipeline \d+ created|master: a pipeline will be created in a moment)/m)
    return /pipeline \d+ created/.test(said) && said
  })
  const number = /^remote: pipeline (\d+) created *$/m.exec(said)?.[1]
  const shown = /^remote: +http:\/\/[^/]+(\/\S+\/pipelines\/\d+) *$/m.exec(said)?.[1]
  t.equal(shown, `${new URL(remote).pathname.replace(/\.git$/, '')}/pipelines/${number}`)
  t.match(
    await push('test:\n  skript: echo\n'),
    /^remote: master: no builds, because \.gitstead-ci\.yml has errors: *\nremote: +\S+/m
  )
  t.match(await push(good, 'later [ci skip]'), /^remote: master: no builds, because the commit message asks/m)
  t.notMatch(await push('test:\n  script: echo\n  only: [tags]\n'), /^remote:/m)
})

async function openChangesOf(project: number): Promise<number> {
  const sql = `select count(*) as open from ref_changes where state = 'open' and project_id = ${project}`
  return (await rowsOf<{ open: number }>(home, sql))[0]?.open ?? 0
}
