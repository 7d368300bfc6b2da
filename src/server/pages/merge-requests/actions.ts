// What a visitor does with a merge request by one click: merges it, takes it, subscribes to it, remembers it as a to-do.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { askerOf } from '../../../access/actor.js'
import { acceptMergeRequest, cancelWait, isRefusal } from '../../../areas/planning/merge-requests/accept/accept.js'
import { type MergeRequestRow, requireByNumber } from '../../../areas/planning/merge-requests/merge-requests.queries.js'
import { AcceptBody } from '../../../areas/planning/merge-requests/merge-requests.schema.js'
import { subscribe } from '../../../areas/planning/merge-requests/participation.js'
import { updateMergeRequest } from '../../../areas/planning/merge-requests/update.js'
import { finishTodosOn, markTodo } from '../../../areas/reach/todos/todos.js'
import { Conflict, NotAcceptable, NotAllowed, Unauthorized } from '../../../errors.js'
import { show } from '../page-routes.js'
import { unlessDone } from '../planning/once.js'
import { type Asked, mergeRequestPath, Numbered } from './head.js'
import { readOverview } from './tabs.js'

export const mergeRequestActions: FastifyPluginAsyncTypebox = async app => {
  const one = '/:namespace/:project/merge_requests/:iid'
  const accept = { can: 'merge_request.accept' as const }
  const write = { can: 'merge_request.write' as const }
  const schema = { params: Numbered }

  app.post(`${one}/merge`, { config: accept, schema: { ...schema, body: AcceptBody } }, async (request, reply) => {
    const { project, body, actor, origin } = request
    const { id } = await findAsked(request)
    try {
      await acceptMergeRequest(project, id, body, actor, origin)
      return back(request, reply)
    } catch (error) {
      if (!isRefusal(error)) throw error
      return show(request, reply.code(statusOf(error)), 'merge-requests/overview', {
        ...(await readOverview(request, body)),
        refusal: reasonOf(error)
      })
    }
  })

  app.post(`${one}/cancel_merge`, { config: accept, schema }, async (request, reply) => {
    const { id } = await findAsked(request)
    await cancelWait(request.project, id, request.actor).catch(error => {
      // It does not wait any more.
      if (!(error instanceof NotAcceptable)) throw error
    })
    return back(request, reply)
  })

  app.post(`${one}/take`, { config: write, schema }, async (request, reply) => {
    const { project, actor, origin } = request
    const { id } = await findAsked(request)
    await updateMergeRequest(project, id, { assignee_id: askerOf(actor).id }, actor, origin)
    return back(request, reply)
  })

  for (const [path, subscribed] of [['subscribe', true] as const, ['unsubscribe', false] as const]) {
    app.post(`${one}/${path}`, { config: write, schema }, async (request, reply) => {
      const { id } = await findAsked(request)
      await unlessDone(subscribe(request.project, id, subscribed, request.actor))
      return back(request, reply)
    })
  }

  for (const [path, change] of [['todo', markTodo] as const, ['done', finishTodosOn] as const]) {
    app.post(`${one}/${path}`, { config: { can: 'merge_request.read' }, schema }, async (request, reply) => {
      const { id } = await findAsked(request)
      const target = { type: 'MergeRequest', id, projectId: request.project.id } as const
      await unlessDone(change(target, askerOf(request.actor).id))
      return back(request, reply)
    })
  }
}

const findAsked = ({ project, params }: Asked): Promise<MergeRequestRow> => requireByNumber(project.id, params.iid)

const back = ({ project, params }: Asked, reply: FastifyReply) =>
  reply.redirect(mergeRequestPath(project, params.iid), 303)

const statusOf = (error: Error): number =>
  error instanceof NotAllowed ? 405 : error instanceof NotAcceptable ? 406 : error instanceof Conflict ? 409 : 403

/** The words for people about a merge that was refused. */
function reasonOf(error: Error): string {
  if (error instanceof Unauthorized) return 'You may not merge into this branch.'
  if (error instanceof Conflict) {
    return 'The source branch has new commits since you opened this page. Look at the changes, and then merge it.'
  }
  const why = error instanceof NotAllowed || error instanceof NotAcceptable ? error.why : undefined
  return `It was not merged: ${why ?? 'the branches cannot be merged'}.`
}
