// Measures a backup of a thousand small repositories and a big one, compared with `cp -a` of the same folders in the same run.
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nobody, originOf } from '../src/access/actor.js'
import { repositoryPath } from '../src/areas/projects/projects/repositories.js'
import { createBackup } from '../src/areas/upkeep/backup/create.js'
import { execute, rows } from '../src/db/connect/sql.js'
import { createRepository } from '../src/git/repository/repository.js'
import { type Prepared, withAppliance } from './lib/appliance.js'
import { temporaryFolder } from './lib/clean-up.js'
import { median, report } from './lib/figure.js'
import { cpuOf } from './lib/processes.js'
import { createProject } from './lib/rest.js'

const REPOSITORIES = Number(process.env.BENCH_REPOSITORIES ?? 1000)
const BIG_MIB = Number(process.env.BENCH_BIG_MIB ?? 512)
const OBJECTS = 20
const ROUNDS = 3

/** Makes the projects: the database makes the rows, and the repositories are copies of one with real objects. */
async function prepare(appliance: Prepared): Promise<void> {
  const first = await createProject(appliance, 'first')
  const storage = 'default'
  const model = repositoryPath({ id: first.id, storage })
  const objects = Array.from({ length: OBJECTS }, () => randomBytes(1500))
  for (const content of objects)
    execFileSync('git', ['--git-dir', model, 'hash-object', '-w', '--stdin'], { input: content })
  await execute(
    `insert into projects (namespace_id, creator_id, name, path, storage, visibility_level, tag_list, runners_token_hash,
       runners_token_encrypted, last_activity_at, created_at, updated_at)
     select namespace_id, creator_id, concat('copy ', seq), concat('copy-', seq), storage, 0, '[]', unhex(sha2(seq, 256)),
       runners_token_encrypted, last_activity_at, created_at, updated_at
     from projects join seq_1_to_${REPOSITORIES - 1} where id = ?`,
    [first.id]
  )
  const projects = await rows<{ id: number }>('select id from projects where id <> ?', [first.id])
  for (const { id } of projects) {
    const path = repositoryPath({ id, storage })
    mkdirSync(join(path, '..'), { recursive: true })
    cpSync(model, path, { recursive: true })
  }
  const big = await createProject(appliance, 'big')
  const pack = repositoryPath({ id: big.id, storage })
  await createRepository(pack)
  const name = `pack-${randomBytes(20).toString('hex')}`
  mkdirSync(join(pack, 'objects/pack'), { recursive: true })
  writeFileSync(join(pack, `objects/pack/${name}.pack`), Buffer.alloc(0))
  for (let at = 0; at < BIG_MIB; at++)
    writeFileSync(join(pack, `objects/pack/${name}.pack`), randomBytes(1 << 20), { flag: 'a' })
  writeFileSync(join(pack, `objects/pack/${name}.idx`), randomBytes(1024))
}

const timed = async (work: () => unknown): Promise<number> => {
  const started = performance.now()
  await work()
  return (performance.now() - started) / 1000
}

async function measure(appliance: Prepared): Promise<void> {
  await prepare(appliance)
  const origin = originOf(nobody, null)
  const store = temporaryFolder()
  const source = join(appliance.home, 'repositories')
  const took = { backup: [] as number[], copy: [] as number[], next: [] as number[] }
  let bytes = 0
  const spent: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const target = join(store, 'plain')
    took.copy.push(
      await timed(() => {
        execFileSync('cp', ['-a', source, target])
        execFileSync('sync', ['-f', target])
      })
    )
    rmSync(target, { recursive: true })
    const to = join(store, `store-${round}`)
    // This process makes the backup, and the database of the appliance reads its tables.
    const before = cpuOf(process.pid)
    took.backup.push(await timed(async () => (bytes = (await createBackup({ to }, origin)).bytes)))
    spent.push(cpuOf(process.pid) - before)
    took.next.push(await timed(() => createBackup({ to }, origin)))
    rmSync(to, { recursive: true })
  }
  const [full, plain, next] = [took.backup, took.copy, took.next].map(median) as [number, number, number]
  const detail = {
    mib_per_second: bytes / full / 2 ** 20,
    repositories_per_second: REPOSITORIES / full,
    plain_seconds: plain,
    gib: bytes / 2 ** 30,
    repositories: REPOSITORIES + 1,
    processor_ms_of_each_repository: (median(spent) / (REPOSITORIES + 1)) * 1000
  }
  report({
    name: 'backup of all repositories',
    value: full / plain,
    unit: "of cp -a's time",
    limit: null,
    better: 'lower',
    comparison: `cp -a and sync of the same folders, ${plain.toFixed(1)} s`,
    detail
  })
  report({ name: 'next backup, nothing changed', value: next, unit: 's', limit: null, better: 'lower' })
}

await withAppliance({}, measure)
