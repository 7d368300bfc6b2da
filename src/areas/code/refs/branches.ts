// Branches of the API ("Branches and tags").
import { createHash } from 'node:crypto'
import type { Origin } from '../../../access/actor.js'
import { BadRequest, NotAllowed, NotFound, NotFoundAs } from '../../../errors.js'
import { isMerged, readCommit, tipsMergedInto } from '../../../git/history/commits.js'
import { DamagedRepository } from '../../../git/objects/objects.js'
import {
  isNewRefName,
  RefBlocked,
  RefMoved,
  RefWithoutObject,
  refValue,
  resolveCommit,
  ZERO
} from '../../../git/refs/refs.js'
import { ensureRepository, repositoryPath } from '../../projects/projects/repositories.js'
import { changeBranch } from './branch-turns.js'
import type { NewBranch } from './branches.schema.js'
import type { BranchRow } from './branches.view.js'
import { refuseLostBranch } from './lost-branch.js'
import { type MovableProject, moveRefs } from './move-refs.js'
import { findProtections } from './protected-branches.queries.js'
import type { Protections } from './protection.js'
import { type NamedRef, namedRefs } from './ref-names.js'

/** Finds a branch. Throws NotFound. */
export async function findBranch(project: MovableProject, name: string): Promise<BranchRow> {
  const id = await refValue(repositoryPath(project), `refs/heads/${name}`)
  if (id === null) {
    if (name === project.default_branch) await refuseLostBranch(project, repositoryPath(project))
    throw new NotFound('Branch')
  }
  return readBranch(project, { name, id })
}

async function readBranch(project: MovableProject, { name, id }: { name: string; id: string }): Promise<BranchRow> {
  const repository = repositoryPath(project)
  const [commit, merged, protections] = await Promise.all([
    mustReadCommit(repository, id),
    project.default_branch === null ? false : isMergedInto(repository, id, project.default_branch),
    findProtections(project.id)
  ])
  return { name, commit, merged, protection: protections.of(name) }
}

async function isMergedInto(repository: string, id: string, branch: string): Promise<boolean> {
  const tip = await refValue(repository, `refs/heads/${branch}`)
  return tip !== null && (await isMerged(repository, id, tip))
}

async function mustReadCommit(repository: string, id: string) {
  const commit = await readCommit(repository, id)
  if (!commit) throw new DamagedRepository(repository, `the commit ${id} is missing`)
  return commit
}

export interface BranchList {
  readonly branches: readonly NamedRef[]
  readonly protections: Protections
  /** Changes with everything that the list shows. */
  readonly version: string
}

/** Lists the branches by name, without their commits. */
export async function listBranches(project: MovableProject): Promise<BranchList> {
  const [branches, protections] = await Promise.all([namedRefs(project, 'refs/heads/'), findProtections(project.id)])
  const version = createHash('sha1').update(JSON.stringify([project.default_branch, protections.rules]))
  for (const { name, id } of branches) version.update(`${id} ${name}\n`)
  return { branches, protections, version: version.digest('hex') }
}

/** Returns a function that reads some of the branches of a list. */
export async function branchReader(project: MovableProject, { branches, protections }: BranchList) {
  const repository = repositoryPath(project)
  const tip = branches.find(({ name }) => name === project.default_branch)?.id
  const merged = tip === undefined ? new Set<string>() : await tipsMergedInto(repository, tip, branches)
  return (some: readonly NamedRef[]): Promise<BranchRow[]> =>
    Promise.all(
      some.map(async ({ name, id }) => ({
        name,
        commit: await mustReadCommit(repository, id),
        merged: merged.has(id),
        protection: protections.of(name)
      }))
    )
}

/** Creates a branch at a commit. Throws BadRequest with the reason. */
export async function createBranch(
  project: MovableProject,
  { branch_name: name, ref: from }: NewBranch,
  origin: Origin
): Promise<BranchRow> {
  const ref = `refs/heads/${name}`
  if (!isNewRefName(ref)) throw new BadRequest('Branch name is invalid')
  const repository = await ensureRepository(project)
  if ((await refValue(repository, ref)) !== null) throw new BadRequest('Branch already exists')
  const commit = await resolveCommit(repository, from)
  if (!commit) throw new BadRequest('Invalid reference name')
  try {
    await moveRefs(project, [{ ref, old: ZERO, new: commit.id }], origin)
  } catch (error) {
    if (error instanceof RefMoved) throw new BadRequest('Branch already exists')
    if (error instanceof RefWithoutObject) throw new BadRequest('Invalid reference name')
    if (error instanceof RefBlocked) {
      throw new BadRequest('Branch name is invalid: it conflicts with the name of another branch')
    }
    throw error
  }
  return readBranch(project, { name, id: commit.id })
}

/** Deletes a branch. Throws NotFound, and NotAllowed for the default branch and for protected ones. */
export async function deleteBranch(project: MovableProject, name: string, origin: Origin): Promise<void> {
  const repository = repositoryPath(project)
  const ref = `refs/heads/${name}`
  await changeBranch(project, name, origin, async () => {
    const id = await refValue(repository, ref)
    if (id === null) throw new NotFoundAs('No such branch')
    if (name === project.default_branch) throw new NotAllowed('Cannot remove HEAD branch')
    if ((await findProtections(project.id)).of(name)) throw new NotAllowed('Protected branch cant be removed')
    await moveRefs(project, [{ ref, old: id, new: ZERO }], origin)
  })
}
