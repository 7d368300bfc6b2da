// The rules for every merge request: its texts, its branches, and the rights of users.
import type { Actor } from '../../../access/actor.js'
import { levelIn } from '../../../access/authorize.js'
import { Conflicts, Invalid, UnprocessableList } from '../../../errors.js'
import { DEVELOPER, MASTER } from '../../../lib/levels.js'
import { isLonger } from '../../../lib/text-line.js'
import { findProtections } from '../../code/refs/protected-branches.queries.js'
import { allows, type Protections } from '../../code/refs/protection.js'
import { findForkLink } from '../../projects/projects/fork-links.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { LONGEST_DESCRIPTION } from '../participation/targets.js'
import { findOpen, type MergeRequestRow } from './merge-requests.queries.js'
import { type Branches, readBranches } from './versions/branches.js'
import { allThere, type Known } from './versions/versions.js'

const LONGEST_TITLE = 255

/** Throws Invalid for texts that a merge request cannot have. */
export function checkTexts({
  title,
  description
}: {
  readonly title?: string
  readonly description?: string | null
}): void {
  const errors: Record<string, string[]> = {}
  if (title !== undefined && title.trim() === '') errors.title = ["can't be blank"]
  const tooLong = (limit: number) => `is too long (maximum is ${limit} characters)`
  if (isLonger(title ?? '', LONGEST_TITLE)) errors.title = [tooLong(LONGEST_TITLE)]
  if ((description?.length ?? 0) > LONGEST_DESCRIPTION) {
    errors.description = [tooLong(LONGEST_DESCRIPTION)]
  }
  if (Object.keys(errors).length > 0) throw new Invalid(errors)
}

/** The two branches of a merge request, by name. */
export interface BranchPair {
  readonly source: { readonly projectId: number; readonly branch: string }
  readonly target: { readonly projectId: number; readonly branch: string }
}

/** Throws UnprocessableList unless the branches are different, and belong to one project or to a fork and its source. */
export async function checkPair({ source, target }: BranchPair): Promise<void> {
  if (source.projectId === target.projectId) {
    if (source.branch !== target.branch) return
    throw new UnprocessableList(['You can not use same project/branch for source and target'])
  }
  const link = await findForkLink(source.projectId)
  if (link?.forked_from_project_id !== target.projectId) {
    throw new UnprocessableList(['Source project is not a fork of the target project'])
  }
}

/** Reads branches that must exist. Decided: they must exist at creation. Throws Invalid. */
export async function requireBranches({ source, target }: BranchPair): Promise<Known> {
  const branches = await readBranches({
    source_project_id: source.projectId,
    source_branch: source.branch,
    target_project_id: target.projectId,
    target_branch: target.branch
  })
  if (allThere(branches)) return branches
  throw missing(branches)
}

/** The failure when one of the two branches does not exist. */
export const missing = ({ head, start }: Pick<Branches, 'head' | 'start'>): Invalid =>
  new Invalid({
    ...(head === null && { source_branch: ['does not exist'] }),
    ...(start === null && { target_branch: ['does not exist'] })
  })

/** Another merge request between the same branches is open: `iid` is its number, if it is known. */
export class AlreadyOpen extends Conflicts {
  readonly iid: number | undefined
  readonly title: string

  constructor({ iid, title }: { readonly iid?: number; readonly title: string }) {
    super([`Cannot Create: This merge request already exists: [${JSON.stringify(title)}]`])
    this.iid = iid
    this.title = title
  }
}

/** Throws AlreadyOpen when another merge request between the two branches is open. */
export async function refuseSecond({ source, target }: BranchPair, except?: number): Promise<void> {
  const open = await findOpen(source, target)
  if (open && open.id !== except) throw new AlreadyOpen(open)
}

/** Whether the actor may merge into a branch: as a user who may push to it, or as a developer if its rule allows merges. */
export const mayMergeInto = async (project: ProjectRow, branch: string, actor: Actor): Promise<boolean> =>
  mayMergeBy(await findProtections(project.id), project, branch, actor)

/** Does the same with the protected branches of the project. */
export function mayMergeBy(protections: Protections, project: ProjectRow, branch: string, actor: Actor): boolean {
  const level = levelIn(project, actor)
  if (project.archived || level < DEVELOPER) return false
  const protection = protections.of(branch)
  return protection === null || allows(protection, level, 'merge')
}

/** Returns the lowest level that may merge into a branch. */
export function levelToMerge(protections: Protections, branch: string): number {
  const protection = protections.of(branch)
  return protection === null || allows(protection, DEVELOPER, 'merge') ? DEVELOPER : MASTER
}

export const isOpen = ({ state }: Pick<MergeRequestRow, 'state'>): boolean => state === 'opened' || state === 'reopened'
