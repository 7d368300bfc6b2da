// Versions of what records of planning and of projects show. The server keeps answers (server/plugins/kept-answers.ts) and rows of
// projects (areas/projects/projects/lists), and a read of the database in the same request must prove that nothing they show has
// changed since. Each transaction that writes a row of these tables moves the version of the project, or that of all projects, before
// it commits. The statements themselves say whether that is needed, so that no rule can forget it. Rules of every day name their
// project, because transactions that move the same row wait for each other.
import type { Scope } from './scope.js'

const TABLES = [
  'award_emoji',
  'issue_counts',
  'issues',
  'label_links',
  'label_priorities',
  'labels',
  'merge_request_versions',
  'merge_requests',
  'milestones',
  'namespaces',
  'notes',
  'participants',
  'subscriptions',
  'users'
]
const CONTENT = new Set(TABLES)
/** The row of the project is read together with the version, so what it says of itself and of its namespace is proven, too. */
export const PROVEN: ReadonlySet<string> = new Set([...TABLES, 'projects'])

/** The version of all projects: for statements that do not say which project they change. */
const EVERY_PROJECT = 0

/** The columns of VERSION; null before the first change. */
export interface Versions {
  readonly project_version: number | null
  readonly all_version: number | null
}

/** The version of a project `p`: both numbers together. They only grow. Two joins cost the database a third of a subselect. */
export const VERSION = {
  columns: 'pv.version as project_version, av.version as all_version',
  joins: `left join content_versions pv on pv.project_id = p.id left join content_versions av on av.project_id = ${EVERY_PROJECT}`
}

const COMMENTS = /^(?:\s|\/\*[\s\S]*?\*\/|(?:--|#).*\n)+/
const INSERT = /^(?:insert|replace)\s+(?:(?:ignore|low_priority|high_priority|delayed)\s+)*(?:into\s+)?`?(\w+)/i
/** `with` may begin a read, too. */
const CHANGE = /^(?:update|delete|with|truncate|load)\b/i
const WRITTEN = new RegExp(`\\b(?:${TABLES.join('|')})\\b`)
/** A new row of them is in no record yet. */
const UNSEEN = new Set(['namespaces', 'users'])
/** Records show nothing else of users. */
const USERS = /^update\s+`?users`?\s+set\b/i
/** The lock of a namespace (lock-row.ts). */
const LOCK = /^update\s+namespaces\s+set\s+held\s*=\s*1 - held where id = \?$/i
const OLD_ROWS = /^replace\b|\bon\s+duplicate\s+key\b/i
const SHOWN_OF_USERS = /\b(?:name|username|state)\b[`\s]*=/

/** Returns whether a statement changes something that records of planning may show. */
export function changesContent(statement: string): boolean {
  const sql = statement.replace(COMMENTS, '')
  const into = INSERT.exec(sql)?.[1]
  if (into !== undefined) return UNSEEN.has(into) ? OLD_ROWS.test(sql) : CONTENT.has(into)
  if (!CHANGE.test(sql) || LOCK.test(sql)) return false
  return USERS.test(sql) ? SHOWN_OF_USERS.test(sql) : WRITTEN.test(sql)
}

/** Notes that the transaction changes what a project shows. */
export function noteChange(scope: Scope, projectId = EVERY_PROJECT): void {
  scope.changed ??= new Set()
  scope.changed.add(projectId)
}

/** The statement that moves the versions of the projects that a transaction has changed; undefined without any. */
export function versionsStatement({ changed }: Scope): string | undefined {
  if (!changed) return undefined
  // Sorted, so that two transactions do not wait for each other.
  const ids = changed.has(EVERY_PROJECT) ? [EVERY_PROJECT] : [...changed].sort((one, other) => one - other)
  const values = ids.map(id => `(${Number(id)}, 1)`).join(', ')
  return `insert into content_versions (project_id, version) values ${values} on duplicate key update version = version + 1`
}
