// The status for every kind of actor on every kind of project and group: "Permissions" and "Authentication" as data. It
// follows those pages and not the table of abilities, because it tests that table.
import {
  ANYBODY,
  answering,
  FORBIDDEN,
  internally,
  membersFrom,
  membersOfOpen,
  SIGNED_IN,
  type Statuses,
  statuses
} from './actors.js'

/**
 * `privateClosed` and `closedBuilds` (which is public) have public_builds off; `withoutBuilds` and `archived` are
 * public; `grouped` is private, belongs to a group and is shared with another group.
 */
export const PROJECTS = [
  'private',
  'privateClosed',
  'internal',
  'public',
  'closedBuilds',
  'withoutBuilds',
  'archived',
  'grouped'
] as const
export type ProjectKind = (typeof PROJECTS)[number]
export type ProjectStatuses = { readonly [Kind in ProjectKind]: Statuses }

/** Expects the same on every public project, except for the kinds in `others`. */
const onProjects = (
  hidden: Statuses,
  internal: Statuses,
  open: Statuses,
  others: Partial<ProjectStatuses> = {}
): ProjectStatuses => ({
  private: hidden,
  privateClosed: hidden,
  internal,
  public: open,
  closedBuilds: open,
  withoutBuilds: open,
  archived: open,
  grouped: hidden,
  ...others
})

/** Read a project: members may, others by the visibility. */
export const READ_PROJECT = onProjects(membersFrom('guest', 404), internally(ANYBODY, 404), ANYBODY)

/** Read a repository: a guest of a private project may not. */
export const READ_REPOSITORY = onProjects(membersFrom('reporter', 404), internally(ANYBODY, 404), ANYBODY)

/** Does not allow clients without credentials, even on public projects. */
export const READ_COMMIT = onProjects(membersFrom('reporter', 401), internally(SIGNED_IN, 401), SIGNED_IN)

/** Comment on commits: signed-in users who may read them. */
export const COMMENT_COMMIT = onProjects(
  answering(201, membersFrom('reporter', 401)),
  answering(201, internally(SIGNED_IN, 401)),
  answering(201, SIGNED_IN)
)

/** Builds: guests and strangers read them when public_builds is on. */
export const READ_BUILDS = onProjects(membersFrom('guest', 401), internally(SIGNED_IN, 401), SIGNED_IN, {
  privateClosed: membersFrom('reporter', 401),
  closedBuilds: membersOfOpen('reporter'),
  withoutBuilds: FORBIDDEN
})

/** Pipelines: everybody who sees an open project may read them; guests of a private project only with public_builds. */
export const READ_PIPELINES: ProjectStatuses = { ...READ_BUILDS, closedBuilds: SIGNED_IN }

/** Writes of developers: an archived project refuses them. */
export const write = (status: number): ProjectStatuses =>
  onProjects(
    answering(status, membersFrom('developer', 401)),
    answering(status, internally(membersOfOpen('developer'), 401)),
    answering(status, membersOfOpen('developer')),
    { archived: FORBIDDEN }
  )

/** Actions that only members of a project with at least this level may do. */
export const administer = (least: 'reporter' | 'master' | 'owner', status = 200): ProjectStatuses =>
  onProjects(
    answering(status, membersFrom(least, 401)),
    answering(status, internally(membersOfOpen(least), 401)),
    answering(status, membersOfOpen(least))
  )

/** The same for routes that require builds to be enabled. */
export const withBuilds = (expected: ProjectStatuses): ProjectStatuses => ({ ...expected, withoutBuilds: FORBIDDEN })

const MEMBERS_REFUSED = { guest: 403, reporter: 403, developer: 403, master: 403, owner: 403, admin: 403 }
const asking = (expected: Statuses): Statuses => answering(201, statuses({ ...expected, ...MEMBERS_REFUSED }))

/** Request access: users who are not members. */
export const ASK_PROJECT = onProjects(
  asking(membersFrom('guest', 401)),
  asking(internally(SIGNED_IN, 401)),
  asking(SIGNED_IN)
)

/** Every signed-in user who sees the project. */
export const SEE_PROJECT = (status = 200): ProjectStatuses =>
  onProjects(
    answering(status, membersFrom('guest', 401)),
    answering(status, internally(SIGNED_IN, 401)),
    answering(status, SIGNED_IN)
  )

/** Only administrators. */
export const ADMINISTER_PROJECT = (status = 200): ProjectStatuses => {
  const hidden = statuses({ ...membersFrom('owner', 401), owner: 403, admin: status })
  const open = statuses({ ...FORBIDDEN, admin: status })
  return onProjects(hidden, internally(open, 401), open)
}

/** git over HTTP asks clients without credentials for a password (401), where the API returns 404. */
export const FETCH = onProjects(membersFrom('reporter', 401), internally(ANYBODY, 401), ANYBODY)

/** `holding` is a private group that contains a public project. */
export const GROUPS = ['private', 'internal', 'public', 'holding'] as const
export type GroupKind = (typeof GROUPS)[number]
export type GroupStatuses = { readonly [Kind in GroupKind]: Statuses }

/** Read a group: members may, others by the visibility, and everybody who sees one of its projects. */
export const READ_GROUP: GroupStatuses = {
  private: membersFrom('guest', 401),
  internal: internally(SIGNED_IN, 401),
  public: SIGNED_IN,
  holding: SIGNED_IN
}

/** Actions that only owners of a group may do. */
export const administerGroup = (status = 200): GroupStatuses => ({
  private: answering(status, membersFrom('owner', 401)),
  internal: answering(status, internally(membersOfOpen('owner'), 401)),
  public: answering(status, membersOfOpen('owner')),
  holding: answering(status, membersOfOpen('owner'))
})

export const ASK_GROUP: GroupStatuses = {
  private: asking(membersFrom('guest', 401)),
  internal: asking(internally(SIGNED_IN, 401)),
  public: asking(SIGNED_IN),
  holding: asking(SIGNED_IN)
}

/** Only administrators; others get 403 instead of 404 if they may see the group. */
export function ADMINISTER_GROUP(status: number): GroupStatuses {
  const open = statuses({ ...FORBIDDEN, admin: status })
  return {
    private: statuses({ ...membersFrom('owner', 401), owner: 403, admin: status }),
    internal: internally(open, 401),
    public: open,
    holding: open
  }
}
