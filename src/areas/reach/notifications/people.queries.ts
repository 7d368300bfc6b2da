// Reads the facts about all people whom an event may concern, with one statement: five thousand watchers of a project and ten
// thousand names in a text cost no more statements than an event without any.
import { type Actor, actorOf } from '../../../access/actor.js'
import { ACTOR_USER, type ActorUserColumns, actorUserOf } from '../../../access/actor-user.js'
import { levelIn } from '../../../access/authorize.js'
import { type Fragment, LEVEL_OF_EACH, membersOfProject } from '../../../access/membership.js'
import { askTogether } from '../../../db/connect/batching.js'
import { lowerMarks, marks, padded, row, rows, type Value } from '../../../db/connect/sql.js'
import { GUEST } from '../../../lib/levels.js'
import type { TargetType } from '../../planning/participation/targets.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { DEFAULT_LEVEL, eventsIn, type LevelName, nameOf, numberOf } from './levels.js'
import { type Applied, type Person, ROLES, type Role } from './recipients.js'

/** The facts that decide which people an event may concern. */
export interface Concerned {
  readonly project: ProjectRow
  /** Its participants and subscribers are concerned. */
  readonly target?: { readonly type: TargetType; readonly id: number }
  /** For a target without participants and subscribers, a statement that returns the `user_id` of people who wrote about it. */
  readonly writers?: Fragment
  /** For a target without subscriptions, a statement that returns the `user_id` of people who want no mail about it. */
  readonly unsubscribed?: Fragment
  /** People whom the event names; null stands for nobody. */
  readonly named: readonly (readonly [role: Role, userId: number | null])[]
  /** Names of users and groups in the text. */
  readonly mentions?: readonly string[]
  /** The members of groups that the text mentions: statements that return `user_id`. */
  readonly mentionedMembers?: readonly Fragment[]
  /** Labels whose subscribers are concerned. */
  readonly labelIds?: readonly number[]
  /** Returns whether an actor who can see the project, with that actor's level there, may read the target. */
  readonly isReadable: (project: ProjectRow, actor: Actor) => boolean
}

export interface Candidate extends Person {
  readonly username: string
  /** The settings of the user: `global` where there is no setting. */
  readonly set: { readonly project: LevelName; readonly group: LevelName; readonly global: LevelName }
  /** The address for mail; null when no address of the user is confirmed. */
  readonly address: string | null
}

/** The address for mail to the user `u`: the chosen one, or else the primary one; null unless it is confirmed. */
const ADDRESS = {
  column: 'coalesce(e.email, if(u.email_confirmed_at is null, null, u.email))',
  joins: `left join notification_settings su on su.user_id = u.id and su.source_type = 'Global' and su.source_id = 0
     left join emails e on e.user_id = u.id and e.email_key = lower(su.notification_email) and e.confirmed_at is not null`
}

/** Returns the address for mail to a user; undefined for a blocked or deleted user, or when the address is not confirmed. */
export async function addressOf(userId: number): Promise<string | undefined> {
  const found = await row<{ address: string | null }>(
    `select ${ADDRESS.column} as address from users u ${ADDRESS.joins} where u.id = ? and u.state = 'active'`,
    [userId]
  )
  return found?.address ?? undefined
}

/** The users who get no mail about the pipelines of a project. */
export const withoutPipelines = (projectId: number): Fragment => ({
  sql: `select user_id from notification_settings where source_type = 'Project' and source_id = ? and without_pipelines`,
  values: [projectId]
})

/** Each role is a bit, so that the database can combine the roles of a person. */
const bit = (role: Role) => 2 ** ROLES.indexOf(role)
const rolesIn = (bits: number): ReadonlySet<Role> => new Set(ROLES.filter(role => (bits & bit(role)) !== 0))

interface FactsRow extends ActorUserColumns {
  readonly state: string
  readonly access_level: number | null
  readonly project_level: number | null
  readonly project_events: string | null
  readonly group_level: number | null
  readonly group_events: string | null
  readonly global_level: number | null
  readonly global_events: string | null
  readonly address: string | null
}

interface CandidateRow extends FactsRow {
  readonly roles: number
}

/** Up to this number of users are read by their ids; more are read by what makes the event concern them. */
const FEW = 100

/**
 * Returns all people whom an event may concern, each once, except the user who caused it. Usually there are none or few, so their
 * ids are looked up first, which costs a tenth of reading the facts about all possible people.
 */
export async function readOthers(concerned: Concerned, actorId: number | null): Promise<readonly Candidate[]> {
  const { project } = concerned
  const [hearing, others] = await Promise.all([readHearing(project), readRoles(rolesOf(concerned))])
  const roles = new Map<number, number>()
  for (const each of [...hearing, ...others]) {
    roles.set(each.user_id, (roles.get(each.user_id) ?? 0) | Number(each.role))
  }
  if (hearing.length > FEW || others.length > FEW) return readPeople(concerned)
  if (actorId !== null) roles.delete(actorId)
  if (roles.size === 0) return []
  const list = padded([...roles.keys()])
  const found = await rows<FactsRow>(
    `select ${FACTS.columns} from users u join projects p on p.id = ? ${FACTS.joins} where u.id in (${marks(list)})`,
    [project.id, ...list]
  )
  return found.map(each => candidateOf({ ...each, roles: roles.get(each.id) ?? 0 }, concerned))
}

