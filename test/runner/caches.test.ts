// The caches that builds keep for later builds, in the real store.
import { existsSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { loadConfig } from '../../src/config.js'
import { executeBuild } from '../../src/runner/execute.js'
import { makeWorkFolder } from '../../src/runner/folders.js'
import type { CacheStore, CacheWish, RunnerJob } from '../../src/runner/job.js'
import { largestCache, openCache, putCache, removeCache, removeCaches } from '../../src/storage/caches.js'

const home = t.testdir({ tmp: {} })
const settings = (runner: object = {}) => loadConfig({ home, runner })
settings()

const cache = (more: Partial<CacheWish> = {}): CacheWish => ({
  ...{ key: null, fallbackKeys: [], paths: ['kept/'], untracked: false },
  ...{ policy: 'pull-push', when: 'on_success', ending: 'non_protected', ...more }
})

function storeOf(project: number): CacheStore {
  return {
    limit: largestCache(),
    open: async name => (await openCache({ project, ...name }))?.stream,
    put: (name, archive) => putCache({ project, ...name }, archive),
    remove: name => removeCache({ project, ...name })
  }
}

interface Wish extends Partial<RunnerJob> {
  readonly project: number
}

/** Runs a script, and returns the files that it finds and its output. */
async function build({ project, ...job }: Wish) {
  let trace = ''
  const result = await executeBuild(
    { id: 1, timeout: 600, variables: [], script: ['true'], afterScript: [], artifacts: null, secrets: [], ...job },
    {
      workFolder: await makeWorkFolder(),
      getSources: async ({ run }) => void (await run(['printf "read me" >README'])),
      dependencies: [],
      cacheStore: storeOf(project),
      writeTrace: async chunk => {
        trace += chunk.toString('latin1')
      },
      putVariables: async () => undefined,
      putArtifacts: async () => undefined,
      signal: new AbortController().signal
    }
  )
  return { trace, status: result.status }
}

const write = ['mkdir -p kept/in; echo first >kept/in/file; ln -s in/file kept/link; chmod 700 kept/in/file']
const read = ['cat kept/link 2>&1 || echo none']

t.test('a later build finds the files of an earlier one, with their modes and links', async t => {
  const first = await build({ project: 1, caches: [cache()], script: write })
  t.match(first.trace, 'No cache default yet\n')
  t.match(first.trace, /Kept the cache default: 2 files, \d+ bytes\nBuild succeeded/)
  const script = ['cat kept/link; test -x kept/in/file; echo more >>kept/in/file; stat -c %U kept/in/file; id -un']
  const { trace, status } = await build({ project: 1, caches: [cache()], script })
  t.equal(status, 'success')
  t.match(trace, /Restoring the cache default\n[\s\S]*\nfirst\n(\w+)\n\1\n/)
  t.match((await build({ project: 1, caches: [cache()], script: read })).trace, '\nfirst\nmore\n')
})

t.test('a cache belongs to one project, one key, and protected or other branches', async t => {
  const named = (key: string, more: Partial<CacheWish> = {}) => cache({ key, ...more })
  const variables = [{ key: 'NAME', value: 'a', public: true }]
  await build({ project: 2, variables, caches: [named('$NAME/../../b')], script: write })
  const found = async (project: number, wish: CacheWish) =>
    (await build({ project, caches: [wish], script: read })).trace.includes('\nfirst\n')
  t.ok(await found(2, named('a/../../b')), 'the same key')
  t.notOk(await found(2, named('b')), 'another key')
  t.notOk(await found(3, named('a/../../b')), 'another project')
  t.notOk(await found(2, named('a/../../b', { ending: 'protected' })), 'a protected branch')
  t.ok(await found(2, named('new', { fallbackKeys: ['older', 'a/../../b'] })), 'a fallback key')
  t.ok(await found(2, named('new')), 'which then has a separate cache')
})

t.test('policy, when, untracked and paths decide what is restored and kept', async t => {
  const cases: [string, Partial<CacheWish>, string[], boolean][] = [
    ['pull keeps nothing', { policy: 'pull' }, write, false],
    ['push keeps', { policy: 'push' }, write, true],
    ['a failed build keeps nothing', {}, [...write, 'false'], false],
    ['but with on_failure', { when: 'on_failure' }, [...write, 'false'], true],
    ['and always', { when: 'always' }, [...write, 'false'], true],
    ['on_failure keeps nothing of a build that succeeds', { when: 'on_failure' }, write, false],
    ['untracked files', { paths: [], untracked: true }, write, true],
    ['neither paths nor untracked', { paths: [] }, write, false],
    ['paths out of the project', { paths: ['../kept', '/etc/passwd', 'kept/../../x'] }, write, false]
  ]
  for (const [index, [name, more, script, kept]] of cases.entries()) {
    await build({ project: 100 + index, caches: [cache(more)], script })
    const { trace } = await build({ project: 100 + index, caches: [cache({ paths: ['kept'] })], script: read })
    t.equal(trace.includes('\nfirst\n'), kept, name)
  }
  await build({ project: 101, caches: [cache({ policy: 'push' })], script: ['test ! -e kept', ...write] })
  const { trace } = await build({ project: 101, caches: [cache({ policy: 'push' })], script: read })
  t.match(trace, /\nnone\n/, 'push restores nothing')
})

t.test('a damaged cache fails no build, and is removed', async t => {
  const archive = join(home, 'tmp', 'planted')
  writeFileSync(archive, 'no archive at all')
  await putCache({ project: 4, key: 'default', ending: 'non_protected' }, archive)
  const { trace, status } = await build({ project: 4, caches: [cache({ policy: 'pull' })] })
  t.equal(status, 'success')
  t.match(trace, /WARNING: the cache default is not restored whole: /)
  t.match((await build({ project: 4, caches: [cache({ policy: 'pull' })] })).trace, 'No cache default yet')
})

t.test('a script cannot store files of the machine through links', async t => {
  const script = ['mkdir kept; ln -s /etc/passwd kept/secret; ln -s /etc kept/etc; echo plain >kept/file; rm -f x']
  const { trace } = await build({ project: 5, caches: [cache({ paths: ['kept/', 'kept/etc/passwd'] })], script })
  t.match(trace, /WARNING: "kept\/secret" is not packed/)
  t.match(trace, /Kept the cache default: 1 file/)
})

t.test('the store is bounded: the least recently used caches are removed first', async t => {
  const folder = (project: number) => join(home, 'cache', 'builds', String(project))
  const MIB = 1_048_576
  const put = async (project: number, key: string, size: number) => {
    const archive = join(home, 'tmp', 'archive')
    writeFileSync(archive, Buffer.alloc(size))
    await putCache({ project, key, ending: 'non_protected' }, archive)
  }
  const age = (project: number) => {
    for (const name of readdirSync(folder(project))) utimesSync(join(folder(project), name), 1, 1)
  }
  const has = async (project: number, key: string) => {
    const found = await openCache({ project, key, ending: 'non_protected' })
    found?.stream.destroy()
    return found !== undefined
  }
  for (const name of readdirSync(join(home, 'cache', 'builds'))) await removeCaches(Number(name))
  settings({ cache_limit: 5 * MIB, cache_project_limit: 3 * MIB })
  await t.rejects(put(6, 'large', 3 * MIB + 1), { name: 'TooLarge' })
  await put(6, 'old', 10)
  await put(6, 'used', MIB)
  age(6)
  t.ok(await has(6, 'used'))
  await put(6, 'third', MIB)
  await put(6, 'fourth', MIB)
  t.strictSame([await has(6, 'old'), await has(6, 'used'), await has(6, 'fourth')], [false, true, true])
  age(6)
  await put(7, 'one', 2 * MIB)
  await put(8, 'two', 2 * MIB)
  t.strictSame(
    [readdirSync(folder(6)).length, await has(7, 'one'), await has(8, 'two')],
    [1, true, true],
    'of all projects'
  )
  await removeCaches(8)
  t.notOk(existsSync(folder(8)))
  settings()
})

t.test('a build with a cache that is too large gets a warning and succeeds', async t => {
  settings({ cache_project_limit: 65_536 })
  const script = ['mkdir kept; head -c 200000 /dev/urandom >kept/noise']
  const { trace, status } = await build({ project: 9, caches: [cache()], script })
  t.equal(status, 'success')
  t.match(trace, 'WARNING: the cache default is not kept: the archive is larger than 65536 bytes\n')
  settings()
})
