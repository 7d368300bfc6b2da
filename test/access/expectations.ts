// The status for every kind of asker on every kind of project and group: "Permissions" and "Authentication" as data. It
// follows those pages and not the table of abilities, because it tests that table.
import {
  answering,
  FORBIDDEN,
  internally,
  membersFrom,
  membersOfOpen,
  OPEN,
  OPEN_TO_USERS,
  type Statuses,
  statuses
} from './actors.js'

/**
 * `privateClosed` and `closedBuilds` (which is public) have public_builds off; `withoutBuilds` and `archived` are
 * public; `grouped` is private, lies in a group and is shared with another group.
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

/** The same on every public project, except for the kinds that are named. */
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

/** Read project: members may, others by the visibility. */
export const READ_PROJECT = onProjects(membersFrom('guest', 404), internally(OPEN, 404), OPEN)

/** Read repository: a guest of a private project may not. */
export const READ_REPOSITORY = onProjects(membersFrom('reporter', 404), internally(OPEN, 404), OPEN)

/** The same, but clients without credentials may not, even on public projects. */
export const READ_COMMIT = onProjects(membersFrom('reporter', 401), internally(OPEN_TO_USERS, 401), OPEN_TO_USERS)

/** Those who read commits and are signed in comment on them. */
export const COMMENT_COMMIT = onProjects(
  answering(201, membersFrom('reporter', 401)),
  answering(201, internally(OPEN_TO_USERS, 401)),
  answering(201, OPEN_TO_USERS)
)

/** Builds: guests and strangers read them when public_builds is on. */
export const READ_BUILDS = onProjects(membersFrom('guest', 401), internally(OPEN_TO_USERS, 401), OPEN_TO_USERS, {
  privateClosed: membersFrom('reporter', 401),
  closedBuilds: membersOfOpen('reporter'),
  withoutBuilds: FORBIDDEN
})

/** Pipelines: everybody who sees an open project reads them; guests of a private project only with public_builds. */
export const READ_PIPELINES: ProjectStatuses = { ...READ_BUILDS, closedBuilds: OPEN_TO_USERS }

/** Writes of developers: an archived project refuses them. */
export const write = (status: number): ProjectStatuses =>
  onProjects(
    answering(status, membersFrom('developer', 401)),
    answering(status, internally(membersOfOpen('developer'), 401)),
    answering(status, membersOfOpen('developer')),
    { archived: FORBIDDEN }
  )

/** What members of a project from a level on may do, and nobody else. */
export const administer = (least: 'reporter' | 'master' | 'owner', status = 200): ProjectStatuses =>
  onProjects(
    answering(status, membersFrom(least, 401)),
    answering(status, internally(membersOfOpen(least), 401)),
    answering(status, membersOfOpen(least))
  )

/** The same for what a project offers only with builds enabled. */
export const withBuilds = (expected: ProjectStatuses): ProjectStatuses => ({ ...expected, withoutBuilds: FORBIDDEN })

const MEMBERS_REFUSED = { guest: 403, reporter: 403, developer: 403, master: 403, owner: 403, admin: 403 }
const asking = (expected: Statuses): Statuses => answering(201, statuses({ ...expected, ...MEMBERS_REFUSED }))

/** Users who are not members ask for access. */
export const ASK_PROJECT = onProjects(
  asking(membersFrom('guest', 401)),
  asking(internally(OPEN_TO_USERS, 401)),
  asking(OPEN_TO_USERS)
)

/** Everybody who is signed in and sees the project. */
export const SEE_PROJECT = (status = 200): ProjectStatuses =>
  onProjects(
    answering(status, membersFrom('guest', 401)),
    answering(status, internally(OPEN_TO_USERS, 401)),
    answering(status, OPEN_TO_USERS)
  )

/** Administrators alone. */
export const ADMINISTER_PROJECT = (status = 200): ProjectStatuses => {
  const hidden = statuses({ ...membersFrom('owner', 401), owner: 403, admin: status })
  const open = statuses({ ...FORBIDDEN, admin: status })
  return onProjects(hidden, internally(open, 401), open)
}

/** git over HTTP asks clients without credentials for a password (401), where the API answers 404. */
export const FETCH = onProjects(membersFrom('reporter', 401), internally(OPEN, 401), OPEN)

/** `holding` is a private group that holds a public project. */
export const GROUPS = ['private', 'internal', 'public', 'holding'] as const
export type GroupKind = (typeof GROUPS)[number]
export type GroupStatuses = { readonly [Kind in GroupKind]: Statuses }

/** Read group: members may, others by the visibility, and everybody who sees one of its projects. */
export const READ_GROUP: GroupStatuses = {
  private: membersFrom('guest', 401),
  internal: internally(OPEN_TO_USERS, 401),
  public: OPEN_TO_USERS,
  holding: OPEN_TO_USERS
}

/** What owners of a group may do, and nobody else. */
export const administerGroup = (status = 200): GroupStatuses => ({
  private: answering(status, membersFrom('owner', 401)),
  internal: answering(status, internally(membersOfOpen('owner'), 401)),
  public: answering(status, membersOfOpen('owner')),
  holding: answering(status, membersOfOpen('owner'))
})

export const ASK_GROUP: GroupStatuses = {
  private: asking(membersFrom('guest', 401)),
  internal: asking(internally(OPEN_TO_USERS, 401)),
  public: asking(OPEN_TO_USERS),
  holding: asking(OPEN_TO_USERS)
}

/** Administrators alone; others learn that the group exists if they may see it. */
export function ADMINISTER_GROUP(status: number): GroupStatuses {
  const open = statuses({ ...FORBIDDEN, admin: status })
  return {
    private: statuses({ ...membersFrom('owner', 401), owner: 403, admin: status }),
    internal: internally(open, 401),
    public: open,
    holding: open
  }
}

/** A page of the browser, without credentials: it ignores tokens. */
export const PAGE = statuses({ others: 200 })