interface Roled {
  readonly user_id: number
  readonly role: number
}

/** Reads one more than `FEW`. */
async function readRoles(parts: readonly Fragment[]): Promise<readonly Roled[]> {
  if (parts.length === 0) return []
  return rows<Roled>(
    `${parts.map(({ sql }) => sql).join('\n union all ')} limit ${FEW + 1}`,
    parts.flatMap(({ values }) => values)
  )
}

/** People who get mail about everything in a project are the same for all its events at the same time. */
const readHearing = askTogether(
  (project: ProjectRow) => readRoles(settingsOf(project)),
  ({ id, namespace_id: namespace }) => `${id} ${namespace}`
)

const FACTS = {
  columns: `${ACTOR_USER}, u.state, ${LEVEL_OF_EACH.column},
       sp.level as project_level, sp.events as project_events, sg.level as group_level, sg.events as group_events,
       su.level as global_level, su.events as global_events,
       ${ADDRESS.column} as address`,
  joins: `${LEVEL_OF_EACH.joins}
     left join notification_settings sp on sp.user_id = u.id and sp.source_type = 'Project' and sp.source_id = p.id
     left join notification_settings sg on sg.user_id = u.id and sg.source_type = 'Group' and sg.source_id = p.namespace_id
     ${ADDRESS.joins}`
}

/** Returns all people whom an event may concern, each once; with `only`, just this user, concerned or not. */
export async function readPeople(concerned: Concerned, only?: number): Promise<readonly Candidate[]> {
  const { project } = concerned
  const all = [...settingsOf(project), ...rolesOf(concerned)]
  const parts = [...all, ...(only === undefined ? [] : [role(0, 'select ? as user_id', [only])])]
  const found = await rows<CandidateRow>(
    `select ${FACTS.columns}, c.roles
     from (select user_id, bit_or(role) as roles from (${parts.map(({ sql }) => sql).join('\n union all ')}) every
       ${only === undefined ? '' : 'where user_id = ?'} group by user_id) c
     join users u on u.id = c.user_id join projects p on p.id = ? ${FACTS.joins}`,
    [...parts.flatMap(({ values }) => values), ...(only === undefined ? [] : [only]), project.id]
  )
  return found.map(each => candidateOf(each, concerned))
}

function candidateOf(row: CandidateRow, { project, isReadable }: Concerned): Candidate {
  const actor = actorOf(actorUserOf(row), 'private')
  const seen = { ...project, access_level: row.access_level }
  return {
    id: row.id,
    username: row.username,
    address: row.address,
    set: {
      project: setIn(row.project_level),
      group: setIn(row.group_level),
      global: row.global_level === null ? DEFAULT_LEVEL : nameOf(row.global_level)
    },
    applied: appliedOf(row),
    roles: rolesIn(Number(row.roles)),
    isBlocked: row.state !== 'active',
    // An administrator counts as an owner, but is not a member because of that.
    isMember: levelIn(seen, { user: { ...actorUserOf(row), admin: false } }) >= GUEST,
    canRead: isReadable(seen, actor)
  }
}

const setIn = (level: number | null): LevelName => (level === null ? 'global' : nameOf(level))

/** The applied setting: that of the project, unless it is global; then that of the group; then the global one. */
function appliedOf(row: FactsRow): Applied {
  const places = [
    ['project', row.project_level, row.project_events],
    ['group', row.group_level, row.group_events],
    ['global', row.global_level, row.global_events]
  ] as const
  for (const [from, number, events] of places) {
    const level = setIn(number)
    if (level !== 'global') return { level, from, events: eventsIn(events) }
  }
  // Not specified: the level global in the global setting, where it has nothing to refer to.
  return { level: DEFAULT_LEVEL, from: 'global', events: new Set() }
}

const role = (bits: number, sql: string, values: readonly Value[]): Fragment => ({
  sql: `select user_id, ${bits} as role from (${sql}) some`,
  values
})

/** The levels at which people get mail about events that do not concern them otherwise. */
const HEARING = `(${numberOf('watch')}, ${numberOf('custom')})`

