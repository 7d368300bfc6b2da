// The effects of a text: users whom it mentions take part, and records to which it refers get a note about it.
import { actorOf } from '../../../../access/actor.js'
import { ACTOR_USER, type ActorUserColumns, actorUserOf } from '../../../../access/actor-user.js'
import { canSee, may } from '../../../../access/authorize.js'
import { execute, lowerMarks, marks, row, rows } from '../../../../db/connect/sql.js'
import { batches } from '../../../../lib/batches.js'
import { readText as read, readTexts } from '../../../../text/reading.js'
import { keyOf, MOST_REFERENCES, type Reference } from '../../../../text/references.js'
import type { PushedMessage } from '../../../code/refs/pushed-commits.js'
import { findProject, type ProjectRow } from '../../../projects/projects/projects.queries.js'
import { canSeeIssue } from '../../issues/issues.queries.js'
import { mentionedMembers } from '../../participation/mentioned-members.js'
import { addSystemNote, type SystemNote, type SystemTarget } from './insert.js'

/** The maximum numbers: of notes about mentions for one text and for all commits of a push, and of projects to which either refers. */
const MOST_NOTES = 100
const MOST_NOTES_OF_PUSH = 1000
const MOST_PROJECTS = 20
/** The sign before the number of each kind of record. */
const SIGNS = { Issue: '#', MergeRequest: '!', Snippet: '$', Commit: '@' } as const

/** The record that contains the text. */
export interface Source {
  readonly type: 'Issue' | 'MergeRequest' | 'Snippet' | 'Commit'
  /** Null for a commit. */
  readonly id: number | null
  /** Its number, or the id of the commit. */
  readonly name: string
  readonly projectId: number
}

export interface WrittenText {
  readonly text: string
  readonly authorId: number
  readonly source: Source
  readonly at: Date
}

/** Reads a text and writes its effects. A second call for the same text changes nothing. */
export async function readText({ text, authorId, source, at }: WrittenText): Promise<void> {
  const { references, mentions } = await read(text)
  if (mentions.length > 0) await noteMentions(source, mentions, authorId)
  await noteReferences([{ source, references }], { authorId, projectId: source.projectId, at, most: MOST_NOTES })
}

/**
 * Does the same for the messages of commits that a user pushed: with the rights of this user, not of the author,
 * because anyone can put any name into a commit. Not specified: users whom they mention get no notification.
 */
export async function readCommits(
  commits: readonly PushedMessage[],
  { authorId, projectId, at }: Pick<Referring, 'authorId' | 'projectId' | 'at'>
): Promise<void> {
  const parsed = await readTexts(commits.map(({ message }) => message))
  const texts = commits.map(({ id }, at) => ({
    source: { type: 'Commit', id: null, name: id, projectId } as const,
    references: parsed[at]?.references ?? []
  }))
  await noteReferences(texts, { authorId, projectId, at, most: MOST_NOTES_OF_PUSH })
}

interface Referring {
  readonly authorId: number
  /** The project of the texts. */
  readonly projectId: number
  readonly at: Date
  /** The maximum number of notes. */
  readonly most: number
}

/** Writes a note on each record that the texts refer to, if their author may read it. */
async function noteReferences(
  texts: readonly { readonly source: Source; readonly references: readonly Reference[] }[],
  { authorId, projectId, at, most }: Referring
): Promise<void> {
  const wanted = texts.map(({ source, references }) => ({
    source,
    references: references.filter(({ kind }) => kind === 'issue' || kind === 'merge_request')
  }))
  if (wanted.every(({ references }) => references.length === 0)) return
  const user = await row<ActorUserColumns>(`select ${ACTOR_USER} from users u where u.id = ?`, [authorId])
  const home = user && (await findProject(projectId, actorOf(actorUserOf(user), 'private')))
  if (!user || !home) return
  const all = new Map(wanted.flatMap(({ references }) => references).map(each => [keyOf(each), each]))
  const targets = await targetsOf(
    [...all.values()].slice(0, MOST_REFERENCES),
    home,
    actorOf(actorUserOf(user), 'private')
  )
  const notes = wanted.flatMap(({ source, references }) =>
    references
      .flatMap(reference => targets.get(keyOf(reference)) ?? [])
      .filter(({ type, id }) => type !== source.type || id !== source.id)
      .map(target => mentionNote(target, { source, home, authorId, at }))
  )
  for (const note of notes.slice(0, most)) await addSystemNote(note)
}

