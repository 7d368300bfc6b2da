// Keeps the JSON of the builds that lists show, which is the same for all callers. A list reads only what proves it: the versions of the
// rows of the build, its pipeline, its user and its runner, which the database sets whenever one of them changes.
import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { forgetWithPool } from '../../../../db/connect/connection.js'
import type { RecordText, TextReply } from '../../../../db/lists/paginate.js'
import { memoryOf } from '../../../../lib/bytes.js'
import { MACHINE_MEMORY, shareOf } from '../../../../lib/machine-memory.js'
import type { ProjectRow } from '../../../projects/projects/projects.queries.js'
import { pageOfProofs, readProvenBuilds } from '../build-readings.js'
import type { BuildListQuery } from '../builds.schema.js'
import { viewBuild } from '../builds.view.js'

interface KeptBuild extends RecordText {
  readonly proof: string
  /** By `Date.now()`. */
  readonly until: number
}

const MIB = 2 ** 20
const SHARE = { part: 1 / 512, least: 4 * MIB, most: 64 * MIB }
/** Bytes for the objects of an entry. */
const EXTRA = 300
/** Milliseconds. It limits the effect of what no row proves, such as a commit that the repository has lost. */
const KEEP_MS = 300_000

const kept = new LRUCache<number, KeptBuild>({
  maxSize: shareOf(MACHINE_MEMORY, SHARE),
  sizeCalculation: ({ text, version, proof }) => EXTRA + memoryOf(text) + memoryOf(version) + memoryOf(proof)
})
forgetWithPool(() => kept.clear())

/** Sends a page of the builds of a project, or of a commit. Throws NotFound when the commit does not exist. */
export async function sendBuilds<Sent>(
  reply: TextReply<Sent>,
  project: ProjectRow,
  query: BuildListQuery,
  sha?: string
): Promise<Sent> {
  const page = await pageOfProofs(project, query, sha)
  const now = Date.now()
  const known = page.items.map(({ id, proof }) => {
    const build = kept.get(id)
    return build?.proof === proof && now <= build.until ? build : undefined
  })
  const missing = page.items.filter((_, at) => !known[at]).map(({ id }) => id)
  const made = new Map<number, RecordText>()
  for (const reading of await readProvenBuilds(project, missing)) {
    const { id, proof } = reading.build
    const text = reply.jsonOf(viewBuild(reading))
    const build = { text, version: hash('sha256', text, 'base64url'), proof, until: now + KEEP_MS }
    made.set(id, build)
    // The commit may come with the next push.
    if (reading.commit !== null) kept.set(id, build)
  }
  // A build that was removed between both statements is not listed.
  const items = page.items.flatMap(({ id }, at) => known[at] ?? made.get(id) ?? [])
  return reply.pageOfTexts({ ...page, items })
}
