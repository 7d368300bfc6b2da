// A new repository is made without a git process. It must be what git itself would make, with the settings of the appliance.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createRepository, prepareRepository } from '../../../src/git/repository/repository.js'
import { testDatabase } from '../../helpers/database.js'
import t from '../../helpers/tap.js'

await testDatabase()

/** All names in a folder, with the permissions of each. */
const tree = (path: string) =>
  readdirSync(path, { recursive: true, encoding: 'utf8' })
    .map(name => `${(statSync(join(path, name)).mode & 0o777).toString(8)} ${name}`)
    .sort()

t.test('a new repository is the same as that of git init', async t => {
  const folder = t.testdir()
  const [ours, theirs] = [join(folder, 'ours.git'), join(folder, 'theirs.git')]
  await (await prepareRepository(ours, 'trunk')).place(ours)
  const git = (...args: string[]) =>
    execFileSync('git', args, { encoding: 'utf8', env: { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1' } })
  git('init', '--quiet', '--bare', '--template=', '--initial-branch=trunk', theirs)
  t.same(tree(ours), tree(theirs))
  t.equal(readFileSync(join(ours, 'HEAD'), 'utf8'), readFileSync(join(theirs, 'HEAD'), 'utf8'))
  t.ok(readFileSync(join(ours, 'config'), 'utf8').startsWith(readFileSync(join(theirs, 'config'), 'utf8')))
  const values = git('--git-dir', ours, 'config', '--local', '--list').split('\n')
  t.ok(values.includes('receive.fsckobjects=true'))
  t.equal(git('--git-dir', ours, 'fsck', '--strict'), '')
  t.equal(git('--git-dir', ours, 'rev-parse', '--is-bare-repository'), 'true\n')
})

t.test('a repository that exists stays as it is', async t => {
  const path = join(t.testdir(), 'kept.git')
  await createRepository(path)
  const draft = await prepareRepository(path, 'other')
  await draft.place(path)
  t.equal(readFileSync(join(path, 'HEAD'), 'utf8'), 'ref: refs/heads/master\n')
  t.same(readdirSync(join(path, '..')), ['kept.git'])
})

t.test('a branch name that is not valid makes no repository', async t => {
  const folder = t.testdir()
  await t.rejects(prepareRepository(join(folder, 'bad.git'), 'a b'), { message: 'not a branch name: a b' })
  t.same(readdirSync(folder), [])
})
