// The wiki of a project is a repository. It becomes a project of its own, NAME.wiki, which the same people see.
import { join } from 'node:path'
import { SourceFailure } from '../../projects/imports/source-failures.js'
import type { Draft, Source, SourceProject } from '../sources/source.js'
import type { Session } from './session.js'
import { readSpool } from './spool.js'
import { partOf } from './work-folder.js'

/** Returns the wiki of a project; null when it has none, or when the source has a project with this path. */
export async function wikiOf(source: Source, project: SourceProject): Promise<SourceProject | null> {
  const { wikiUrl, id } = project
  const path = `${project.path}.wiki`
  if (wikiUrl === null || (await exists(source, path))) return null
  return {
    ...project,
    id: `${id}.wiki`,
    path,
    cloneUrl: wikiUrl,
    wikiUrl: null,
    avatarUrl: null,
    forkOf: null,
    raw: null
  }
}

async function exists(source: Source, path: string): Promise<boolean> {
  try {
    await source.project(path)
    return true
  } catch (error) {
    if (error instanceof SourceFailure) return false
    throw error
  }
}

const FEATURES = [
  'issues_enabled',
  'merge_requests_enabled',
  'builds_enabled',
  'wiki_enabled',
  'snippets_enabled',
  'container_registry_enabled'
]

/** Yields the records of the wiki of a project that was just read: the project itself, and its members. */
export async function* wikiRecords({ migration }: Session, project: SourceProject): AsyncGenerator<Draft> {
  for await (const draft of readSpool(join(partOf(migration, project.id), 'spool'))) {
    if (draft.kind === 'member') yield draft
    if (draft.kind !== 'project') continue
    yield {
      ...draft,
      ...Object.fromEntries(FEATURES.map(name => [name, false])),
      name: `${draft.name}.wiki`,
      description: `The wiki of ${project.path}`,
      default_branch: null,
      counters: {}
    }
  }
}
