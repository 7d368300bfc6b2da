// Passes the branches and tags of a project on to a remote.

import { objectInfo } from '../../../git/objects/reader.js'
import { isNewRefName, type RefChange, ZERO } from '../../../git/refs/refs.js'
import { type PushedRef, pushRefs } from '../../../git/repository/mirror.js'
import { listRemote, type Remote } from '../../../git/repository/remote.js'
import { linked, objectsNamed } from '../../projects/imports/lfs/pointers.js'
import { sendObjects } from '../../projects/imports/lfs/send.js'
import { hasLinks } from '../../projects/lfs/shared-links.js'
import { ensureRepository } from '../../projects/projects/repositories.js'
import { fullPatterns, matchesAny } from './branch-patterns.js'
import { clean } from './mirror-problem.js'
import type { RefResult, RunOutcome } from './mirror-runs.js'
import { localRefs } from './pull.js'
import type { Work } from './work.js'

const HEADS = 'refs/heads/'

/** Pushes what differs. Refs that are missing here are deleted at the remote only if the mirror says so. */
export async function push(work: Work, remote: Remote): Promise<RunOutcome> {
  const { mirror, project } = work
  const repository = await ensureRepository(project)
  const patterns = fullPatterns(mirror.branch_patterns)
  const ours = await localRefs(project)
  const { refs: theirs } = await listRemote(remote)
  const changes: RefChange[] = [...ours]
    .filter(([ref, id]) => matchesAny(patterns, ref) && theirs.get(ref) !== id && isNewRefName(ref))
    .map(([ref, id]) => ({ ref, old: theirs.get(ref) ?? ZERO, new: id }))
  // A project without any branch is more often damaged or new than emptied on purpose.
  const deletes = mirror.delete_removed === 1 && [...ours.keys()].some(ref => ref.startsWith(HEADS))
  const gone = [...theirs].filter(([ref]) => !ours.has(ref) && matchesAny(patterns, ref) && isNewRefName(ref))
  if (deletes) changes.push(...gone.map(([ref, id]) => ({ ref, old: id, new: ZERO })))
  if (changes.length === 0) return { moved: 0, left: [] }
  const tips = changes.map(change => change.new).filter(id => id !== ZERO)
  await giveLfs(work, { repository, tips, theirs: [...theirs.values()] })
  const results = await pushRefs(remote, repository, changes, mirror.overwrite_diverged === 1)
  const left = results.filter(({ result }) => result !== 'moved').map(resultOf)
  return { moved: results.length - left.length, left }
}

interface Giving {
  readonly repository: string
  readonly tips: readonly string[]
  readonly theirs: readonly string[]
}

/**
 * Gives the files in LFS that the new commits name, as git-lfs does before a push. Not specified: a server that `.lfsconfig` names. The
 * remote gets them, so that it has everything.
 */
async function giveLfs({ project, signal, usesLfs, lfs }: Work, { repository, tips, theirs }: Giving): Promise<void> {
  if (tips.length === 0 || !usesLfs || !(await hasLinks(project.id))) return
  const server = await lfs('upload')
  if (!server) return
  const known = await Promise.all([...new Set(theirs)].map(id => objectInfo(repository, id)))
  const without = known.flatMap(found => found?.id ?? [])
  const named = await objectsNamed(repository, { tips, without }, signal)
  await sendObjects(server, await linked(project.id, named), signal)
}

function resultOf({ ref, result, reason }: PushedRef): RefResult {
  if (result === 'refused') return { ref, status: 'refused', reason: `the server says: ${clean(reason, [])}` }
  const isBranch = ref.startsWith(HEADS)
  const lacks = isBranch ? 'the remote has commits that the branch lacks' : 'the remote has another tag with this name'
  return { ref, status: 'diverged', reason: lacks }
}
