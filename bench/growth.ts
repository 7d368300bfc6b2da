// Measures what the work of an appliance costs when its tables grow: every maintenance task, lists, the start, a backup, deletions
// and migrations, at two sizes. 1x is 100,000 projects, 1,000,000 builds, 1,000,000 issues and 1,000,000 events. The result of each
// operation is the same at both sizes, except where its name says "all". `--scales 1,10` chooses the sizes; `--only WORDS` measures
// only the operations with these words in their names; `--markdown` prints the table of README.md.
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { nobody, originOf, scheduleOrigin } from '../src/access/actor.js'
import { activeProjects, clearLocksOf, clearStaleLocks } from '../src/areas/code/repository/stale-locks.js'
import { createBackup } from '../src/areas/upkeep/backup/create.js'
import { applianceCounts } from '../src/areas/upkeep/maintenance/counts.queries.js'
import { runTask } from '../src/areas/upkeep/maintenance/maintenance.js'
import { catchUp } from '../src/areas/upkeep/maintenance/maintenance-catch-up.js'
import { tasks } from '../src/areas/upkeep/maintenance/maintenance-tasks.js'
import { eraseProject } from '../src/areas/upkeep/removal/erase-project.js'
import { deletionOfProject } from '../src/areas/upkeep/removal/project-deletion.queries.js'
import { deletionOf, forgetUser } from '../src/areas/upkeep/removal/user-deletion.js'
import { execute, rows } from '../src/db/connect/sql.js'
import { migrations } from '../src/db/migrations/list.js'
import { type Prepared, startAppliance, withAppliance } from './lib/appliance.js'
import { temporaryFolder } from './lib/clean-up.js'
import { report, round } from './lib/figure.js'
import { homeOfSize, type Subjects } from './lib/growth/data.js'
import { type Cost, costMeter } from './lib/growth/measure.js'
import { cpuOf } from './lib/processes.js'
import { ask } from './lib/rest.js'

const { values: options } = parseArgs({
  options: {
    scales: { type: 'string', default: '0.1,1' },
    only: { type: 'string', default: '' },
    markdown: { type: 'boolean', default: false }
  }
})

/** The worker runs nothing by itself, so that only the measured work reads rows. */
const IDLE = Object.fromEntries(
  ['DEFAULT', 'HOOKS', 'BUILDS', 'MAIL', 'MAINTENANCE', 'IMPORTS'].map(queue => [
    `GITSTEAD_QUEUE_CONCURRENCY_${queue}`,
    '0'
  ])
)

type Operation = readonly [name: string, work: () => Promise<unknown>]

/** Lists are read a second time, too: the first time, caches are empty. */
function listsOf(appliance: Prepared, { project, firstProject, firstUser }: Subjects): Operation[] {
  const paths: [name: string, path: string][] = [
    ['projects of the administrator', '/projects'],
    ['all projects', '/projects/all'],
    ['all projects, page 1,000', '/projects/all?page=1000'],
    ['visible projects', '/projects/visible'],
    ['all projects by activity', '/projects/all?order_by=last_activity_at'],
    ['search for a rare word', '/projects/all?search=quagga'],
    ['search for a word of every project', '/projects/all?search=project'],
    ['search for two letters', '/projects/all?search=qu'],
    ['projects by name', '/projects/search/quagga'],
    ['groups', '/groups'],
    ['users', '/users'],
    ['search for a user', '/users?search=subject'],
    ['namespaces', '/namespaces?search=subject'],
    ['issues of a project', `/projects/${project}/issues`],
    ['issues of a large project', `/projects/${firstProject}/issues`],
    ['open issues of a large project, page 100', `/projects/${firstProject}/issues?state=opened&page=100`],
    ['own issues', '/issues'],
    ['builds of a project', `/projects/${project}/builds`],
    ['failed builds of a project', `/projects/${project}/builds?scope=failed`],
    ['pipelines of a project', `/projects/${project}/pipelines`],
    ['events of a project', `/projects/${project}/events`],
    ['events of a user', `/users/${firstUser}/events`],
    ['members of a project', `/projects/${project}/members`],
    ['to-dos', '/todos'],
    ['audit events', '/audit_events'],
    ['runners', '/runners/all']
  ]
  return paths.flatMap(([name, path]) => {
    const read = () => ask(appliance, 'GET', path)
    return [
      [`list: ${name}`, read],
      [`list: ${name}, again`, read]
    ] satisfies Operation[]
  })
}

function deletionsOf(appliance: Prepared, { project, group, user }: Subjects): Operation[] {
  const signal = new AbortController().signal
  const removed = () => rows<{ id: number }>('select project_id as id from project_removals')
  const eraseAll = async () => {
    for (const { id } of await removed()) await eraseProject(id, signal)
  }
  return [
    ['what the deletion of a project would remove', () => deletionOfProject({ id: project })],
    ['what the deletion of a user would remove', () => deletionOf({ id: user })],
    ['deletion of a project', () => ask(appliance, 'DELETE', `/projects/${project}`)],
    ['deletion of a project, its job', eraseAll],
    ['deletion of a group', () => ask(appliance, 'DELETE', `/groups/${group}`)],
    ['deletion of a group, its jobs', eraseAll],
    ['deletion of a user', () => ask(appliance, 'DELETE', `/users/${user}`)],
    ['deletion of a user, jobs of the projects', eraseAll],
    ['deletion of a user, its job', () => forgetUser(user, signal)]
  ]
}

