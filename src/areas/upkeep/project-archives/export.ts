// Writes the archive of a project while it is in use: all rows are of one moment, and refs are read after that, so that the
// commits of all rows exist.
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import type { Origin } from '../../../access/actor.js'
import { config } from '../../../config.js'
import { transact } from '../../../db/connect/transact.js'
import { withSnapshot } from '../../../db/snapshot/snapshot.js'
import { Unavailable } from '../../../errors.js'
import { type PackedRef, portableRefs, writePack } from '../../../git/repository/packs.js'
import type { LfsKey } from '../../../storage/lfs.js'
import { type ListedUpload, listUploads, openUpload } from '../../../storage/uploads.js'
import { version } from '../../../version.js'
import { audit } from '../../ground/audit/audit.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { ensureRepository } from '../../projects/projects/repositories.js'
import { type BuildFiles, buildFilesOf, lfsEntries, lfsObjectsOf } from './export-files.js'
import {
  boardRecords,
  type Draft,
  issueRecords,
  labelIds,
  labelRecords,
  mergeRequestRecords,
  noteRecords,
  pipelineRecords,
  projectRecord,
  snippetRecords
} from './export-records.js'
import { type ProjectRows, rowsOf } from './export-rows.js'
import {
  deploymentRecords,
  environmentRecords,
  hookRecords,
  scheduleRecords,
  variableRecords
} from './export-settings.js'
import {
  BadProjectArchive,
  type Extra,
  FORMAT,
  KINDS,
  type Kind,
  LONGEST_LINE,
  MANIFEST,
  type Manifest,
  MOST,
  MOST_BUILD_FILES,
  MOST_LFS_OBJECTS,
  MOST_REFS,
  PACK,
  RECORDS,
  REFS,
  UPLOADS
} from './format.js'
import { checkRecord } from './records.js'
import { type Entry, linesOf, writeArchive } from './write-archive.js'

export interface ExportOptions {
  /** The file to write; default: NAMESPACE-PROJECT-TIME.zip in the current folder. */
  readonly output?: string
  /** What the archive has in addition. */
  readonly extras?: readonly Extra[]
  readonly signal: AbortSignal
  /** Called after each record. */
  readonly progress?: (done: number, total: number) => void
}

export interface Exported {
  readonly path: string
  readonly bytes: number
  readonly project: string
  readonly counts: Manifest['counts']
  readonly refs: number
  readonly uploads: number
  readonly traces: number
  readonly artifacts: number
  /** Objects of LFS. */
  readonly lfs: number
  /** Objects of LFS that were lost; traces and artifacts that were lost, or expired in the meantime, and whose entries are empty. */
  readonly missing_files: number
}

type Counts = { [K in Kind]: number }

/** Exports a project. Throws Conflict when the file exists, Unavailable while its repository is being filled. */
export async function exportProject(project: ProjectRow, options: ExportOptions, origin: Origin): Promise<Exported> {
  const name = `${project.namespace_path}/${project.path}`
  const now = new Date()
  const path = resolve(options.output ?? nameOf(name, now))
  if (project.import_state === 'waiting') throw new Unavailable('the repository is still being copied: try later')
  const extras = new Set(options.extras)
  const { manifest, bytes, missing } = await withSnapshot(async snapshot => {
    const source = rowsOf(snapshot, project.id, options.signal)
    const files = buildFilesOf(source, project.id, extras, now)
    const labels = await labelIds(source, project.id)
    const repository = await ensureRepository(project)
    const refs = portableRefs(repository)
    const uploads = await uploadsOf(project.id)
    const lfs = await lfsObjectsOf(source, project.id)
    const manifest: Manifest = {
      format: FORMAT,
      gitstead: version,
      exported_at: now.toISOString(),
      project: name,
      counts: await countAll(source, project.id, labels.length, extras),
      refs: refs.length,
      uploads: uploads.length,
      ...(await files.count()),
      lfs: lfs.present.length
    }
    requirePortable(manifest)
    const entries = entriesOf({
      project,
      source,
      labels,
      repository,
      refs,
      uploads,
      files,
      lfs: lfs.present,
      manifest,
      options,
      extras
    })
    return { manifest, ...(await writeArchive(path, entries, options.signal)), missing: files.missing() + lfs.lost }
  })
  const target = { type: 'project', id: project.id, name }
  const changes = { file: { after: path }, ...(extras.size > 0 && { with: { after: [...extras].join(' ') } }) }
  await transact(() => audit(origin, { action: 'project.export', target, changes }))
  const { counts, refs, uploads, traces, artifacts, lfs } = manifest
  return { path, bytes, project: name, counts, refs, uploads, traces, artifacts, lfs, missing_files: missing }
}

const nameOf = (path: string, now: Date): string =>
  `${path.replaceAll('/', '-')}-${now.toISOString().replace(/[-:]|\.\d+/g, '')}.zip`

/** The kinds whose records are counted by separate statements. */
const PAGED = KINDS.filter(kind => kind !== 'project' && kind !== 'label' && kind !== 'board')

async function countAll(source: ProjectRows, id: number, labels: number, extras: ReadonlySet<Extra>): Promise<Counts> {
  const counts = Object.fromEntries(KINDS.map(kind => [kind, 0])) as Counts
  for (const kind of PAGED) if (kind !== 'variable' || extras.has('variables')) counts[kind] = await source.count(kind)
  const boards = await source.rows('select id from boards where project_id = ?', [id])
  return { ...counts, project: 1, label: labels, board: boards.length }
}

