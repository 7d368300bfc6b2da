// Writes what was collected of a project as an archive, which the importer of archives loads.
import { createReadStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { config } from '../../../config.js'
import { writePack } from '../../../git/repository/packs.js'
import { version } from '../../../version.js'
import {
  BadProjectArchive,
  FORMAT,
  KINDS,
  type Kind,
  LONGEST_LINE,
  MANIFEST,
  type Manifest,
  PACK,
  RECORDS,
  REFS,
  UPLOADS
} from '../../upkeep/project-archives/format.js'
import type { ProjectRecord } from '../../upkeep/project-archives/records.js'
import { type Entry, linesOf, writeArchive } from '../../upkeep/project-archives/write-archive.js'
import type { Draft } from '../sources/source.js'
import type { KeptFile } from './files.js'
import type { Repository } from './repository.js'
import { openLines } from './spool.js'

type Counts = { [K in Kind]: number }

/** Converts the drafts. Returns the number of records of each kind. */
export async function writeRecords(
  drafts: AsyncIterable<Draft>,
  file: string,
  convert: (draft: Draft) => ProjectRecord | null
): Promise<Counts> {
  const counts = Object.fromEntries(KINDS.map(kind => [kind, 0])) as Counts
  const lines = openLines(file)
  try {
    for await (const draft of drafts) {
      const record = convert(draft)
      if (record === null) continue
      const line = JSON.stringify(record)
      if (Buffer.byteLength(line) > LONGEST_LINE)
        throw new BadProjectArchive(`a ${draft.kind} has more than ${LONGEST_LINE} bytes, the limit of an archive`)
      counts[record.kind]++
      await lines.write(line)
    }
  } finally {
    await lines.end()
  }
  return counts
}

export interface Content {
  /** NAMESPACE/PROJECT at the source. */
  readonly project: string
  readonly records: string
  readonly counts: Counts
  readonly repository: Repository
  readonly files: readonly KeptFile[]
  readonly signal: AbortSignal
}

/** Writes the archive in place of an earlier one. */
export async function writeProject(file: string, content: Content): Promise<void> {
  await rm(file, { force: true })
  await writeArchive(file, entriesOf(content), content.signal)
}

async function* entriesOf({ project, records, counts, repository, files, signal }: Content): AsyncGenerator<Entry> {
  const { refs, path } = repository
  const manifest: Manifest = {
    format: FORMAT,
    gitstead: version,
    exported_at: new Date().toISOString(),
    project: project.slice(0, 600),
    counts,
    refs: refs.length,
    uploads: files.length,
    traces: 0,
    artifacts: 0,
    lfs: 0
  }
  yield { name: MANIFEST, compress: true, open: () => linesOf([JSON.stringify(manifest, null, 1)]) }
  yield { name: RECORDS, compress: true, open: () => createReadStream(records) }
  yield { name: REFS, compress: true, open: () => linesOf(refs.map(each => JSON.stringify(each))) }
  const limits = { timeout: config().imports.timeout, signal }
  if (refs.length > 0) yield { name: PACK, compress: false, open: () => writePack(path, refs, limits) }
  for (const { secret, name, path: kept } of files)
    yield { name: `${UPLOADS}${secret}/${name}`, compress: false, open: () => createReadStream(kept) }
}
