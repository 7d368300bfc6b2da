// Projects from bare repositories in a folder that anybody may have filled.
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { importFolder } from '../../../../src/areas/upkeep/project-archives/import-folder.js'
import { config } from '../../../../src/config.js'
import { environment } from '../../../git/history.js'
import { testApp } from '../../../helpers/app.js'
import { cli } from '../../../helpers/cli.js'
import { someOrigin } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'
import { hashOf } from '../../../server/lfs/client.js'
import { lfsContents, pointerOf } from '../../projects/lfs/pointer-files.js'

const app = await testApp(t)
const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', args, { cwd, env: { ...environment }, stdio: 'pipe' })
    .toString()
    .trim()

/** Makes a bare repository with two branches and a tag. */
function makeBare(path: string): void {
  mkdirSync(path, { recursive: true })
  git(path, 'init', '--quiet', '--bare', '--initial-branch=main')
  const tree = git(path, 'mktree', '--missing')
  const commit = git(path, 'commit-tree', '-m', 'Begin', tree)
  git(path, 'update-ref', 'refs/heads/main', commit)
  git(path, 'update-ref', 'refs/heads/other', commit)
  git(path, 'tag', '-a', '-m', 'First', 'v1', commit)
  git(path, 'update-ref', 'refs/pull/1/head', commit)
}

async function run(folder: string, namespace: string, dryRun = false) {
  const refused: Record<string, string> = {}
  const outcomes: string[] = []
  const options = {
    namespace,
    visibility: 10 as const,
    dryRun,
    signal: new AbortController().signal,
    refuse: (repository: string, error: string) => {
      refused[repository] = error
    },
    done: (outcome: string, project: string) => outcomes.push(`${outcome} ${project}`)
  }
  await importFolder(folder, options, someOrigin)
  return { refused, outcomes }
}

t.test('every bare repository becomes a project, and nothing outside of the folder is read', async t => {
  const user = await app.make.user()
  const root = t.testdir()
  const folder = join(root, 'git')
  const outside = join(root, 'outside.git')
  makeBare(outside)
  for (const name of [
    'a',
    'team/deep/b',
    'z/a',
    'shallow',
    'borrows',
    'linked-ref',
    'linked-object',
    'cut',
    'bad name'
  ])
    makeBare(join(folder, `${name}.git`))
  // A repository whose hooks and configuration start programs.
  const a = join(folder, 'a.git')
  git(a, 'gc', '--quiet')
  const evil = join(root, 'evil')
  const marker = join(root, 'marker')
  writeFileSync(evil, `#!/bin/sh\ntouch ${marker}\n`)
  chmodSync(evil, 0o755)
  for (const hook of ['post-update', 'pre-receive', 'update', 'reference-transaction', 'post-checkout']) {
    rmSync(join(a, 'hooks', hook), { force: true })
    symlinkSync(evil, join(a, 'hooks', hook))
  }
  for (const key of [
    'core.fsmonitor',
    'core.sshCommand',
    'uploadpack.packObjectsHook',
    'core.pager',
    'gc.recentObjectsHook'
  ])
    git(a, 'config', key, evil)
  git(a, 'config', 'core.hooksPath', root)
  mkdirSync(join(folder, 'empty.git'))
  symlinkSync(outside, join(folder, 'link.git'))
  symlinkSync(root, join(folder, 'around'))
  writeFileSync(join(folder, 'shallow.git/shallow'), '')
  writeFileSync(join(folder, 'borrows.git/objects/info/alternates'), `${outside}/objects\n`)
  const heads = join(folder, 'linked-ref.git/refs/heads')
  renameSync(heads, `${heads}-away`)
  symlinkSync(join(outside, 'refs/heads'), heads)
  const objects = join(folder, 'linked-object.git/objects')
  for (const name of readdirSync(objects).filter(each => each.length === 2)) {
    rmSync(join(objects, name), { recursive: true })
    symlinkSync(join(outside, 'objects', name), join(objects, name))
  }
  const cut = join(folder, 'cut.git')
  rmSync(join(cut, 'objects', git(cut, 'rev-parse', 'main').slice(0, 2)), { recursive: true })

  const namespace = user.username
  const planned = await run(folder, namespace, true)
  t.same((await app.as(user).get('/projects')).json(), [], 'a dry run creates nothing')
  t.same(Object.keys(planned.refused), ['bad name.git', 'z/a.git'])
  const { refused, outcomes } = await run(folder, namespace)
  t.same(outcomes, [`imported ${namespace}/a`, `imported ${namespace}/linked-ref`, `imported ${namespace}/b`])
  t.match(refused, {
    'bad name.git': /its name/,
    'borrows.git': /alternates/,
    'cut.git': /git|bad object|missing/,
    'empty.git': /not a bare repository/,
    'linked-object.git': /git|bad object|missing/,
    'shallow.git': /cut off/,
    'z/a.git': /a.git has the same name/
  })
  t.notOk(existsSync(marker), 'no program of a repository ran')
  const one = (await app.as(user).get(`/projects/${encodeURIComponent(`${namespace}/a`)}`)).json()
  t.match(one, { default_branch: 'main', visibility_level: 10, name: 'a' })
  const names = async (kind: string) =>
    (await app.as(user).get(`/projects/${one.id}/repository/${kind}`)).json().map(({ name }: { name: string }) => name)
  t.same(await names('branches'), ['main', 'other'])
  t.same(await names('tags'), ['v1'])
  const linked = (await app.as(user).get(`/projects/${encodeURIComponent(`${namespace}/linked-ref`)}`)).json()
  t.same((await app.as(user).get(`/projects/${linked.id}/repository/branches`)).json(), [], 'no branch of the other')
  const left = readdirSync(join(config().home, 'tmp')).filter(name => name.startsWith('folder-'))
  t.same(left, [])
  t.same(
    (await run(folder, namespace)).outcomes.map(text => text.split(' ')[0]),
    ['existing', 'existing', 'existing']
  )
  await t.rejects(run(join(root, 'none'), namespace), { message: /no folder is called/ })
  await t.rejects(run(folder, 'nowhere'), { message: /no namespace is called/ })
})

