// What the CI file of a pipeline can include: files of its commit, of other projects that its user may read, of URLs, and
// templates.
import { LRUCache } from 'lru-cache'
import { type Actor, actorOf, nobody } from '../../../access/actor.js'
import { canSee, may } from '../../../access/authorize.js'
import type { CiFiles } from '../../../ci/config.js'
import { publicUrl } from '../../../config.js'
import { forgetWithPool } from '../../../db/connection.js'
import { listRefs, resolveCommit } from '../../../git/refs.js'
import { lazily } from '../../../lib/lazily.js'
import { newestVersion } from '../../../lib/semantic-version.js'
import { fetchText } from '../../../webhooks/fetch-text.js'
import { findSudoUser } from '../../credentials/credentials.js'
import { findProject, type ProjectRow } from '../../projects/projects.queries.js'
import { repositoryPath } from '../../projects/repositories.js'
import { ciTemplate } from '../../templates/files.js'
import { CI_FILE_LIMIT, listCommitFiles, readCommitText } from './commit-files.js'

/** A text of a URL is asked for once in this time, in each process. */
const KEPT_MS = 60_000
/** Bytes of all texts that are kept. */
const KEPT_BYTES = 16 * 1_048_576

const kept = new LRUCache<string, { text: string }>({
  ttl: KEPT_MS,
  maxSize: KEPT_BYTES,
  sizeCalculation: ({ text }, url) => text.length + url.length + 1
})
forgetWithPool(() => kept.clear())

/** Milliseconds that the URLs of one pipeline may take together. */
const URLS_MS = 20_000

/** The CI file includes a URL, whose answer may take its time: `inOtherJob` plans the pipeline again, elsewhere. */
export class UrlsLater extends Error {}

export interface Including {
  readonly repository: string
  readonly commitId: string
  readonly project: { readonly id: number }
  /** Whose rights count for other projects. Null, for a trigger: those of nobody. */
  readonly userId: number | null
  readonly allows?: CiFiles['allows']
  readonly values?: CiFiles['values']
  /** True: throws UrlsLater in place of asking for a URL. */
  readonly urlsLater?: boolean
}

export function filesOf({
  repository,
  commitId,
  project,
  userId,
  allows,
  values,
  urlsLater = false
}: Including): CiFiles {
  let left = URLS_MS
  const actor = lazily(() => actorFor(userId))
  const files: CiFiles = {
    read: path => readCommitText(repository, commitId, path),
    list: () => listCommitFiles(repository, commitId),
    project: async (path, ref) => {
      const found = await readable(path, project.id, await actor())
      if (!found) return NOT_READABLE
      const name = ref ?? found.default_branch
      const problem = ref === null ? 'is in an empty project' : 'names a branch, tag or commit that is missing'
      return (name !== null && (await filesAt(found, name))) || { problem }
    },
    latest: async path => {
      const found = await readable(path, project.id, await actor())
      if (!found) return NOT_READABLE
      const tags = await listRefs(repositoryPath(found), TAGS)
      const newest = newestVersion(tags.map(({ name }) => name.slice(TAGS.length)))
      const problem = 'is in a project without a tag that is a version such as 1.2.3'
      return (newest !== undefined && (await filesAt(found, `${TAGS}${newest}`))) || { problem }
    },
    remote: async url => {
      const known = kept.get(url)
      if (known) return known
      if (urlsLater) throw new UrlsLater(url)
      if (left <= 0) return { problem: `comes after URLs that took ${URLS_MS / 1000} s together` }
      const begun = performance.now()
      const found = await fetchText(url, CI_FILE_LIMIT, left)
      left -= performance.now() - begun
      if ('text' in found) kept.set(url, found)
      return found
    },
    template: ciTemplate,
    hosts: hostsOf(publicUrl()),
    ...(values && { values }),
    ...(allows && { allows })
  }
  const filesAt = async (found: ProjectRow, name: string): Promise<CiFiles | null> => {
    const other = repositoryPath(found)
    const commit = await resolveCommit(other, name)
    return (
      commit && {
        ...files,
        name: `${found.namespace_path}/${found.path}:`,
        read: file => readCommitText(other, commit.id, file),
        list: () => listCommitFiles(other, commit.id)
      }
    )
  }
  return files
}

const TAGS = 'refs/tags/'
const NOT_READABLE = { problem: 'is not in a project that the user of the pipeline may read' }

/** With its port and without. */
function hostsOf(url: string): string[] {
  const { host, hostname } = new URL(url)
  return [...new Set([host, hostname])]
}

/** A pipeline reads its own project, whoever started it. */
async function readable(path: string, ownId: number, actor: Actor): Promise<ProjectRow | undefined> {
  const project = await findProject(path, actor)
  if (!project || project.id === ownId) return project
  return canSee(project, actor) && may(actor, 'repository.read', project) ? project : undefined
}

async function actorFor(userId: number | null): Promise<Actor> {
  const user = userId === null ? null : await findSudoUser(String(userId))
  return user ? actorOf(user, 'private') : nobody
}
