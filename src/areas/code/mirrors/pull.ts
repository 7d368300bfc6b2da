// Follows a remote: fetches what is new and moves the branches and tags of the project, as a push of the mirror's user.
import { originOf } from '../../../access/actor.js'
import { config } from '../../../config.js'
import { isNewRefName, type RefChange, ZERO } from '../../../git/refs/refs.js'
import { fetchNews, forwardIn, giveObjects } from '../../../git/repository/mirror.js'
import { listRemote, type Remote, type RemoteRefs } from '../../../git/repository/remote.js'
import { measureObjects } from '../../../git/repository/repository.js'
import { batches } from '../../../lib/batches.js'
import { importObjects } from '../../projects/imports/lfs/import-objects.js'
import { ensureRepository, prepareProject } from '../../projects/projects/repositories.js'
import { pushMoves } from '../refs/move-refs.js'
import type { RefMove } from '../refs/ref-changes.js'
import { namedRefs } from '../refs/ref-names.js'
import { fullPatterns, matchesAny } from './branch-patterns.js'
import { MirrorProblem } from './mirror-problem.js'
import type { RefResult, RunOutcome } from './mirror-runs.js'
import type { Work } from './work.js'

const HEADS = 'refs/heads/'
/**
 * Up to so many refs are fetched by their names. With patterns, git writes every ref of the remote into the draft: for one new commit
 * in a remote with 6000 refs, that took 5 s.
 */
const FEW = 500
/** Each moved ref has an event with a job. An import has none, and so no such limit. */
const MOST_NEWS = 20_000
/** The moves of one push: each has a row, which waits for the others. */
const AT_ONCE = 1000

/** Returns the values of the branches and tags of a project by their full names. */
export async function localRefs(project: Work['project']): Promise<ReadonlyMap<string, string>> {
  const [heads, tags] = await Promise.all([namedRefs(project, 'refs/heads/'), namedRefs(project, 'refs/tags/')])
  return new Map([
    ...heads.map(({ name, id }) => [`${HEADS}${name}`, id] as const),
    ...tags.map(({ name, id }) => [`refs/tags/${name}`, id] as const)
  ])
}

/** Follows the remote. Branches and tags that the remote has deleted stay. */
export async function pull(work: Work, remote: Remote): Promise<RunOutcome> {
  const { mirror, project } = work
  // Like an import: the first fetch into an empty project starts no pipelines, one for each branch.
  const skipCi = project.default_branch === null
  const repository = await ensureRepository(project)
  const listed = await listRemote(remote)
  const patterns = fullPatterns(mirror.branch_patterns)
  const wanted = [...listed.refs].filter(([ref]) => matchesAny(patterns, ref))
  const left: RefResult[] = wanted
    .filter(([ref]) => !isNewRefName(ref))
    .map(([ref]) => ({ ref, status: 'refused', reason: 'its name is not allowed here' }))
  const ours = await localRefs(project)
  const news = wanted.filter(([ref, id]) => ours.get(ref) !== id && isNewRefName(ref))
  if (news.length === 0) return { moved: 0, left }
  if (news.length > MOST_NEWS) throw tooManyRefs()
  // Git refuses a name without a star that the remote does not have.
  const usable = patterns.filter(pattern => pattern.includes('*') || listed.refs.has(pattern))
  const { changes, forward } = await fetchChanges(work, remote, {
    ...{ repository, ours },
    patterns: news.length <= FEW ? news.map(([ref]) => ref) : usable
  })
  const isPlain = ({ ref, old }: RefChange) => old === ZERO || forward.has(ref)
  const moves = changes.filter(change => isPlain(change) || mirror.overwrite_diverged === 1)
  left.push(...changes.filter(change => !moves.includes(change)).map(divergence))
  const head = listed.refs.get(`${HEADS}${listed.head}`)
  await bringLfs(work, { repository, tips: moves.map(({ new: id }) => id), ours, head })
  const rewrites = new Set(moves.filter(change => !isPlain(change)).map(({ ref }) => ref))
  const refused = await moveAll(
    work,
    moves.map(move => ({ ...move, skipCi })),
    { rewrites, head: listed.head }
  )
  left.push(...[...refused].map(([ref, reason]): RefResult => ({ ref, status: 'refused', reason })))
  return { moved: moves.length - refused.size, left }
}

