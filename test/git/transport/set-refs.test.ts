// Refs of a push that git sets only in part.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { GitFailure } from '../../../src/git/process/run.js'
import { refValue, ZERO } from '../../../src/git/refs/refs.js'
import { closeGitProcesses } from '../../../src/git/repository/processes.js'
import { setRefs } from '../../../src/git/transport/set-refs.js'
import t, { type Test } from '../../helpers/tap.js'
import { git, repositoryWith } from '../history.js'

t.teardown(() => closeGitProcesses())

const BLOCKED = 'refs/heads/z-blocked'

/** Lets git start a hook that blocks a ref: it makes a folder in the place of its file when git has compared the old values. */
function blockRef(t: Test, path: string): void {
  const hooks = join(t.testdirName, 'hooks')
  const bin = join(t.testdirName, 'bin')
  for (const folder of [hooks, bin]) mkdirSync(folder)
  const before = process.env.PATH
  const real = join(git(hooks, ['--exec-path']), 'git')
  writeFileSync(join(bin, 'git'), `#!/bin/sh\nexec '${real}' -c core.hooksPath='${hooks}' "$@"\n`)
  writeFileSync(
    join(hooks, 'reference-transaction'),
    `#!/bin/sh\nif [ "$1" = prepared ]; then mkdir '${path}'; echo > '${path}/file'; fi\n`
  )
  chmodSync(join(bin, 'git'), 0o755)
  chmodSync(join(hooks, 'reference-transaction'), 0o755)
  process.env.PATH = `${bin}:${before}`
  t.teardown(() => {
    process.env.PATH = before
  })
}

t.test('a push whose refs have moved in part is not received again', async t => {
  const repository = await repositoryWith(t, 12)
  const [head, side] = [git(repository, ['rev-parse', 'master']), git(repository, ['rev-parse', 'side'])]
  const created = { ref: BLOCKED, old: ZERO, new: head }
  blockRef(t, join(repository, BLOCKED))
  await t.rejects(setRefs(repository, [{ ref: 'refs/heads/master', old: head, new: side }, created]), GitFailure)
  t.equal(await refValue(repository, 'refs/heads/master'), side, 'git has set the first ref')
})
