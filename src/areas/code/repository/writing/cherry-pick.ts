// Cherry-picks: applies the change of a commit to another branch.
import { type Origin, requireAsker } from '../../../../access/actor.js'
import { BadRequest, NotFound } from '../../../../errors.js'
import { type Commit, DamagedRepository, readCommit } from '../../../../git/objects/objects.js'
import { readObject } from '../../../../git/objects/reader.js'
import { refValue } from '../../../../git/refs/refs.js'
import { pickTree } from '../../../../git/write/cherry-pick.js'
import { prepareCopy } from '../../../../git/write/write.js'
import { lockRefusalOfTrees } from '../../../projects/lfs/push-locks.js'
import type { ProjectRow } from '../../../projects/projects/projects.queries.js'
import { repositoryPath } from '../../../projects/projects/repositories.js'
import { changeBranch } from '../../refs/branch-turns.js'
import { moveRefs } from '../../refs/move-refs.js'
import { commitOf } from '../contents.js'

const CANNOT =
  'Sorry, we cannot cherry-pick this commit automatically. A cherry-pick may have already been performed with this commit, or a more recent commit may have updated some of its content.'

/**
 * Applies the change of a commit to a branch. Returns the new commit, with the author and message of the old one.
 * Throws NotFound for the commit or the branch, BadRequest when it conflicts or changes nothing.
 */
export async function cherryPick(project: ProjectRow, sha: string, branch: string, origin: Origin): Promise<Commit> {
  const repository = repositoryPath(project)
  const ref = `refs/heads/${branch}`
  const picked = await commitOf(project, repository, sha)
  if (!picked) throw new NotFound('Commit')
  const made = await changeBranch(project, branch, origin, async moved => {
    const parent = await refValue(repository, ref)
    if (parent === null) throw new NotFound('Branch')
    const { id, write } = await prepare(project, picked.id, parent, origin)
    await moveRefs(project, [{ ref, old: parent, new: id }], origin, { write, moved })
    return id
  })
  const commit = await readCommit(repository, made)
  if (!commit) throw new DamagedRepository(repository, `the commit ${made} is missing`)
  return commit
}

async function prepare(project: ProjectRow, picked: string, parent: string, origin: Origin) {
  const repository = repositoryPath(project)
  const { id, name, email } = requireAsker(origin)
  const [treeId, target, source] = await Promise.all([
    pickTree(repository, picked, parent),
    readCommit(repository, parent),
    readObject(repository, picked)
  ])
  if (!source) throw new DamagedRepository(repository, `the commit ${picked} is missing`)
  if (treeId === null || !target || treeId === target.treeId) throw new BadRequest(CANNOT)
  const locked = await lockRefusalOfTrees(project, [target.treeId, treeId], id)
  if (locked !== null) throw new BadRequest(locked)
  return prepareCopy(repository, source.content, { parent, treeId, committer: { name, email, date: new Date() } })
}