/** Each is undone and applied again. Undoing is not measured. */
const MIGRATIONS = [
  '0110-trigrams',
  '0115-content-versions',
  '0118-mail-authors',
  '0120-received-mails',
  '0122-sent-forms'
]

function operationsOf(appliance: Prepared, subjects: Subjects): Operation[] {
  return [
    ...tasks.map(({ name }): Operation => [`task: ${name}`, () => maintain(name)]),
    ...tasks.map(({ name }): Operation => [`task: ${name}, again`, () => maintain(name)]),
    ...listsOf(appliance, subjects),
    ['looking for missed tasks', () => catchUp(new Date())],
    ['active repositories: looking for locks', () => clearActive()],
    ['all repositories: looking for locks', () => clearStaleLocks()],
    ['counts of the appliance', () => applianceCounts()],
    ...deletionsOf(appliance, subjects)
  ]
}

/** They come last, as they take by far the longest. */
function backups(): Operation[] {
  const origin = originOf(nobody, null)
  const store = temporaryFolder()
  return [
    ['all rows and files: backup', () => createBackup({ to: store }, origin)],
    ['all rows and files: next backup', () => createBackup({ to: store }, origin)]
  ]
}

/** As the start of a worker does, without its wait. */
async function clearActive(): Promise<void> {
  for (const project of await activeProjects()) await clearLocksOf(project)
}

async function maintain(name: string): Promise<void> {
  const { state, error } = await runTask(name, {}, scheduleOrigin())
  if (state !== 'done') throw new Error(`${name}: ${error}`)
}

/** Undoes migrations and applies them again, and measures the second. */
async function migrate(measure: (work: () => Promise<unknown>) => Promise<Cost>, note: Note): Promise<void> {
  for (const name of MIGRATIONS) {
    const migration = migrations.find(known => known.name === name)
    if (!migration || !`migration: ${name}`.includes(options.only)) continue
    for (const sql of migration.down) await execute(sql)
    note(
      `migration: ${name}`,
      await measure(async () => {
        for (const sql of migration.up) await execute(sql)
        for (const { of, each } of migration.fill ?? []) await fill(of, each)
      })
    )
  }
}

async function fill(table: string, each: string): Promise<void> {
  const [last] = await rows<{ id: number }>(`select max(id) as id from ${table}`)
  for (let from = 1; from <= (last?.id ?? 0); from += 1000) await execute(each, [from, from + 999])
}

type Note = (name: string, cost: Cost) => void

async function measureScale(scale: number, note: Note): Promise<void> {
  const { home, dataset } = await homeOfSize(scale)
  if ('start of an existing home'.includes(options.only)) {
    const begun = await startAppliance({ home })
    note('start of an existing home', {
      rows: 0,
      processor_ms: cpuOf(begun.parts.supervisor) * 1000,
      ms: begun.readyAfter
    })
    await begun.stop()
  }
  await withAppliance({ home, admin: dataset.admin, environment: IDLE }, async appliance => {
    // The worker looks for old locks ten seconds after its start.
    await sleep(15_000)
    const measure = await costMeter(appliance.parts)
    const each = async (operations: readonly Operation[]) => {
      for (const [name, work] of operations) if (name.includes(options.only)) note(name, await measure(work))
    }
    await each(operationsOf(appliance, dataset))
    await migrate(measure, note)
    await each(backups())
  })
}

const costs = new Map<string, Map<number, Cost>>()
const scales = options.scales.split(',').map(Number)
for (const scale of scales) {
  await measureScale(scale, (name, cost) => {
    const known = costs.get(name) ?? new Map<number, Cost>()
    costs.set(name, known.set(scale, cost))
    const [busy, ms] = [Math.round(cost.processor_ms), Math.round(cost.ms)]
    process.stderr.write(`bench: ${scale}x: ${name}: ${cost.rows} rows, ${busy} ms of processor, ${ms} ms\n`)
  })
}

if (options.markdown) process.stdout.write(table())
else for (const [name, each] of costs) reportGrowth(name, each)

/** How much more the operation reads at the last size than at the first one. */
function reportGrowth(name: string, each: ReadonlyMap<number, Cost>): void {
  const [first, last] = [each.get(scales[0] ?? 0), each.get(scales.at(-1) ?? 0)]
  if (!first || !last) return
  const detail = Object.fromEntries(
    [...each].flatMap(([scale, cost]) => Object.entries(cost).map(([unit, value]) => [`${unit}_at_${scale}x`, value]))
  )
  const value = (last.rows + 1) / (first.rows + 1)
  report({ name: `growth, ${name}`, value, unit: 'times the rows', limit: null, better: 'lower', detail })
}

function table(): string {
  const head = [
    'operation',
    ...scales.flatMap(scale => [`rows, ${scale}x`, `processor ms, ${scale}x`, `ms, ${scale}x`])
  ]
  const lines = [...costs].map(([name, each]) => [
    name,
    ...scales.flatMap(scale => {
      const { rows: read, processor_ms, ms } = each.get(scale) ?? { rows: 0, processor_ms: 0, ms: 0 }
      return [read.toLocaleString('en'), String(round(processor_ms)), String(round(ms))]
    })
  ])
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
  return line(head) + line(head.map(() => '---')) + lines.map(line).join('')
}