/** Throws BadProjectArchive when there is more than an import accepts. */
function requirePortable({ counts, refs, uploads, traces, artifacts, lfs }: Manifest): void {
  const { max_files: files } = config().uploads
  for (const kind of KINDS) requireMost(kind, counts[kind], MOST[kind])
  requireMost('refs', refs, MOST_REFS)
  requireMost('uploads', uploads, files)
  requireMost('traces', traces, MOST_BUILD_FILES)
  requireMost('artifacts', artifacts, MOST_BUILD_FILES)
  requireMost('LFS objects', lfs, MOST_LFS_OBJECTS)
}

function requireMost(name: string, count: number, most: number): void {
  if (count > most)
    throw new BadProjectArchive(`the project has ${count} of ${name}, and an archive has at most ${most}`)
}

/** In order, so that two archives of the same project have the same content. */
async function uploadsOf(project: number): Promise<readonly ListedUpload[]> {
  const all: ListedUpload[] = []
  for await (const upload of listUploads(project)) all.push(upload)
  return all.sort((a, b) => (`${a.secret}/${a.name}` < `${b.secret}/${b.name}` ? -1 : 1))
}

interface Content {
  readonly project: ProjectRow
  readonly source: ProjectRows
  readonly labels: readonly number[]
  readonly repository: string
  readonly refs: readonly PackedRef[]
  readonly uploads: readonly ListedUpload[]
  readonly files: BuildFiles
  readonly lfs: readonly LfsKey[]
  readonly manifest: Manifest
  readonly options: ExportOptions
  readonly extras: ReadonlySet<Extra>
}

async function* entriesOf(content: Content): AsyncGenerator<Entry> {
  const { project, repository, refs, uploads, files, lfs, manifest, options } = content
  const text = (name: string, lines: AsyncIterable<string> | Iterable<string>): Entry => ({
    name,
    compress: true,
    open: () => linesOf(lines)
  })
  yield text(MANIFEST, [JSON.stringify(manifest, null, 1)])
  yield text(RECORDS, recordLines(content))
  yield text(
    REFS,
    refs.map(each => JSON.stringify(each))
  )
  const limits = { timeout: config().imports.timeout, signal: options.signal }
  if (refs.length > 0) yield { name: PACK, compress: false, open: () => writePack(repository, refs, limits) }
  for (const { secret, name } of uploads) {
    yield {
      name: `${UPLOADS}${secret}/${name}`,
      compress: false,
      // Uploads are never removed on their own, so a missing one means that the project is being removed.
      open: async () => (await openUpload({ project: project.id, secret, name }))?.stream ?? Readable.from([])
    }
  }
  yield* files.entries()
  yield* lfsEntries(lfs)
}

async function* recordLines(content: Content): AsyncGenerator<string> {
  const { manifest, options } = content
  const total = KINDS.reduce((sum, kind) => sum + manifest.counts[kind], 0)
  const counts = Object.fromEntries(KINDS.map(kind => [kind, 0])) as Counts
  let done = 0
  for await (const draft of draftsOf(content)) {
    options.signal.throwIfAborted()
    const where = `${draft.kind} ${draft.iid ?? draft.number ?? counts[draft.kind] + 1}`
    const line = JSON.stringify(checkRecord(draft, where))
    if (Buffer.byteLength(line) > LONGEST_LINE) {
      throw new BadProjectArchive(`${where} has more than ${LONGEST_LINE} bytes, the limit of an archive`)
    }
    counts[draft.kind]++
    options.progress?.(++done, total)
    yield line
  }
  const wrong = KINDS.filter(kind => counts[kind] !== manifest.counts[kind])
  if (wrong.length > 0) throw new Error(`the number of records differs from the manifest: ${wrong.join(', ')}`)
}

async function* draftsOf({ source, project: { id }, labels, files, extras }: Content): AsyncGenerator<Draft> {
  const snippets = new Map<number, number>()
  const deployed = new Map<number, number>()
  yield await projectRecord(source, id)
  yield* plain(source, 'member')
  yield* labelRecords(source, id, labels)
  yield* plain(source, 'milestone')
  yield* plain(source, 'protected_branch')
  yield* plain(source, 'release')
  yield* boardRecords(source, id)
  yield* hookRecords(source, extras)
  if (extras.has('variables')) yield* variableRecords(source)
  yield* scheduleRecords(source, extras)
  yield* environmentRecords(source)
  yield* issueRecords(source, id)
  yield* mergeRequestRecords(source, id)
  yield* snippetRecords(source, snippets)
  yield* noteRecords(source, snippets)
  yield* pipelineRecords(source, { deployed, noteFiles: files.noteFiles })
  yield* deploymentRecords(source, deployed)
}

/** Kinds whose columns are their record, except that dates and flags are converted. */
async function* plain(
  source: ProjectRows,
  kind: 'member' | 'milestone' | 'protected_branch' | 'release'
): AsyncGenerator<Draft> {
  for await (const page of source.pages(kind)) {
    for (const { id: _id, user_id: _user, ...row } of page) {
      const values = Object.entries(row).map(([name, value]) => {
        if (value instanceof Date) return [name, value.toISOString()]
        return [name, name.startsWith('developers_') ? Boolean(value) : value]
      })
      yield { kind, ...Object.fromEntries(values) }
    }
  }
}
