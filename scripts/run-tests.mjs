// Runs test files, with one process more at once than there are processors; writes TAP. The program `tap` does the same with loaders
// for coverage, mocks and TypeScript in each process, which are not used here: a second of processor time for every file.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { reachedFrom } from './test-files.mjs'

/** Some tests wait for a time that must pass, and the others use the processor in the meantime. */
const AT_ONCE = availableParallelism() + 1

const files = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'gitstead-files-'))

t.jobs = AT_ONCE
t.setTimeout(0)
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
for (const file of files.filter(file => !mayShare(file))) run(file, ['dist/test/helpers/one-file.js', file])
// They come last, because they take one file after another from the same list: no processor waits for another at the end.
const shared = files.filter(mayShare)
const small = shared.filter(file => !usesDatabase(file))
await Promise.all([runShared('small', small), runShared('shared', shared.filter(usesDatabase))])

/**
 * Files without the application have processes of their own: most of them start hundreds of git processes, and starting one costs a
 * large process three times as much. For the same reason, a process that has grown ends, and another one takes the next file.
 */
async function runShared(name, list) {
  const at = join(folder, name)
  mkdirSync(at)
  writeFileSync(join(at, 'files.json'), JSON.stringify(list))
  const taken = () => list.filter((_, index) => existsSync(join(at, String(index)))).length
  const lanes = Array.from({ length: Math.min(AT_ONCE, list.length) }, async (_, lane) => {
    for (let before = -1; before < taken() && taken() < list.length; ) {
      before = taken()
      await run(`${name} files ${lane + 1}`, ['dist/test/helpers/several-files.js', at])
    }
  })
  await Promise.all(lanes)
  for (const [index, file] of list.entries()) {
    if (!existsSync(join(at, `${index}.ended`)))
      t.fail(`${file} did not end: its process was killed, or stopped before it`)
  }
}

function usesDatabase(file) {
  return reachedFrom([file]).has('dist/src/db/connect/connection.js')
}

function run(name, args) {
  // tap adds one of the loaders to NODE_OPTIONS.
  return t.spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, '--enable-source-maps', ...args], {
    name,
    buffered: true
  })
}

/** A file that imports tap itself needs a separate process (test/helpers/tap.ts). */
function mayShare(file) {
  return !/from 'tap'/.test(readFileSync(file, 'utf8'))
}
