import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { currentClient } from '../../../lib/request-scope.js'
import { ProjectParams } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { callHook, createMirror, deleteMirror, hookUrl, type SavedMirror, syncMirror, updateMirror } from './mirrors.js'
import { findPullMirror, listPushMirrors, requirePullMirror, requirePushMirror } from './mirrors.queries.js'
import {
  HookQuery,
  MirrorListQuery,
  MirrorParams,
  NewPushMirror,
  PullMirrorBody,
  PushMirrorChange
} from './mirrors.schema.js'
import { Mirror, PullMirror, viewMirror } from './mirrors.view.js'

const TAGS = ['Mirrors']
const config = { can: 'mirror.administer' as const }

/** Not specified: API v3 has no mirrors. The paths are those of GitLab. */
export const pushMirrorRoutes: FastifyPluginAsyncTypebox = async app => {
  const all = '/projects/:id/remote_mirrors'
  const one = { tags: TAGS, params: MirrorParams, response: { 200: Mirror } }

  app.get(
    all,
    {
      config,
      schema: {
        tags: TAGS,
        summary: 'List the push mirrors of a project',
        params: ProjectParams,
        querystring: MirrorListQuery,
        response: { 200: Type.Array(Mirror) }
      }
    },
    async ({ project, query }, reply) => reply.page(await listPushMirrors(project.id, query), viewMirror)
  )

  app.post(
    all,
    {
      config,
      schema: {
        tags: TAGS,
        summary: 'Add a push mirror to a project',
        description:
          'It runs at once and after each push. An SSH URL gets a key pair: add its public key at the remote, and confirm the host key.',
        params: ProjectParams,
        body: NewPushMirror,
        response: { 201: Mirror }
      }
    },
    async ({ project, body, origin }, reply) =>
      reply.code(201).send(viewMirror((await createMirror(project, 'push', body, origin)).mirror))
  )

  app.get(
    `${all}/:mirror_id`,
    { config, schema: { ...one, summary: 'Get a push mirror' } },
    async ({ project, params }) => viewMirror(await requirePushMirror(project.id, params.mirror_id))
  )

  app.put(
    `${all}/:mirror_id`,
    { config, schema: { ...one, summary: 'Change a push mirror', body: PushMirrorChange } },
    async ({ project, params, body, origin }) => {
      const mirror = await requirePushMirror(project.id, params.mirror_id)
      return viewMirror((await updateMirror(mirror, body, origin)).mirror)
    }
  )

  app.delete(
    `${all}/:mirror_id`,
    { config, schema: { ...one, summary: 'Remove a push mirror' } },
    async ({ project, params, origin }) =>
      viewMirror(await deleteMirror(await requirePushMirror(project.id, params.mirror_id), origin))
  )

  app.post(
    `${all}/:mirror_id/sync`,
    {
      config,
      schema: { ...one, response: { 201: Mirror }, summary: 'Run a push mirror now' }
    },
    async ({ project, params, origin }, reply) =>
      reply.code(201).send(viewMirror(await syncMirror(await requirePushMirror(project.id, params.mirror_id), origin)))
  )
}

const viewPull = ({ mirror, hookToken }: SavedMirror) => ({
  ...viewMirror(mirror),
  hook_url: hookUrl(mirror),
  hook_token: hookToken
})

export const pullMirrorRoutes: FastifyPluginAsyncTypebox = async app => {
  const path = '/projects/:id/mirror/pull'
  const one = { tags: TAGS, params: ProjectParams, response: { 200: PullMirror } }

  app.get(path, { config, schema: { ...one, summary: 'Get the pull mirror of a project' } }, async ({ project }) =>
    viewPull({ mirror: await requirePullMirror(project.id), hookToken: null })
  )

  app.put(
    path,
    {
      config,
      schema: {
        ...one,
        summary: 'Set up or change the pull mirror of a project',
        description: 'The first call needs `url`. The response to it has the token for a hook of the remote.',
        body: PullMirrorBody
      }
    },
    async ({ project, body, origin }) => {
      const known = await findPullMirror(project.id)
      return viewPull(
        known ? await updateMirror(known, body, origin) : await createMirror(project, 'pull', body, origin)
      )
    }
  )

  app.delete(path, { config, schema: { ...one, summary: 'Stop to follow the remote' } }, async ({ project, origin }) =>
    viewPull({ mirror: await deleteMirror(await requirePullMirror(project.id), origin), hookToken: null })
  )

  app.post(
    path,
    { config, schema: { ...one, response: { 201: PullMirror }, summary: 'Follow the remote now' } },
    async ({ project, origin }, reply) => {
      const mirror = await syncMirror(await requirePullMirror(project.id), origin)
      return reply.code(201).send(viewPull({ mirror, hookToken: null }))
    }
  )
}

/** A hook of the remote has no account here: it knows the token. */
export const mirrorHookRoutes: FastifyPluginAsyncTypebox = async app => {
  app.post(
    '/projects/:id/mirror/pull/hook',
    {
      config: { public: true as const },
      schema: {
        tags: TAGS,
        operationId: 'callPullMirrorHook',
        summary: 'Tell a pull mirror that the remote has changed',
        description:
          'For a hook of the remote. The token is in the header `X-Gitstead-Token` or `X-Gitlab-Token`, or in a parameter; the body has no effect. Calls within ten seconds share one run.',
        params: ProjectParams,
        querystring: HookQuery,
        response: { 201: Type.Object({}, { title: 'MirrorHookCall', description: 'The mirror runs soon.' }) },
        errors: [404, 429]
      }
    },
    async ({ params, query, headers }, reply) => {
      const token = headers['x-gitstead-token'] ?? headers['x-gitlab-token'] ?? query.token ?? ''
      await callHook(params.id, String(token), currentClient())
      return reply.code(201).send({})
    }
  )
}
