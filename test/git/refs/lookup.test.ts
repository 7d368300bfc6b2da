// Refs whose commits are in the cache are resolved without git, with the same result as git.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readCommit } from '../../../src/git/objects/objects.js'
import { closeReaders, readerCount } from '../../../src/git/objects/reader.js'
import { lookUpRef } from '../../../src/git/refs/lookup.js'
import { resolveCommit } from '../../../src/git/refs/refs.js'
import { closeGitProcesses } from '../../../src/git/repository/processes.js'
import t from '../../helpers/tap.js'
import { git, repositoryWith } from '../history.js'

const repository = await repositoryWith(t, 20)
t.teardown(() => closeGitProcesses())
const ask = (...args: string[]) => git(repository, args)
const [head = '', second = '', third = ''] = ask('rev-list', '--max-count=3', 'master').split('\n')

/** Reads the commits into the cache, and ends the readers. */
async function warm(): Promise<void> {
  for (const id of [head, second, third]) await readCommit(repository, id)
  await closeReaders()
}

t.test('a branch, a tag and an id need no reader when the commit is in the cache', async t => {
  ask('update-ref', 'refs/heads/a/b', second)
  ask('update-ref', 'refs/tags/light', third)
  await warm()
  const cases = {
    master: { id: head, ref: 'refs/heads/master' },
    'a/b': { id: second, ref: 'refs/heads/a/b' },
    'refs/heads/a/b': { id: second, ref: 'refs/heads/a/b' },
    light: { id: third, ref: 'refs/tags/light' },
    [third]: { id: third, ref: null },
    [third.toUpperCase()]: { id: third, ref: null }
  }
  for (const packed of [false, true]) {
    if (packed) ask('pack-refs', '--all')
    for (const [name, expected] of Object.entries(cases)) t.same(await resolveCommit(repository, name), expected, name)
  }
  t.equal(readerCount(), 0)
})

t.test('a ref that is moved, deleted or created is seen at once', async t => {
  await warm()
  for (const id of [second, third, head]) {
    ask('update-ref', 'refs/heads/moving', id)
    t.equal((await resolveCommit(repository, 'moving'))?.id, id)
    ask('pack-refs', '--all')
    t.equal((await resolveCommit(repository, 'moving'))?.id, id)
  }
  ask('update-ref', '-d', 'refs/heads/moving')
  t.equal(await resolveCommit(repository, 'moving'), null)
  ask('update-ref', 'refs/tags/moving', second)
  ask('update-ref', 'refs/heads/moving', third)
  t.equal((await resolveCommit(repository, 'moving'))?.id, third, 'a branch comes before a tag')
})

t.test('git answers when the files are not clear', async t => {
  ask('symbolic-ref', 'refs/heads/other', 'refs/heads/master')
  writeFileSync(join(repository, 'refs/heads/empty'), '')
  await warm()
  t.equal(await lookUpRef(repository, 'refs/heads/other'), undefined)
  t.equal((await resolveCommit(repository, 'other'))?.id, head)
  t.equal(await lookUpRef(repository, 'refs/heads/empty'), undefined)
  await t.rejects(resolveCommit(repository, 'empty'), { message: /damaged/ })
  t.equal(await lookUpRef(repository, 'refs/heads/a'), null, 'a folder is not a ref')
  t.equal(await lookUpRef(repository, 'refs/heads/nobody'), null)
})

t.test('a branch whose name is an id comes before the commit with this id', async t => {
  ask('update-ref', `refs/heads/${third}`, second)
  await warm()
  t.same(await resolveCommit(repository, third), { id: second, ref: `refs/heads/${third}` })
})
