// Checks an appliance that is idle again against the history of what it acknowledged.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { git, unzip } from '../scenarios/client.js'
import { LINES } from './clients.js'
import { checkMerges } from './merges.js'
import { query, read, type World, ZERO } from './world.js'

interface Change {
  readonly id: number
  readonly project_id: number
  readonly ref: string
  readonly old_id: string
  readonly new_id: string
}

/** Returns all faults as texts. */
export async function findFaults(world: World): Promise<string[]> {
  const faults = world.wrongAnswers.splice(0)
  const changes = await query<Change>(world, "select * from ref_changes where state = 'done' order by id")
  const found = await Promise.all([
    checkJobs(world),
    checkProjects(world),
    checkRefs(world, changes),
    checkEvents(world, changes),
    checkPipelines(world, changes),
    checkBuilds(world),
    checkFiles(world),
    checkMerges(world, await repositoriesOf(world))
  ])
  return [...faults, ...found.flat()]
}

async function checkJobs(world: World): Promise<string[]> {
  const dead = await query<{ id: number; name: string; payload: string; error: string }>(
    world,
    "select id, name, payload, error from jobs where state = 'dead'"
  )
  return dead.map(({ id, name, payload, error }) => `job ${id} ${name} ${payload} is dead: ${error}`)
}

/**
 * Checks that acknowledged projects exist, that projects without an answer exist at most once, and that each project
 * has one event.
 */
async function checkProjects(world: World): Promise<string[]> {
  const rows = await query<{ id: number; name: string }>(world, 'select id, name from projects')
  const faults = world.projects
    .filter(({ id, name }) => !rows.some(row => row.id === id && row.name === name))
    .map(({ id, name }) => `project ${id} ${name} was acknowledged and is gone`)
  const asked = new Set([...world.projects.map(({ name }) => name), ...world.doubtfulProjects])
  faults.push(
    ...rows
      .filter(({ name }) => !asked.has(name))
      .map(({ name }) => `project ${name} exists although nobody asked for it`)
  )
  for (const path of ['/one', '/two']) {
    for (const { id } of rows) {
      const ids = eventIds(world, path, body => body.event_name === 'project_create' && body.project_id === id)
      if (ids.size !== 1) faults.push(`project ${id} has ${ids.size} events at ${path}, not 1: ${[...ids].join(' ')}`)
    }
  }
  for (const { id } of rows) {
    const { status, json } = await read(world, `/projects/${id}/repository/tree`)
    // Decided: a project without commits has no tree.
    const isEmpty = status === 404 && (json as { message?: string }).message === '404 Tree Not Found'
    if (status !== 200 && !isEmpty) faults.push(`the tree of project ${id} got the answer ${status}`)
  }
  return faults
}

function grouped<T, K>(list: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of list) {
    const key = keyOf(item)
    groups.set(key, [...(groups.get(key) ?? []), item])
  }
  return groups
}

type HookTest = (body: World['receiver']['hooks'][number]['body']) => boolean

const eventIds = (world: World, path: string, test: HookTest) =>
  new Set(world.receiver.hooks.filter(hook => hook.path === path && test(hook.body)).map(hook => webhookId(hook)))

const webhookId = ({ headers }: World['receiver']['hooks'][number]) => String(headers['webhook-id'])

/**
 * Checks that the changes of every ref lead from nothing to the value that git has, and contain all acknowledged
 * changes.
 */
