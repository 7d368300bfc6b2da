// The files that a CI file can include: files of its commit, of other projects that its user may read, of URLs, and templates.
import { LRUCache } from 'lru-cache'
import maxSatisfying from 'semver/ranges/max-satisfying.js'
import { type Actor, actorOf, nobody } from '../../../../access/actor.js'
import { canSee, may } from '../../../../access/authorize.js'
import type { CiFiles } from '../../../../ci/config.js'
import { publicUrl } from '../../../../config.js'
import { forgetWithPool } from '../../../../db/connect/connection.js'
import { CI_FILE_LIMIT, readCommitText } from '../../../../git/objects/commit-text.js'
import { once } from '../../../../lib/once.js'
import { fetchText } from '../../../../webhooks/fetch-text.js'
import { findSudoUser } from '../../../people/credentials/credentials.js'
import { findProject, type ProjectRow } from '../../../projects/projects/projects.queries.js'
import { ciTemplate } from '../../templates/files.js'
import { listCommitFiles } from './commit-files.js'
import { commitOf, pathsOf, TAGS, tagsOf, textOf } from './sources.js'

/** Milliseconds for which each process caches the text of a URL. */
const KEPT_MS = 60_000
/** Bytes of all cached texts. */
const KEPT_BYTES = 16 * 1_048_576

const cachedTexts = new LRUCache<string, { text: string }>({
  ttl: KEPT_MS,
  maxSize: KEPT_BYTES,
  sizeCalculation: ({ text }, url) => text.length + url.length + 1
})
forgetWithPool(() => cachedTexts.clear())

/** Milliseconds that the URLs of one pipeline may take together. */
const URLS_MS = 20_000

/** The CI file includes a URL, which may be slow: `orInOtherJob` plans the pipeline again in another job. */
export class UrlsLater extends Error {}

export interface Including {
  readonly repository: string
  readonly commitId: string
  readonly project: { readonly id: number }
  /** The user whose rights apply to other projects. Null, for a trigger: only public access. */
  readonly userId: number | null
  readonly allows?: CiFiles['allows']
  readonly values?: CiFiles['values']
  /** True: throws UrlsLater instead of reading a URL. */
  readonly urlsLater?: boolean
}

/** Returns the tag with the highest version; null without any. Those before a release (`1.0.0-rc.1`) do not count. */
export const newestRelease = (tags: readonly string[]): string | null => maxSatisfying([...tags], '*')

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
  const actor = once(() => actorFor(userId))
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
      const { names, lost } = await tagsOf(found)
      const newest = newestRelease(names.map(name => name.slice(TAGS.length)))
      // An older release would run without anybody noticing.
      if (lost.includes(`${TAGS}${newest}`))
        return { problem: `is in a project that has lost its newest tag ${newest}` }
      const problem = 'is in a project without a tag that is a version such as 1.2.3'
      return (newest !== null && (await filesAt(found, `${TAGS}${newest}`))) || { problem }
    },
    remote: async url => {
      const known = cachedTexts.get(url)
      if (known) return known
      if (urlsLater) throw new UrlsLater(url)
      if (left <= 0) return { problem: `comes after URLs that took ${URLS_MS / 1000} s together` }
      const begun = performance.now()
      const found = await fetchText(url, CI_FILE_LIMIT, left)
      left -= performance.now() - begun
      if ('text' in found) cachedTexts.set(url, found)
      return found
    },
    template: ciTemplate,
    hosts: hostsOf(publicUrl()),
    ...(values && { values }),
    ...(allows && { allows })
  }
  const filesAt = async (found: ProjectRow, name: string): Promise<CiFiles | null> => {
    const commit = await commitOf(found, name)
    if (commit === null) return null
    return {
      ...files,
      name: `${found.namespace_path}/${found.path}:`,
      read: file => textOf(found, commit, file),
      list: () => pathsOf(found, commit)
    }
  }
  return files
}

const NOT_READABLE = { problem: 'is not in a project that the user of the pipeline may read' }

/** Returns the host with its port and without it. */
function hostsOf(url: string): string[] {
  const { host, hostname } = new URL(url)
  return [...new Set([host, hostname])]
}

/** A pipeline can read its own project, regardless of the user who started it. */
async function readable(path: string, ownId: number, actor: Actor): Promise<ProjectRow | undefined> {
  const project = await findProject(path, actor)
  if (!project || project.id === ownId) return project
  return canSee(project, actor) && may(actor, 'repository.read', project) ? project : undefined
}

async function actorFor(userId: number | null): Promise<Actor> {
  const user = userId === null ? null : await findSudoUser(String(userId))
  return user ? actorOf(user, 'private') : nobody
}
