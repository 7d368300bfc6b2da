// Hooks of projects. Masters decide which receivers get the events of their project.
import type { Origin } from '../../../access/actor.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { type Page, type PageRequest, window } from '../../../db/lists/paginate.js'
import { Hook } from '../../../db/models/index.js'
import { Invalid, NotFound, Unprocessable } from '../../../errors.js'
import { encrypt } from '../../../secrets.js'
import { checkHookUrl, shownUrl } from '../../../webhooks/url.js'
import { audit, changesBetween } from '../audit/audit.js'
import { cancelDeliveriesOf } from './deliveries.js'
import { targetOf } from './hooks.js'
import type { ProjectHookBody } from './project-hooks.schema.js'

/** Not specified: the maximum number for a project. Each push creates a delivery for each of them. */
const MOST_HOOKS = 100

interface OfProject {
  readonly id: number
}

/** Returns a page of the hooks of a project, oldest first. */
export async function listProjectHooks(project: OfProject, query: PageRequest): Promise<Page<Hook>> {
  const { page, perPage } = window(query)
  const where = { projectId: project.id }
  const { rows: items, count: total } = await Hook.findAndCountAll({
    where,
    order: ['id'],
    limit: perPage,
    offset: (page - 1) * perPage
  })
  return { items, total, page, perPage }
}

/** Returns a hook of a project. Throws NotFound. */
export async function findProjectHook(project: OfProject, id: number): Promise<Hook> {
  const hook = await Hook.findOne({ where: { id, projectId: project.id } })
  if (!hook) throw new NotFound()
  return hook
}

/** Adds a hook to a project. Throws Unprocessable for a URL that deliveries cannot use, Invalid for too many hooks. */
export function createProjectHook(project: OfProject, body: ProjectHookBody, origin: Origin): Promise<Hook> {
  checkUrl(body)
  return transact(async () => {
    await requireRoom(project.id)
    const hook = await Hook.create({ projectId: project.id, url: body.url, ...valuesOf(body) })
    const changes = changesBetween(null, { project_id: project.id, ...body, url: shownUrl(body.url) })
    await audit(origin, { action: 'hook.create', target: targetOf(hook), changes })
    return hook
  })
}

/** Changes a hook and keeps the attributes that the body does not name. Throws NotFound or Unprocessable. */
export async function updateProjectHook(
  project: OfProject,
  id: number,
  body: ProjectHookBody,
  origin: Origin
): Promise<Hook> {
  const hook = await findProjectHook(project, id)
  checkUrl(body)
  const moved = body.url !== hook.url
  const before = { ...hook.get({ plain: true }) }
  return transact(async () => {
    await hook.update({ url: body.url, ...valuesOf(body) })
    // The new receiver need not rest because the old one failed.
    if (moved) {
      await execute('update hooks set failures = 0, resting_until = null, rested_at = null where id = ?', [id])
    }
    const changes = changesBetween(shown(before), shown({ ...hook.get({ plain: true }) }))
    await audit(origin, { action: 'hook.update', target: targetOf(hook), changes })
    return hook
  })
}

/** Removes a hook and cancels its pending deliveries. Throws NotFound. */
export async function deleteProjectHook(project: OfProject, id: number, origin: Origin): Promise<Hook> {
  return transact(async () => {
    const hook = await Hook.findOne({ where: { id, projectId: project.id }, lock: true })
    if (!hook) throw new NotFound(`Error deleting hook ${id}`)
    await hook.destroy()
    await cancelDeliveriesOf([id])
    await audit(origin, { action: 'hook.delete', target: targetOf(hook) })
    return hook
  })
}

function checkUrl({ url }: ProjectHookBody): void {
  if (checkHookUrl(url) !== null) throw new Unprocessable('Invalid url given')
}

async function requireRoom(projectId: number): Promise<void> {
  if (!(await row('select id from projects where id = ? lock in share mode', [projectId]))) {
    throw new NotFound('Project')
  }
  if ((await Hook.count({ where: { projectId } })) >= MOST_HOOKS) {
    throw new Invalid('base', `The project already has ${MOST_HOOKS} hooks: remove one first`)
  }
}

/** Attribute of the body -> column of the model. */
const FLAGS = {
  push_events: 'pushEvents',
  tag_push_events: 'tagPushEvents',
  issues_events: 'issuesEvents',
  merge_requests_events: 'mergeRequestsEvents',
  note_events: 'noteEvents',
  build_events: 'buildEvents',
  pipeline_events: 'pipelineEvents',
  wiki_page_events: 'wikiPageEvents',
  enable_ssl_verification: 'enableSslVerification',
  enabled: 'enabled'
} as const satisfies { [Name in Exclude<keyof ProjectHookBody, 'url' | 'token'>]: keyof Hook }

type Flag = keyof typeof FLAGS

function valuesOf({ token, ...body }: ProjectHookBody) {
  const present = (Object.keys(FLAGS) as Flag[]).filter(name => body[name] !== undefined)
  const flags = Object.fromEntries(present.map(name => [FLAGS[name], body[name]]))
  return token === undefined ? flags : { ...flags, tokenEncrypted: token === '' ? null : encrypt(token) }
}

/** The attributes that the audit compares. */
const shown = ({ url, tokenEncrypted, ...hook }: Pick<Hook, 'url' | 'tokenEncrypted' | (typeof FLAGS)[Flag]>) => ({
  url: shownUrl(url),
  token: tokenEncrypted?.toString('base64') ?? null,
  ...Object.fromEntries((Object.keys(FLAGS) as Flag[]).map(name => [name, hook[FLAGS[name]]]))
})
