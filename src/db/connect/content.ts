// Versions of what records of planning show. The server keeps answers (server/plugins/kept-answers.ts), and a read of the database in
// the same request must prove that nothing they show has changed since. Each transaction that writes a row of these tables moves
// the version of the project, or that of all projects, before it commits. The statements themselves say whether that is needed, so
// that no rule can forget it.
import type { Scope } from './scope.js'

const TABLES = [
  'award_emoji',
  'issue_counts',
  'issues',
  'label_links',
  'label_priorities',
  'labels',
  'merge_requests',
  'milestones',
  'notes',
  'participants',
  'subscriptions',
  'users'
]
const CONTENT = new Set(TABLES)
/** The row of the project is read together with the version, so what it says of itself and of its namespace is proven, too. */
const PROVEN = new Set([...TABLES, 'projects', 'namespaces'])

/** The version of all projects: for statements that do not say which project they change. */
const EVERY_PROJECT = 0

/** The version of a project `p`: both numbers together. They only grow. Two joins cost the database a third of a subselect. */
export const VERSION = {
  columns: 'pv.version as project_version, av.version as all_version',
  joins: `left join content_versions pv on pv.project_id = p.id left join content_versions av on av.project_id = ${EVERY_PROJECT}`
}

const INSERT = /^\s*(?:insert|replace)\s+(?:ignore\s+)?into\s+`?(\w+)/i
const CHANGE = /^\s*(?:update|delete)\b/i
const WRITTEN = new RegExp(`\\b(?:${TABLES.join('|')})\\b`)
/** Records show nothing else of users. A new user is in no record yet. */
const USERS = /^\s*update\s+`?users`?\s+set\b/i
const SHOWN_OF_USERS = /\b(?:name|username|state)\b[`\s]*=/

/** Returns whether a statement changes something that records of planning may show. */
export function changesContent(sql: string): boolean {
  const into = INSERT.exec(sql)?.[1]
  if (into !== undefined) return into !== 'users' && CONTENT.has(into)
  if (!CHANGE.test(sql)) return false
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

/** It names no table. */
const IN_ORDER = /select\s+straight_join/gi
const SOURCE = /(?:from|join)\s+`?(\w+)`?(\s+(?:\w+\s*)?,)?/gi
const MOST = 500
const known = new Map<string, boolean>()

/** Returns whether the version proves everything that a statement reads about the project of a request. */
export function readsContentOnly(sql: string): boolean {
  const before = known.get(sql)
  if (before !== undefined) return before
  const sources = [...sql.replace(IN_ORDER, 'select').matchAll(SOURCE)]
  const only = sources.length > 0 && sources.every(([, table = '', more]) => PROVEN.has(table) && more === undefined)
  if (known.size >= MOST) known.clear()
  known.set(sql, only)
  return only
}
