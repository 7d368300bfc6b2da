// The JSON of the projects of a list. It is kept with the row of a project, unless it depends on more than the row and the levels of
// the caller: then it is made for each request. The token for runners is never kept: it is decrypted for each request.
import { hash } from 'node:crypto'
import type { Actor } from '../../../../access/actor.js'
import { levelIn } from '../../../../access/authorize.js'
import type { Page, RecordText, TextReply } from '../../../../db/lists/paginate.js'
import { type ReadingOptions, readProjects } from '../project-readings.js'
import { viewFor } from '../projects.view.js'
import { keepText, type ListedProject, rowOf } from './kept-projects.queries.js'
import { tokenFor } from './shown-token.js'

/** Sends a page of projects as the caller may see them. */
export async function sendProjects<Sent>(
  reply: TextReply<Sent>,
  page: Page<ListedProject>,
  actor: Actor,
  options: ReadingOptions = {}
): Promise<Sent> {
  const reading = await readProjects(page.items.filter(needsMore(options)).map(rowOf), actor, options)
  const view = viewFor(actor, options.simple, reading)
  const make = (project: ListedProject): RecordText => {
    const text = reply.jsonOf({ ...view(rowOf(project)), runners_token: undefined })
    // Another token is another version of the record, also without its text.
    const version = hash('sha256', text + project.kept.row.runners_token_encrypted.toString('base64url'), 'base64url')
    return { text, version }
  }
  const textOf = (project: ListedProject): RecordText => {
    if (needsMore(options)(project)) return make(project)
    const variant = variantOf(project, actor, options)
    const known = project.kept.texts.get(variant)
    if (known) return known
    const made = make(project)
    keepText(project.kept, variant, made)
    return made
  }
  const items = page.items.map(project => {
    const { text, version } = textOf(project)
    const token = options.simple ? undefined : tokenFor(withLevel(project), actor)
    if (token === undefined) return { text, version }
    return { text: `${text.slice(0, -1)},"runners_token":${JSON.stringify(token)}}`, version }
  })
  return reply.pageOfTexts({ ...page, items })
}

/** Returns what decides about the level of the caller, and the token. */
const withLevel = ({ access_level, kept: { row } }: ListedProject) => ({
  access_level,
  namespace_owner_id: row.namespace_owner_id,
  runners_token_encrypted: row.runners_token_encrypted
})

/** Returns whether a record shows what its row does not have: shares, the source of a fork, statistics. */
const needsMore =
  ({ simple, statistics }: ReadingOptions) =>
  ({ kept: { row } }: ListedProject): boolean =>
    !simple && (statistics === true || row.is_fork === 1 || row.has_shares === 1)

/** Names everything of the caller that a record shows. */
function variantOf(project: ListedProject, actor: Actor, { simple, withoutPermissions }: ReadingOptions): string {
  if (simple || !actor.user) return 'simple'
  const level = levelIn(withLevel(project), actor)
  if (withoutPermissions) return `${level}`
  const { project_access_level: own, group_access_level: group } = project
  return `${level} ${own} ${project.project_notification_level} ${group} ${project.group_notification_level}`
}
