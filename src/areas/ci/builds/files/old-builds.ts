// Moves old pipelines into files, with their builds, traces and everything else that belongs to them.
import { isUtf8 } from 'node:buffer'
import { execute, marks, rows } from '../../../../db/connect/sql.js'
import { deleteWhole } from '../../../../db/ownership/owned-rows.js'
import { goesWith, linksTo } from '../../../../db/ownership/owned-tables.js'
import type { Task } from '../../../../queue/task.js'
import { readTrace } from '../../../../storage/traces.js'
import { archiveOld, type Candidate, PAGE, type Source } from '../../../ground/records/archive-old.js'
import { lineOf } from '../../../ground/records/record-line.js'
import { removeBuildFiles } from './remove-files.js'

export const oldBuilds: Task = {
  name: 'old_builds',
  schedule: '47 2 * * *',
  about:
    'moves finished pipelines without artifacts that are older than `archive.builds` days into compressed files, with their builds and traces',
  run: context => archiveOld(buildSource, context)
}

type Fields = Readonly<Record<string, unknown>>

interface BuildRow extends Fields {
  readonly id: number
  readonly pipeline_id: number
  readonly attempt: number
  readonly trace_size: number
}

interface PipelineRow extends Fields {
  readonly id: number
  readonly project_id: number
}

interface Records {
  readonly pipelines: readonly PipelineRow[]
  readonly builds: readonly BuildRow[]
  readonly owned: readonly { readonly table: string; readonly column: string; readonly found: readonly Fields[] }[]
}

/** Tables with rows of a pipeline, except for builds. */
const OWNED = linksTo('pipelines').filter(({ table, link }) => goesWith(link) && table !== 'builds')

/**
 * A pipeline stays while somebody may need it: while a build waits, runs, has artifacts or ended later; if it made the last deployment of
 * an environment, which shows its build and needs its job that stops it; and if a merge request of its branch is open, which may require
 * its success.
 */
const LEAVES = `l.status in ('success', 'failed', 'canceled', 'skipped') and coalesce(l.finished_at, l.created_at) < ?
  and not exists (select 1 from builds b where b.pipeline_id = l.id and (b.status in ('created', 'pending', 'running')
    or b.artifacts_attempt is not null or b.finished_at >= ?))
  and not exists (select 1 from builds b join environments e on e.id = b.environment_id and e.state = 'available'
    join deployments d on d.build_id = b.id
    where b.pipeline_id = l.id and d.id = (select max(x.id) from deployments x where x.environment_id = e.id))
  and not exists (select 1 from merge_requests m where m.source_project_id = l.project_id and m.source_branch = l.ref and m.is_open)`

const buildSource: Source<Records> = {
  kind: 'builds',
  // A pipeline may have hundreds of builds.
  atOnce: 20,
  page: (after, before) =>
    rows<Candidate>(
      `select l.id, l.project_id, null as author_id, l.created_at, (l.created_at < ? and ${LEAVES}) as leaves
       from pipelines l where l.id > ? order by l.id limit ${PAGE}`,
      [before, before, before, after]
    ),
  read: readPipelines,
  lines: linesOf,
  remove: removeRows,
  clean: async ({ builds }) => {
    for (const build of builds) await removeBuildFiles(build)
  }
}

async function readPipelines(ids: readonly number[], lock: string): Promise<Records> {
  const of = <Row>(table: string, column: string) =>
    rows<Row>(`select * from ${table} where ${column} in (${marks(ids)}) order by ${column} ${lock}`, ids)
  const pipelines = await of<PipelineRow>('pipelines', 'id')
  const builds = (await of<BuildRow>('builds', 'pipeline_id')).sort((one, other) => one.id - other.id)
  const owned: Records['owned'][number][] = []
  for (const { table, link } of OWNED) {
    const found = await of<Fields>(table, link.column)
    // Not all of these tables have a number: the order must be the same when they are read again.
    owned.push({ table, column: link.column, found: found.sort(byText) })
  }
  return { pipelines, builds, owned }
}

const byText = (one: Fields, other: Fields) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1)

async function* linesOf({ pipelines, builds, owned }: Records): AsyncGenerator<string> {
  for (const pipeline of pipelines) {
    yield lineOf('pipelines', pipeline)
    for (const build of builds.filter(({ pipeline_id }) => pipeline_id === pipeline.id)) {
      yield lineOf('builds', build, await traceOf(build))
    }
    for (const { table, column, found } of owned) {
      for (const fields of found) if (fields[column] === pipeline.id) yield lineOf(table, fields)
    }
  }
}

/** The trace of the last attempt. Its bytes need not be text. */
async function traceOf({ id, attempt, trace_size }: BuildRow): Promise<object> {
  const pieces: Buffer[] = []
  for (let at = 0; at < trace_size; ) {
    const piece = await readTrace({ build: id, attempt }, at)
    if (piece.length === 0) break
    pieces.push(piece)
    at += piece.length
  }
  const trace = Buffer.concat(pieces)
  return isUtf8(trace) ? { trace: trace.toString() } : { trace_base64: trace.toString('base64') }
}

async function removeRows(ids: readonly number[], { pipelines }: Records): Promise<void> {
  await deleteWhole('pipelines', ids)
  for (const { id, project_id } of pipelines) {
    await execute('insert into archived_pipelines (id, project_id) values (?, ?)', [id, project_id])
  }
}