interface Fetching {
  readonly repository: string
  readonly patterns: readonly string[]
  readonly ours: ReadonlyMap<string, string>
}

/** Brings the objects into the repository when there are not too many of them. Returns the refs that differ, and which only advance. */
async function fetchChanges(
  { project, signal }: Work,
  remote: Remote,
  { repository, patterns, ours }: Fetching
): Promise<{ changes: readonly RefChange[]; forward: ReadonlySet<string> }> {
  const draft = await prepareProject(project.storage)
  try {
    const fetched = await fetchNews(remote, { repository, draft: draft.path, patterns })
    await requireFewObjects(draft.path)
    const changes = [...fetched]
      .filter(([ref, id]) => ours.get(ref) !== id && isNewRefName(ref))
      .map(([ref, id]) => ({ ref, old: ours.get(ref) ?? ZERO, new: id }))
    const existing = changes.filter(({ ref, old }) => old !== ZERO && ref.startsWith(HEADS))
    const forward = await forwardIn(draft.path, existing, signal)
    await giveObjects(draft.path, repository)
    return { changes, forward }
  } finally {
    await draft.drop()
  }
}

function tooManyRefs(): MirrorProblem {
  const text = `the remote has more than ${MOST_NEWS} new branches and tags: import it into a new project first (import_url)`
  return new MirrorProblem('too_many_refs', text)
}

/** A few bytes can unpack to millions of objects. */
async function requireFewObjects(draft: string): Promise<void> {
  const { max_objects: most } = config().imports
  const { objects } = await measureObjects(draft)
  if (objects <= most) return
  throw new MirrorProblem('too_many_objects', `the remote has more than ${most} new objects (imports.max_objects)`)
}

function divergence({ ref }: RefChange): RefResult {
  const isBranch = ref.startsWith(HEADS)
  const reason = isBranch ? 'the branch has commits that the remote lacks' : 'the remote has another tag with this name'
  return { ref, status: 'diverged', reason }
}

interface Bringing {
  readonly repository: string
  readonly tips: readonly string[]
  readonly ours: ReadonlyMap<string, string>
  /** The commit of the default branch of the remote, if it has one. */
  readonly head: string | undefined
}

/** Brings the files in LFS that the new commits name, before anybody sees these commits. */
async function bringLfs(
  { project, signal, usesLfs, lfs }: Work,
  { repository, tips, ours, head }: Bringing
): Promise<void> {
  if (tips.length === 0 || !usesLfs) return
  const own = await lfs('download')
  const part = { tips, without: [...new Set(ours.values())] }
  await importObjects({ projectId: project.id, repository, part, own, head, signal })
}

interface Moving {
  readonly rewrites: ReadonlySet<string>
  readonly head: RemoteRefs['head']
}

/** Moves the refs. The first branch of an empty project becomes its default branch, so that of the remote comes first. */
async function moveAll({ project, actor, signal }: Work, moves: readonly RefMove[], { rewrites, head }: Moving) {
  const isFirst = ({ ref }: RefMove) => project.default_branch === null && ref === `${HEADS}${head}`
  const refused = new Map<string, string>()
  const how = { rewrites, origin: originOf(actor, null) }
  const others = moves.filter(change => !isFirst(change))
  for (const some of [moves.filter(isFirst), ...batches(others, AT_ONCE)]) {
    signal.throwIfAborted()
    if (some.length === 0) continue
    for (const [ref, reason] of await pushMoves(project, some, how)) refused.set(ref, reason)
  }
  return refused
}
