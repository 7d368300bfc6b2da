// Makes a backup while users push and write, restores it into another home, and uses the copy as users would.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { repositoryPath } from '../../src/areas/projects/projects/repositories.js'
import { loadConfig } from '../../src/config.js'
import { gitstead, makeUser, startAppliance } from './appliance.js'
import { askApi, eventually, git, remoteUrl, tryGit } from './client.js'
import { rowsOf } from './rows.js'

const folder = mkdtempSync(join(tmpdir(), 'gitstead-backup-'))
const home = join(folder, 'home')
const ann = await makeUser(home, 'ann', ['--admin'])
const appliance = await startAppliance({ home })
t.teardown(async () => {
  await appliance.stop()
  rmSync(folder, { recursive: true, force: true })
})
const { url } = appliance
const asAnn = { url, token: ann.private_token }

interface Pushed {
  readonly id: number
  readonly clone: string
  readonly remote: string
}

async function makeProject(name: string): Promise<Pushed> {
  const { json } = await askApi<{ id: number }>(asAnn, 'POST', '/projects', { name, visibility_level: 20 })
  const clone = join(folder, `clone-${name}`)
  mkdirSync(clone)
  const remote = remoteUrl(url, `ann/${name}`, 'ann', ann.private_token)
  await git(clone, ['init', '--quiet', '--initial-branch=master'])
  await commit(clone, 'begin')
  await git(clone, ['push', '--quiet', remote, 'master'])
  // Its history is rewritten later.
  await askApi(asAnn, 'PUT', `/projects/${json.id}/repository/branches/master/unprotect`)
  return { id: json.id, clone, remote }
}

async function commit(clone: string, word: string): Promise<void> {
  writeFileSync(join(clone, 'file'), `${word} ${Math.random()}\n`)
  await git(clone, ['add', 'file'])
  await git(clone, ['commit', '--quiet', '-m', word])
}

const projects = await Promise.all(['one', 'two', 'three'].map(makeProject))
const traffic = { on: true, pushes: 0, writes: 0 }

/** Pushes commits, creates and deletes branches, and forces pushes, until the traffic ends. */
async function push({ clone, remote }: Pushed): Promise<void> {
  for (let round = 0; traffic.on; round++) {
    await commit(clone, `round ${round}`)
    const specs = [
      'master',
      `master:refs/heads/topic-${round}`,
      `+master:refs/heads/forced`,
      `master:refs/tags/t${round}`
    ]
    if (round > 2) specs.push(`:refs/heads/topic-${round - 2}`)
    if (round % 3 === 2) await git(clone, ['commit', '--quiet', '--amend', '-m', 'rewritten'])
    const { ok, stderr } = await tryGit(clone, ['push', '--quiet', '--force', remote, ...specs])
    if (!ok) throw new Error(stderr)
    traffic.pushes += 1
  }
}

/** Changes files and projects with the API, until the traffic ends. */
async function write(): Promise<void> {
  const { json } = await askApi<{ id: number }>(asAnn, 'POST', '/projects', { name: 'written' })
  for (let round = 0; traffic.on; round++) {
    const body = {
      file_path: `f${round}`,
      branch_name: 'master',
      content: `${round}`,
      commit_message: `write ${round}`
    }
    const { status } = await askApi(asAnn, 'POST', `/projects/${json.id}/repository/files`, body)
    if (status !== 201) throw new Error(`the files API answers ${status}`)
    if (round % 5 === 0) await askApi(asAnn, 'POST', '/projects', { name: `written-${round}` })
    traffic.writes += 1
  }
}

interface RefRow {
  readonly project_id: number
  readonly ref: string
  readonly new_id: string
}

const LAST = `select c.project_id, c.ref, c.new_id from ref_changes c join (select max(id) as id from ref_changes
  where state = 'done' group by project_id, ref) last on last.id = c.id`

t.test('a restored copy has exactly the refs of its rows', async t => {
  const busy = Promise.all([...projects.map(push), write()])
  const secrets = join(folder, 'secrets.json')
  const create = () => gitstead(['backup', 'create', '--home', home, '--secrets-to', secrets, '--json'])
  const backups: { id: string; previous: string | null; path: string }[] = []
  for (let count = 0; count < 3; count++) {
    const [pushes, writes] = [traffic.pushes, traffic.writes]
    await eventually(() => traffic.pushes > pushes + 2 && traffic.writes > writes + 5)
    const { code, stdout, stderr } = await create()
    t.equal(code, 0, stderr)
    t.equal(stderr, '', 'no progress bar without a terminal')
    backups.push(JSON.parse(stdout))
  }
  traffic.on = false
  await busy
  t.same(
    backups.map(({ previous }) => previous),
    [null, backups[0]?.id, backups[1]?.id]
  )
  const last = backups.at(-1)?.path ?? ''

  const verified = await gitstead(['backup', 'verify', last, '--home', home, '--json'])
  t.match(JSON.parse(verified.stdout), { ok: true, problems: [], notes: [] })
  t.equal(verified.code, 0)

  const copy = join(folder, 'copy')
  const restored = await gitstead(['restore', last, '--into', copy, '--secrets', secrets, '--json'])
  t.equal(restored.code, 0, restored.stderr)
  const other = await startAppliance({ home: copy })
  t.teardown(() => other.stop())
  t.test('refs, clones, sign-in and tokens work in the copy', async t => {
    // The start of the copy settles the ref changes that were open at the snapshot.
    await eventually(async () => (await rowsOf(copy, "select 1 from ref_changes where state = 'open'")).length === 0)
    const rows = await rowsOf<RefRow>(copy, LAST)
    loadConfig({ home: copy })
    for (const { id, storage } of await rowsOf<{ id: number; storage: string }>(
      copy,
      'select id, storage from projects'
    )) {
      const said = rows.filter(row => row.project_id === id && !/^0+$/.test(row.new_id))
      const repository = repositoryPath({ id, storage })
      const found = await git(folder, ['--git-dir', repository, 'for-each-ref', '--format=%(refname) %(objectname)'])
      t.same(found.split('\n').filter(Boolean).sort(), said.map(({ ref, new_id }) => `${ref} ${new_id}`).sort())
      t.equal(await git(folder, ['--git-dir', repository, 'fsck', '--no-dangling', '--no-progress']), '')
    }
    for (const [at, name] of ['one', 'two', 'three'].entries()) {
      const target = join(folder, `again-${at}`)
      await git(folder, ['clone', '--quiet', remoteUrl(other.url, `ann/${name}`, 'ann', ann.private_token), target])
      await commit(target, 'after the restore')
      await git(target, ['push', '--quiet', 'origin', 'master'])
    }
    const session = await askApi<{ username: string }>({ url: other.url }, 'POST', '/session', {
      login: 'ann',
      password: 'password of ann'
    })
    t.equal(session.status, 201)
    const mine = await askApi<{ username: string }>({ url: other.url, token: ann.private_token }, 'GET', '/user')
    t.match(mine.json, { username: 'ann' })
    const project = await askApi<{ runners_token: string }>(
      { url: other.url, token: ann.private_token },
      'GET',
      `/projects/${projects[0]?.id}`
    )
    const original = await askApi<{ runners_token: string }>(asAnn, 'GET', `/projects/${projects[0]?.id}`)
    t.equal(project.json.runners_token, original.json.runners_token, 'the secrets decrypt the values')
  })
})
