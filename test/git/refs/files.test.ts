// Compares refs that are read from files with those that git shows.
import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  fileRefName,
  formatPackedRefs,
  readRefFiles,
  textRefName,
  unreadableRefs
} from '../../../src/git/refs/files.js'
import t from '../../helpers/tap.js'

const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', args, {
    cwd,
    encoding: 'utf8',
    stdio: 'pipe',
    env: {
      ...process.env,
      GIT_AUTHOR_NAME: 'A',
      GIT_AUTHOR_EMAIL: 'a@b',
      GIT_COMMITTER_NAME: 'A',
      GIT_COMMITTER_EMAIL: 'a@b'
    }
  })

const refsOf = (repository: string) =>
  git(repository, 'for-each-ref', '--format=%(refname) %(objectname)').trim().split('\n').sort()

const asText = (repository: string) =>
  [...readRefFiles(repository)].map(([name, id]) => `${textRefName(name)} ${id}`).sort()

t.test('loose and packed refs are the same as git shows', async t => {
  const folder = t.testdir()
  git(folder, 'init', '-q', '--bare', '--initial-branch=master')
  const tree = git(folder, 'hash-object', '-t', 'tree', '-w', '--stdin').trim()
  const commit = (message: string) => git(folder, 'commit-tree', tree, '-m', message).trim()
  const [one, two] = [commit('one'), commit('two')]
  for (const name of ['heads/master', 'heads/a/b', 'heads/ümläut-😀', 'tags/light', 'heads/gone']) {
    git(folder, 'update-ref', `refs/${name}`, one)
  }
  git(folder, 'tag', '-a', '-m', 'words', 'v1', one)
  git(folder, 'pack-refs', '--all')
  git(folder, 'update-ref', 'refs/heads/master', two)
  git(folder, 'update-ref', '-d', 'refs/heads/gone')
  git(folder, 'update-ref', 'refs/heads/gone/again', two)
  writeFileSync(join(folder, 'refs/heads/late.lock'), `${two}\n`)
  t.same(asText(folder), refsOf(folder))
  t.equal(readRefFiles(folder).get(fileRefName('refs/heads/ümläut-😀')), one)

  t.test('git reads the file that was written from them', async t => {
    const before = refsOf(folder)
    writeFileSync(join(folder, 'packed-refs'), formatPackedRefs(readRefFiles(folder)), 'latin1')
    rmSync(join(folder, 'refs'), { recursive: true })
    git(folder, 'init', '-q', '--bare')
    t.same(refsOf(folder), before)
    t.equal(git(folder, 'rev-parse', 'v1^{commit}').trim(), one, 'git finds the commit of an annotated tag')
    t.equal(git(folder, 'for-each-ref', '--format=%(*objectname)', 'refs/tags/v1').trim(), one)
  })
})

t.test('a folder without refs has no refs', async t => {
  t.equal(readRefFiles(t.testdir()).size, 0)
})

t.test('a ref whose file is empty is named, because git omits it', async t => {
  const folder = t.testdir()
  git(folder, 'init', '-q', '--bare', '--initial-branch=master')
  const tree = git(folder, 'hash-object', '-t', 'tree', '-w', '--stdin').trim()
  const commit = git(folder, 'commit-tree', tree, '-m', 'one').trim()
  for (const name of ['master', 'a/ä', 'lost']) git(folder, 'update-ref', `refs/heads/${name}`, commit)
  git(folder, 'symbolic-ref', 'refs/heads/other', 'refs/heads/master')
  t.same(unreadableRefs(folder, 'refs/heads'), [])
  for (const name of ['a/ä', 'lost']) writeFileSync(join(folder, `refs/heads/${name}`), '')
  t.same(unreadableRefs(folder, 'refs/heads').sort(), ['refs/heads/a/ä', 'refs/heads/lost'])
  t.same(unreadableRefs(folder, 'refs/tags'), [])
})