async function checkRefs(world: World, changes: readonly Change[]): Promise<string[]> {
  const faults: string[] = []
  const repositories = await repositoriesOf(world)
  const values = new Map<string, string>()
  for (const [project, path] of repositories) {
    for (const [ref, value] of await refsOf(path)) {
      // The appliance's own refs are not changes of users.
      if (!ref.startsWith('refs/internal/')) values.set(`${project} ${ref}`, value)
    }
    const fsck = await git(path, ['fsck', '--full', '--no-dangling']).catch(String)
    if (fsck !== '') faults.push(`fsck of project ${project}: ${fsck}`)
  }
  const refs = grouped(changes, ({ project_id, ref }) => `${project_id} ${ref}`)
  for (const key of new Set([...refs.keys(), ...values.keys()])) {
    const trail = follow(refs.get(key) ?? [], values.get(key) ?? ZERO)
    if (trail) faults.push(`ref ${key}: ${trail}`)
  }
  for (const accepted of world.refs) {
    const there = changes.some(
      change =>
        change.project_id === accepted.project &&
        change.ref === accepted.ref &&
        change.new_id === accepted.new &&
        // An earlier push without an answer may be carried out after its client has looked: then git pushes from its value. The trail
        // above proves that nothing is missing in between.
        (change.old_id === accepted.old || accepted.new !== ZERO)
    )
    if (!there) faults.push(`acknowledged but not recorded: ${JSON.stringify(accepted)}`)
  }
  return faults
}

/**
 * Returns null when the changes, each used once, lead from nothing to `end`: every value is reached as often as it is left.
 */
function follow(changes: readonly Change[], end: string): string | null {
  const balance = new Map<string, number>()
  const add = (value: string, by: number) => balance.set(value, (balance.get(value) ?? 0) + by)
  add(ZERO, 1)
  add(end, -1)
  for (const { old_id, new_id } of changes) {
    add(old_id, -1)
    add(new_id, 1)
  }
  const wrong = [...balance].filter(([, by]) => by !== 0)
  if (wrong.length === 0) return null
  const told = changes.map(({ id, old_id, new_id }) => `${id}: ${old_id.slice(0, 8)}..${new_id.slice(0, 8)}`)
  return `the changes do not lead to ${end.slice(0, 8)}: ${told.join(', ')}; off balance: ${wrong.map(String).join(' ')}`
}