interface Mention {
  readonly source: Source
  readonly home: ProjectRow
  readonly authorId: number
  readonly at: Date
}

function mentionNote(target: SystemTarget, { source, home, authorId, at }: Mention): SystemNote {
  const { type, id, name, projectId } = source
  const path = target.projectId === projectId ? '' : `${home.namespace_path}/${home.path}`
  const place = type === 'Commit' ? `commit ${path === '' ? '' : `${path}@`}${name}` : `${path}${SIGNS[type]}${name}`
  return {
    target,
    authorId,
    text: `mentioned in ${place}`,
    at,
    // The same commit may be pushed first to a fork that other users may not read.
    once: `mention ${target.type} ${target.id} ${type} ${type === 'Commit' ? `${projectId} ${name}` : id}`,
    refers: { type, id, projectId }
  }
}

type Asker = ReturnType<typeof actorOf>

/** Returns the issues and merge requests that references name, by their keys, if the author of the text may read them. */
async function targetsOf(
  references: readonly Reference[],
  home: ProjectRow,
  actor: Asker
): Promise<ReadonlyMap<string, SystemTarget>> {
  const paths = [...new Set(references.map(({ project }) => project?.toLowerCase() ?? ''))].slice(0, MOST_PROJECTS)
  const found = new Map<string, SystemTarget>()
  for (const path of paths) {
    const project = path === '' ? home : await findProject(path, actor)
    if (!project || !canSee(project, actor)) continue
    const numbers = (kind: Reference['kind']) =>
      references
        .filter(each => each.kind === kind && (each.project?.toLowerCase() ?? '') === path)
        .map(({ name }) => Number(name))
        .filter(number => number <= 4_294_967_295)
    const add = (kind: Reference['kind'], type: SystemTarget['type'], some: readonly Numbered[]) => {
      for (const { id, iid } of some)
        found.set(keyOf({ kind, project: path || null, name: String(iid) }), { type, id, projectId: project.id })
    }
    if (may(actor, 'issue.read', project)) add('issue', 'Issue', await issuesOf(project, numbers('issue'), actor))
    if (may(actor, 'merge_request.read', project))
      add('merge_request', 'MergeRequest', await mergeRequestsOf(project, numbers('merge_request')))
  }
  return found
}

interface Numbered {
  readonly id: number
  readonly iid: number
}

async function issuesOf(project: ProjectRow, numbers: readonly number[], actor: Asker): Promise<readonly Numbered[]> {
  if (numbers.length === 0) return []
  const found = await rows<Numbered & { confidential: number; author_id: number; assignee_id: number | null }>(
    `select id, iid, confidential, author_id, assignee_id from issues where project_id = ? and iid in (${marks(numbers)})`,
    [project.id, ...numbers]
  )
  return found.filter(issue => canSeeIssue(issue, project, actor))
}

async function mergeRequestsOf(project: ProjectRow, numbers: readonly number[]): Promise<readonly Numbered[]> {
  if (numbers.length === 0) return []
  return rows<Numbered>(
    `select id, iid from merge_requests where target_project_id = ? and iid in (${marks(numbers)}) and deleted_at is null`,
    [project.id, ...numbers]
  )
}

/**
 * Adds the users whom a text mentions to the participants. Decided: `@all` and `@group` mean each member, if the author
 * may mention them. A user who may not read the target gains nothing by taking part in it.
 */
async function noteMentions(
  { type, id, projectId }: Source,
  names: readonly string[],
  authorId: number
): Promise<void> {
  if ((type !== 'Issue' && type !== 'MergeRequest') || id === null) return
  const insert = 'insert ignore into participants (target_type, target_id, user_id)'
  for (const some of batches(names, 500)) {
    await execute(
      `${insert} select ?, ?, id from users where username_key in (${lowerMarks(some)})`,
      [type, id, ...some],
      projectId
    )
  }
  for (const { sql, values } of await mentionedMembers(names, authorId, projectId)) {
    await execute(`${insert} select ?, ?, member.user_id from (${sql}) member`, [type, id, ...values], projectId)
  }
}
