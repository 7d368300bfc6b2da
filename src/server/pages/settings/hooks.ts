// The hooks of a project, which call a URL when something happens in it.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  createProjectHook,
  deleteProjectHook,
  findProjectHook,
  listProjectHooks,
  updateProjectHook
} from '../../../areas/ground/hooks/project-hooks.js'
import { ProjectHookBody, ProjectHookListQuery } from '../../../areas/ground/hooks/project-hooks.schema.js'
import { viewProjectHook } from '../../../areas/ground/hooks/project-hooks.view.js'
import { Unprocessable } from '../../../errors.js'
import { type Static, Type } from '../../../lib/type.js'
import { type Refusals, refusalsOf } from '../refusals.js'
import { settingsPath, showSettings } from './menu.js'

const HookForm = Type.Object({
  ...ProjectHookBody.properties,
  url: Type.String({ maxLength: 2000 }),
  /** An empty field for the token keeps it. */
  without_token: Type.Optional(Type.Boolean())
})
type HookForm = Static<typeof HookForm>
const HookParams = Type.Object({ hook_id: Type.Integer() })

export const projectHookPages: FastifyPluginAsyncTypebox = async app => {
  const all = '/:namespace/:project/settings/hooks'
  const one = `${all}/:hook_id`
  const config = { can: 'project_hook.administer' as const }
  const params = HookParams

  app.get(all, { config, schema: { querystring: ProjectHookListQuery } }, (request, reply) => showHooks(request, reply))

  app.post(all, { config, schema: { body: HookForm } }, async (request, reply) => {
    try {
      await createProjectHook(request.project, bodyOf(request.body), request.origin)
      return reply.redirect(pathOf(request), 303)
    } catch (error) {
      return showHooks(request, reply.code(400), request.body, refusalsOfHook(error))
    }
  })

  app.get(one, { config, schema: { params } }, (request, reply) => showHook(request, reply, request.params.hook_id))

  app.post(one, { config, schema: { params, body: HookForm } }, async (request, reply) => {
    const { project, origin } = request
    const { hook_id: id } = request.params
    const body = bodyOf(request.body)
    const hook = await findProjectHook(project, id)
    try {
      // The form does not show the password of the URL.
      const isSame = body.url === viewProjectHook(hook).url
      await updateProjectHook(project, id, isSame ? { ...body, url: hook.url } : body, origin)
      return reply.redirect(pathOf(request), 303)
    } catch (error) {
      return showHook(request, reply.code(400), id, request.body, refusalsOfHook(error))
    }
  })

  app.post(`${one}/delete`, { config, schema: { params } }, async (request, reply) => {
    await deleteProjectHook(request.project, request.params.hook_id, request.origin)
    return reply.redirect(pathOf(request), 303)
  })
}

const pathOf = (request: FastifyRequest) => `${settingsPath(request)}/hooks`

const bodyOf = ({ without_token: without, ...body }: HookForm) => (without ? { ...body, token: '' } : body)

const refusalsOfHook = (error: unknown): Refusals =>
  error instanceof Unprocessable ? { url: 'This is no http or https URL that can be called' } : refusalsOf(error)

async function showHooks(request: FastifyRequest, reply: FastifyReply, entered?: HookForm, refusals?: Refusals) {
  const page = await listProjectHooks(request.project, entered ? {} : (request.query as { page?: number }))
  return showSettings(request, reply, 'hooks', {
    title: 'Hooks',
    page,
    hooks: page.items.map(viewProjectHook),
    action: pathOf(request),
    values: entered ?? { push_events: true, enable_ssl_verification: true, enabled: true },
    refusals
  })
}

async function showHook(
  request: FastifyRequest,
  reply: FastifyReply,
  id: number,
  entered?: HookForm,
  refusals?: Refusals
) {
  const hook = await findProjectHook(request.project, id)
  return showSettings(request, reply, 'hook', {
    title: 'Edit a hook',
    action: `${pathOf(request)}/${hook.id}`,
    hasToken: hook.tokenEncrypted !== null,
    values: { ...viewProjectHook(hook), enabled: hook.enabled, ...entered },
    refusals
  })
}