/** Returns the paths of the repositories by project. The path comes from the hash of the project's number. */
async function repositoriesOf(world: World): Promise<Map<number, string>> {
  const { createHash } = await import('node:crypto')
  const projects = await query<{ id: number; storage: string }>(world, 'select id, storage from projects')
  const found = new Map<number, string>()
  for (const { id, storage } of projects) {
    const hash = createHash('sha256').update(String(id)).digest('hex')
    const folder = join(world.home, 'repositories', storage, hash.slice(0, 2), hash.slice(2, 4))
    if (namesIn(folder).includes(`${hash}.git`)) found.set(id, join(folder, `${hash}.git`))
  }
  return found
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

async function refsOf(path: string): Promise<[string, string][]> {
  const lines = await git(path, ['for-each-ref', '--format=%(refname) %(objectname)'])
  return lines
    .split('\n')
    .filter(line => line !== '')
    .map(line => line.split(' ') as [string, string])
}

/** Checks that every hook got every change under one id, and nothing else. */
function checkEvents(world: World, changes: readonly Change[]): string[] {
  const faults: string[] = []
  for (const path of ['/one', '/two']) {
    const told = new Map<string, Set<string>>()
    for (const hook of world.receiver.hooks) {
      const { body } = hook
      if (hook.path !== path || !body.event_name.endsWith('push')) continue
      const key = `${body.project_id} ${body.ref} ${body.before} ${body.after}`
      told.set(key, (told.get(key) ?? new Set()).add(webhookId(hook)))
    }
    const wanted = grouped(
      changes.filter(({ ref, new_id }) => !(ref.startsWith('refs/tags/') && new_id === ZERO)),
      ({ project_id, ref, old_id, new_id }) => `${project_id} ${ref} ${old_id} ${new_id}`
    )
    for (const key of new Set([...told.keys(), ...wanted.keys()])) {
      const [ids, times] = [told.get(key)?.size ?? 0, wanted.get(key)?.length ?? 0]
      if (ids !== times) faults.push(`${key}: ${times} changes, ${ids} events to ${path}`)
    }
  }
  return faults
}

/** Checks that every change to a commit with a CI file has one pipeline. */
async function checkPipelines(world: World, changes: readonly Change[]): Promise<string[]> {
  const faults: string[] = []
  const pipelines = await query<{ id: number; ref_change_id: number; sha: string; status: string }>(
    world,
    'select id, ref_change_id, sha, status from pipelines'
  )
  const byChange = grouped(pipelines, ({ ref_change_id }) => ref_change_id)
  for (const { id, ref, new_id } of changes) {
    const own = byChange.get(id) ?? []
    if (new_id === ZERO ? own.length !== 0 : own.length !== 1 || own[0]?.sha !== new_id) {
      faults.push(`change ${id} of ${ref} has ${own.length} pipelines`)
    }
  }
  const stuck = pipelines.filter(({ status }) => !['success', 'failed', 'skipped'].includes(status))
  return [...faults, ...stuck.map(({ id, status }) => `pipeline ${id} is ${status}`)]
}

interface BuildRow {
  readonly id: number
  readonly project_id: number
  readonly name: string
  readonly ref: string
  readonly sha: string
  readonly status: string
  readonly failure_reason: string | null
  readonly attempt: number
  readonly trace_size: number
  readonly pipeline: string
}

const looked = new WeakMap<World, number>()

/**
 * Checks that builds which must succeed did, with trace and artifacts, and that builds which must fail failed, with
 * their pipelines.
 */
async function checkBuilds(world: World): Promise<string[]> {
  const builds = await query<BuildRow>(
    world,
    `select b.id, b.project_id, b.name, b.ref, b.sha, b.status, b.failure_reason, b.attempt, b.trace_size, p.status as pipeline
     from builds b join pipelines p on p.id = b.pipeline_id where b.id > ${looked.get(world) ?? 0} order by b.id`
  )
  const faults: string[] = []
  for (const build of builds) {
    const wrong = await checkBuild(world, build)
    if (wrong) faults.push(`build ${build.id} ${build.name} of ${build.ref}, attempt ${build.attempt}: ${wrong}`)
    looked.set(world, build.id)
  }
  return faults
}

async function checkBuild(world: World, build: BuildRow): Promise<string | null> {
  const wanted = build.name === 'bad' ? 'failed' : 'success'
  if (build.status !== wanted) return `is ${build.status} (${build.failure_reason})`
  const pipeline = build.ref.startsWith('bad') ? 'failed' : 'success'
  if (build.pipeline !== pipeline) return `its pipeline is ${build.pipeline}`
  const path = `/projects/${build.project_id}/builds/${build.id}`
  const trace = await read(world, `${path}/trace`)
  // The trace must be complete, and from one attempt: every line that the script prints, once, in order.
  const printed = printedBy(build)
  const found = trace.bytes
    .toString()
    .split('\n')
    .filter(line => line.endsWith(build.sha))
  if (found.join() !== printed.join()) return `its trace is not that of one attempt: ${trace.status} ${trace.bytes}`
  if (Number(build.trace_size) !== trace.bytes.length) {
    return `its trace has ${trace.bytes.length} bytes, and its record has ${build.trace_size}`
  }
  if (build.name !== 'good') return null
  const archive = await read(world, `${path}/artifacts`)
  if (archive.status !== 200) return `its artifacts got the answer ${archive.status}`
  const files = await unzip(archive.bytes)
  return files.get('out/sha.txt') === `${build.sha}\n` ? null : `its artifacts contain ${JSON.stringify([...files])}`
}

function printedBy({ name, sha }: BuildRow): string[] {
  if (name === 'bad') return [`about to fail ${sha}`]
  if (name === 'after') return [`end ${sha}`]
  const lines = Array.from({ length: LINES }, (_, at) => `line ${at + 1} of ${sha}`)
  return [`begin ${sha}`, ...lines, `end ${sha}`]
}

/** Checks that the files exist which the API acknowledged. */
async function checkFiles(world: World): Promise<string[]> {
  const faults: string[] = []
  const repositories = await repositoriesOf(world)
  for (const [project, files] of grouped(world.files, ({ project }) => project)) {
    const tree = await git(repositories.get(project) ?? '/', ['ls-tree', '-r', '--name-only', 'master'])
    const there = new Set(tree.split('\n'))
    faults.push(...files.filter(({ path }) => !there.has(path)).map(({ path }) => `${path} of ${project} is lost`))
  }
  return faults
}
