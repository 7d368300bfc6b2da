// The mirrors of a project: a remote that it follows, and remotes that receive its branches.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  createMirror,
  deleteMirror,
  hookUrl,
  syncMirror,
  updateMirror,
  type Wish
} from '../../../areas/code/mirrors/mirrors.js'
import {
  findPullMirror,
  listPushMirrors,
  type MirrorRow,
  requireMirrorOf
} from '../../../areas/code/mirrors/mirrors.queries.js'
import { PushMirrorChange } from '../../../areas/code/mirrors/mirrors.schema.js'
import { viewMirror } from '../../../areas/code/mirrors/mirrors.view.js'
import { type Static, Type } from '../../../lib/type.js'
import { type Refusals, refusalsOf } from '../refusals.js'
import { settingsPath, showSettings } from './menu.js'

const { url, branch_patterns: _, enabled: __, ...fields } = PushMirrorChange.properties
const MirrorForm = Type.Object({
  ...fields,
  url,
  /** One pattern in each line. */
  patterns: Type.Optional(Type.String({ maxLength: 6000 })),
  enabled: Type.Optional(Type.Boolean()),
  /** An empty field for the password keeps it. */
  without_password: Type.Optional(Type.Boolean())
})
type MirrorForm = Static<typeof MirrorForm>
const NewMirror = Type.Object({
  ...MirrorForm.properties,
  direction: Type.Unsafe<'pull' | 'push'>({ type: 'string', enum: ['pull', 'push'] })
})
const MirrorParams = Type.Object({ mirror_id: Type.Integer() })
const HostKey = Type.Object({ ssh_host_key: Type.String({ maxLength: 64 }) })
const MirrorQuery = Type.Object({ page: Type.Optional(Type.Integer({ minimum: 1 })) })

export const mirrorPages: FastifyPluginAsyncTypebox = async app => {
  const all = '/:namespace/:project/settings/mirrors'
  const one = `${all}/:mirror_id`
  const config = { can: 'mirror.administer' as const }
  const params = MirrorParams
  const find = (request: FastifyRequest, id: number) => requireMirrorOf(request.project.id, id)

  app.get(all, { config, schema: { querystring: MirrorQuery } }, (request, reply) => showMirrors(request, reply))

  app.post(all, { config, schema: { body: NewMirror } }, async (request, reply) => {
    const { direction, ...form } = request.body
    try {
      const { mirror, hookToken } = await createMirror(request.project, direction, wishOf(form), request.origin)
      if (hookToken !== null) return showMirror(request, reply.code(201), mirror, { hookToken })
      return reply.redirect(`${pathOf(request)}/${mirror.id}`, 303)
    } catch (error) {
      return showMirrors(request, reply.code(400), request.body, refusalsOf(error))
    }
  })

  app.get(one, { config, schema: { params } }, async (request, reply) =>
    showMirror(request, reply, await find(request, request.params.mirror_id))
  )

  app.post(one, { config, schema: { params, body: MirrorForm } }, async (request, reply) => {
    const mirror = await find(request, request.params.mirror_id)
    try {
      await updateMirror(mirror, wishOf(request.body), request.origin)
      return reply.redirect(`${pathOf(request)}/${mirror.id}`, 303)
    } catch (error) {
      return showMirror(request, reply.code(400), mirror, { entered: request.body, refusals: refusalsOf(error) })
    }
  })

  app.post(`${one}/host_key`, { config, schema: { params, body: HostKey } }, async (request, reply) => {
    const mirror = await find(request, request.params.mirror_id)
    await updateMirror(mirror, request.body, request.origin)
    return reply.redirect(`${pathOf(request)}/${mirror.id}`, 303)
  })

  app.post(`${one}/hook_token`, { config, schema: { params } }, async (request, reply) => {
    const known = await find(request, request.params.mirror_id)
    const { mirror, hookToken } = await updateMirror(known, { new_hook_token: true }, request.origin)
    return showMirror(request, reply.code(201), mirror, { hookToken })
  })

  app.post(`${one}/sync`, { config, schema: { params } }, async (request, reply) => {
    const mirror = await syncMirror(await find(request, request.params.mirror_id), request.origin)
    return reply.redirect(`${pathOf(request)}/${mirror.id}`, 303)
  })

  app.post(`${one}/delete`, { config, schema: { params } }, async (request, reply) => {
    await deleteMirror(await find(request, request.params.mirror_id), request.origin)
    return reply.redirect(pathOf(request), 303)
  })
}

const pathOf = (request: FastifyRequest) => `${settingsPath(request)}/mirrors`

function wishOf({ patterns, without_password: without, ...form }: MirrorForm): Wish {
  return {
    ...form,
    ...(patterns !== undefined && { branch_patterns: patterns.split('\n') }),
    ...(without && { username: '', password: '' })
  }
}

interface Entered extends Partial<MirrorForm> {
  readonly direction?: 'pull' | 'push'
}

async function showMirrors(request: FastifyRequest, reply: FastifyReply, entered?: Entered, refusals?: Refusals) {
  const { project } = request
  const query = entered ? {} : (request.query as Static<typeof MirrorQuery>)
  const [pull, page] = await Promise.all([findPullMirror(project.id), listPushMirrors(project.id, query)])
  return showSettings(request, reply, 'mirrors', {
    title: 'Mirrors',
    page,
    mirrors: [...(pull ? [pull] : []), ...page.items].map(viewMirror),
    action: pathOf(request),
    follows: pull !== undefined,
    values: { direction: pull ? 'push' : 'pull', ...withoutPassword(entered) },
    refusals
  })
}

interface Shown {
  readonly hookToken?: string | null
  readonly entered?: MirrorForm
  readonly refusals?: Refusals
}

async function showMirror(
  request: FastifyRequest,
  reply: FastifyReply,
  row: MirrorRow,
  { hookToken, entered, refusals }: Shown = {}
) {
  const mirror = viewMirror(row)
  return showSettings(request, reply, 'mirror', {
    title: 'Mirror',
    mirror,
    isPull: mirror.direction === 'pull',
    action: `${pathOf(request)}/${mirror.id}`,
    hookUrl: hookUrl(row),
    hookToken,
    values: { ...mirror, patterns: mirror.branch_patterns.join('\n'), ...withoutPassword(entered) },
    refusals
  })
}

/** Passwords are never sent back. */
const withoutPassword = ({ password: _password, ...form }: Entered = {}) => form
