import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ActionOn } from '../../../access/abilities.js'
import { may } from '../../../access/authorize.js'
import { path } from '../components.js'
import type { Page } from '../page.js'
import { show } from '../page-routes.js'
import { projectPath } from '../place.js'

const TABS: readonly (readonly [text: string, rest: string, can: ActionOn<'project'>])[] = [
  ['General', '', 'project.update'],
  ['Protected branches', '/branches', 'branch.protect'],
  ['Deploy keys', '/deploy_keys', 'deploy_key.administer'],
  ['Mirrors', '/mirrors', 'mirror.administer'],
  ['Hooks', '/hooks', 'project_hook.administer'],
  ['Services', '/services', 'service.administer'],
  ['Variables', '/variables', 'variable.administer'],
  ['Runners', '/runners', 'project_runner.administer'],
  ['Triggers', '/triggers', 'trigger.administer']
]

export const settingsPath = ({ project, group }: FastifyRequest): string =>
  project ? `${projectPath(project)}/settings` : path('groups', group.path, 'settings')

/** Shows a page of the settings of a project, with links to the others that the visitor may open. */
export function showSettings(
  request: FastifyRequest,
  reply: FastifyReply,
  name: string,
  page: Page
): Promise<FastifyReply> {
  const base = settingsPath(request)
  const [here] = request.url.split('?', 1)
  const tabs = TABS.filter(([, , can]) => may(request.actor, can, request.project)).map(([text, rest]) => ({
    text,
    href: base + rest,
    current: here === base + rest
  }))
  return show(request, reply, `settings/${name}`, { base, tabs, ...page })
}
