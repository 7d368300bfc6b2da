// Finds the commit of an archive, and names it ("Repository").
import { NotFound } from '../../../errors.js'
import { type ArchiveFormat, type ArchiveRequest, requireFormat } from '../../../git/repository/archive.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { repositoryPath } from '../../projects/projects/repositories.js'
import { commitOf } from '../repository/contents.js'

export interface FoundArchive extends ArchiveRequest {
  readonly fileName: string
}

/** Aliases of the formats, which clients of the reference service use. */
const ALIASES = {
  tgz: 'tar.gz',
  gz: 'tar.gz',
  tbz: 'tar.bz2',
  tbz2: 'tar.bz2',
  tb2: 'tar.bz2',
  bz2: 'tar.bz2',
  'tar.gz': 'tar.gz',
  'tar.bz2': 'tar.bz2',
  tar: 'tar',
  zip: 'zip'
} as const satisfies Record<string, ArchiveFormat>

export type FormatName = keyof typeof ALIASES
export const FORMAT_NAMES = Object.keys(ALIASES) as FormatName[]

export const CONTENT_TYPES: Record<ArchiveFormat, string> = {
  'tar.gz': 'application/gzip',
  'tar.bz2': 'application/x-bzip2',
  tar: 'application/x-tar',
  zip: 'application/zip'
}

export interface ArchiveQuery {
  readonly sha?: string
  readonly format?: FormatName
}

/** Throws NotFound for an unknown commit and for a project without commits, Unavailable for an unsupported format. */
export async function findArchive(
  project: ProjectRow,
  { sha, format = 'tar.gz' }: ArchiveQuery,
  client: string
): Promise<FoundArchive> {
  const repository = repositoryPath(project)
  const name = sha || project.default_branch
  const found = name === null ? null : await commitOf(project, repository, name)
  if (!found) throw new NotFound('File')
  await requireFormat(ALIASES[format])
  // Not specified: the folder in the archive. Its name contains the project, the branch or tag, and the commit.
  const ref = found.ref?.replace(/^refs\/(?:heads|tags)\//, '').replaceAll('/', '-')
  const prefix = [project.path, ...(ref === undefined ? [] : [ref]), found.id].join('-')
  const archive = { repository, commit: found.id, format: ALIASES[format], prefix, client }
  return { ...archive, fileName: `${prefix}.${archive.format}` }
}