t.test('the command', async t => {
  const user = await app.make.user()
  const folder = t.testdir()
  makeBare(join(folder, 'x.git'))
  const { home, database } = config()
  const options = { environment: { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: database.url ?? '' } }
  const args = ['projects', 'import-folder', folder, '--namespace', user.username, '--json']
  const done = await cli(args, options)
  t.equal(done.code, 0, done.stderr)
  t.same(done.json(), { imported: 1, existing: 0, refused: [] })
  writeFileSync(join(folder, 'list.csv'), `path,url\n${user.username}/y,https://git.example.org/y.git\n,\n`)
  const listed = await cli(['projects', 'import-list', join(folder, 'list.csv'), '--dry-run', '--json'], options)
  t.equal(listed.code, 1)
  t.match(listed.json(), { would_import: 1, existing: 0, refused: [{ line: 3, path: null }] })
})

t.test('files in LFS come along from where git-lfs keeps them', async t => {
  const { owner } = await app.make.project()
  const folder = t.testdir()
  const path = join(folder, 'large.git')
  makeBare(path)
  const files = ['kept', 'linked', 'lost'].map(content => ({ content, oid: hashOf(content) }))
  const lines = files.map(({ content, oid }) => {
    writeFileSync(join(folder, content), pointerOf(oid, content.length))
    return `100644 blob ${git(path, 'hash-object', '-w', join(folder, content))}\t${content}.bin`
  })
  const tree = execFileSync('git', ['mktree'], { cwd: path, env: { ...environment }, input: `${lines.join('\n')}\n` })
  git(path, 'update-ref', 'refs/heads/main', git(path, 'commit-tree', '-m', 'Add', String(tree).trim()))
  const [kept = '', linked = '', lost = ''] = files.map(({ oid }) => {
    const below = join(path, 'lfs/objects', oid.slice(0, 2), oid.slice(2, 4))
    mkdirSync(below, { recursive: true })
    return join(below, oid)
  })
  writeFileSync(kept, 'kept')
  writeFileSync(join(folder, 'secret'), 'linked')
  symlinkSync(join(folder, 'secret'), linked)
  t.same(await run(folder, owner.username), { refused: {}, outcomes: [`imported ${owner.username}/large`] })
  const project = (await app.as(owner).get(`/projects/${owner.username}%2Flarge`)).json()
  t.same(
    await lfsContents(
      project,
      files.map(({ oid }) => oid)
    ),
    ['kept', null, null]
  )
  writeFileSync(lost, 'list')
  renameSync(path, join(folder, 'wrong.git'))
  t.match((await run(folder, owner.username)).refused, { 'wrong.git': /another SHA-256/ })
})

t.test('a group that is less visible than the projects would be is refused', async t => {
  const group = await app.make.group({ owner: await app.make.user(), visibilityLevel: 0 })
  const folder = t.testdir()
  makeBare(join(folder, 'a.git'))
  await t.rejects(run(folder, group.path), {
    message: `visibility is more than that of the group ${group.path}, which is private: choose that one, or change the group first`
  })
})