/** What makes an event concern people, in addition to their settings. */
function rolesOf({
  project,
  target,
  writers,
  unsubscribed,
  named,
  mentions = [],
  mentionedMembers = [],
  labelIds = []
}: Concerned): Fragment[] {
  const known = named.filter((each): each is readonly [Role, number] => each[1] !== null)
  return [
    ...known.map(([name, id]) => role(bit(name), 'select ? as user_id', [id])),
    ...(target ? ofTarget(target) : []),
    ...(writers ? [role(bit('participant'), writers.sql, writers.values)] : []),
    ...(unsubscribed ? [role(bit('unsubscribed'), unsubscribed.sql, unsubscribed.values)] : []),
    ...(labelIds.length > 0 ? [ofLabels(project.id, labelIds)] : []),
    ...(mentions.length > 0 ? [ofMentions(mentions)] : []),
    ...mentionedMembers.map(({ sql, values }) => role(bit('mentioned'), sql, values))
  ]
}

/**
 * Returns the ids of people who may get mail about new issues of a project whom the issues do not name, including their authors, and
 * those of `others`, which are statements that return `user_id`. It returns two at most.
 */
export async function hearersOfIssues(
  projectId: number,
  issueIds: readonly number[],
  others: readonly Fragment[]
): Promise<readonly number[]> {
  const list = padded(issueIds)
  if (!(await mayAnybodyHear(projectId, list, others))) return []
  const ofLabels = role(
    bit('label_subscriber'),
    `select s.user_id from label_links l join subscriptions s on s.target_type = 'Label' and s.target_id = l.label_id
       and s.project_id = ? and s.subscribed
     where l.target_type = 'Issue' and l.target_id in (${marks(list)})`,
    [projectId, ...list]
  )
  const parts = [...settingsOf({ id: projectId }), ofLabels, ...others.map(({ sql, values }) => role(0, sql, values))]
  // The driver returns the union of two types of numbers as text.
  const found = await rows<{ user_id: string }>(
    `select distinct user_id from (${parts.map(({ sql }) => sql).join('\n union all ')}) hearers limit 2`,
    parts.flatMap(({ values }) => values)
  )
  return found.map(({ user_id: id }) => Number(id))
}

/**
 * Returns false when nobody hears about all new issues of a project, and the issues have no labels. The database takes 450 us for the
 * search for these people, nearly all of it to plan it: more than to insert the issue. This question takes half of that.
 */
async function mayAnybodyHear(
  projectId: number,
  issueIds: readonly number[],
  others: readonly Fragment[]
): Promise<boolean> {
  const setting = (type: string, source: string) =>
    `select 1 from notification_settings where source_type = '${type}' and source_id = ${source} and level in ${HEARING}`
  const asked: readonly Fragment[] = [
    { sql: setting('Project', '?'), values: [projectId] },
    { sql: setting('Group', '(select namespace_id from projects where id = ?)'), values: [projectId] },
    { sql: setting('Global', '0'), values: [] },
    {
      sql: `select 1 from label_links where target_type = 'Issue' and target_id in (${marks(issueIds)})`,
      values: issueIds
    },
    ...others
  ]
  const found = await row<{ heard: number }>(
    `select ${asked.map(({ sql }) => `exists (${sql})`).join(' or ')} as heard`,
    asked.flatMap(({ values }) => values)
  )
  return found?.heard === 1
}

/** The global setting applies to the projects that the user is a member of. */
function settingsOf({
  id,
  namespace_id: namespaceId
}: {
  readonly id: number
  readonly namespace_id?: number
}): Fragment[] {
  const members = membersOfProject(id)
  const of = (type: string, source: string, sourceId: number) =>
    role(
      0,
      `select user_id from notification_settings where source_type = ? and source_id = ${source} and level in ${HEARING}`,
      [type, sourceId]
    )
  return [
    of('Project', '?', id),
    namespaceId === undefined
      ? of('Group', '(select namespace_id from projects where id = ?)', id)
      : of('Group', '?', namespaceId),
    role(
      0,
      `select member.user_id from (${members.sql}) member join notification_settings s
         on s.user_id = member.user_id and s.source_type = 'Global' and s.source_id = 0 and s.level in ${HEARING}`,
      members.values
    )
  ]
}

const ofTarget = ({ type, id }: NonNullable<Concerned['target']>): Fragment[] => [
  role(bit('participant'), 'select user_id from participants where target_type = ? and target_id = ?', [type, id]),
  ...([['subscriber', true] as const, ['unsubscribed', false] as const] as const).map(([name, subscribed]) =>
    role(bit(name), 'select user_id from subscriptions where target_type = ? and target_id = ? and subscribed = ?', [
      type,
      id,
      subscribed
    ])
  )
]

/** A label of a group has subscribers in each project. */
function ofLabels(projectId: number, labelIds: readonly number[]): Fragment {
  const list = padded(labelIds)
  return role(
    bit('label_subscriber'),
    `select user_id from subscriptions
     where target_type = 'Label' and target_id in (${marks(list)}) and project_id = ? and subscribed`,
    [...list, projectId]
  )
}

function ofMentions(names: readonly string[]): Fragment {
  const list = padded(names)
  return role(bit('mentioned'), `select id as user_id from users where username_key in (${lowerMarks(list)})`, list)
}
