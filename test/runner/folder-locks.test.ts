// Locks of work folders. test/runner/execute.test.ts shows that they protect the folders of running builds.
import { readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { lockFolder, takeOver, unlockFolder } from '../../src/runner/folder-locks.js'
import t from '../helpers/tap.js'

/** Whether this process has a file open. */
const hasOpen = (path: string) =>
  readdirSync('/proc/self/fd').some(fd => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path
    } catch {
      return false
    }
  })

t.test('a lock is held until it is given up, and its file is closed then', async t => {
  const work = join(t.testdir(), 'work')
  const file = `${work}.lock`
  t.equal(await lockFolder(work), true)
  t.equal(hasOpen(file), true)
  t.equal(await takeOver(work), false)
  await unlockFolder(work)
  t.equal(hasOpen(file), false)
  t.equal(await takeOver(work), false, 'there is no lock any more')
})

t.test('a file that cannot be locked is closed', async t => {
  const work = join(t.testdir(), 'work')
  const { PATH } = process.env
  t.teardown(() => {
    process.env.PATH = PATH
  })
  process.env.PATH = '/nonexistent'
  await t.rejects(lockFolder(work), { code: 'ENOENT' })
  t.equal(hasOpen(`${work}.lock`), false)
  process.env.PATH = PATH
  t.equal(await takeOver(work), true)
  await unlockFolder(work)
})
