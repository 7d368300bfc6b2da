// The form that changes a merge request: its texts, and for developers its plan.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type MergeRequestRow, requireByNumber } from '../../../areas/planning/merge-requests/merge-requests.queries.js'
import { viewMergeRequest } from '../../../areas/planning/merge-requests/merge-requests.view.js'
import { readMergeRequest } from '../../../areas/planning/merge-requests/readings.js'
import { requireUpdate, updateMergeRequest } from '../../../areas/planning/merge-requests/update.js'
import { Stale } from '../../../errors.js'
import { DEVELOPER } from '../../../lib/levels.js'
import { type Static, Type } from '../../../lib/type.js'
import { versionOf } from '../../../text/versions.js'
import { FORM_LIMIT } from '../form-limit.js'
import { show } from '../page-routes.js'
import { readChoices } from '../planning/choices.js'
import { pathOf } from '../planning/discussion.js'
import { PlanFields, planChangeOf, withEntered } from '../planning/plan-form.js'
import { refusalsOf } from '../refusals.js'
import { branchNames } from './branch-names.js'
import { mergeRequestPath, Numbered, rightsOn } from './head.js'

const Form = Type.Object({
  title: Type.String(),
  description: Type.Optional(Type.String()),
  target_branch: Type.Optional(Type.String({ maxLength: 255 })),
  remove_source_branch: Type.Optional(Type.Boolean()),
  version: Type.String({ maxLength: 64 }),
  ...PlanFields
})
type Form = Static<typeof Form>

export const mergeRequestEditPages: FastifyPluginAsyncTypebox = async app => {
  const path = '/:namespace/:project/merge_requests/:iid/edit'
  const config = { can: 'merge_request.write' as const }

  app.get(path, { config, schema: { params: Numbered } }, async (request, reply) =>
    showForm(request, reply, await changeable(request, request.params.iid))
  )

  app.post(
    path,
    { config, bodyLimit: FORM_LIMIT, schema: { params: Numbered, body: Form } },
    async (request, reply) => {
      const { project, body, actor, origin } = request
      const found = await changeable(request, request.params.iid)
      const { labels: _, new_labels: _added, plan_was: _was, assignee_id: _of, milestone_id: _for, ...values } = body
      try {
        const plan = planChangeOf(body, (await readMergeRequest(found, actor)).labels)
        await updateMergeRequest(project, found.id, { ...values, ...plan }, actor, origin)
        return reply.redirect(mergeRequestPath(project, found.iid), 303)
      } catch (error) {
        return showForm(request, reply.code(error instanceof Stale ? 409 : 400), found, { entered: body, error })
      }
    }
  )
}

async function changeable({ project, actor }: FastifyRequest, iid: number): Promise<MergeRequestRow> {
  const found = await requireByNumber(project.id, iid)
  requireUpdate(actor, project, found)
  return found
}

interface Refused {
  readonly entered: Form
  readonly error: unknown
}

/** Shows the form, with what the visitor entered if it was refused. The texts of a stale form stand next to the current ones. */
async function showForm(request: FastifyRequest, reply: FastifyReply, found: MergeRequestRow, refused?: Refused) {
  const { project, actor } = request
  const refusals = refused && !(refused.error instanceof Stale) ? refusalsOf(refused.error) : undefined
  const rights = rightsOn(project, found, actor)
  const [reading, choices, branches] = await Promise.all([
    readMergeRequest(found, actor),
    rights.plan ? readChoices(project, DEVELOPER) : undefined,
    branchNames(project, actor)
  ])
  const mergeRequest = viewMergeRequest(reading)
  const entered = refused?.entered
  return show(request, reply, 'merge-requests/edit', {
    title: `Edit !${found.iid}`,
    mergeRequest,
    values: { ...mergeRequest, ...entered },
    // A stale form is based on the current texts when it is sent again.
    version: entered && refusals ? entered.version : versionOf(found.title, found.description),
    stale: refused?.error instanceof Stale,
    choices,
    plan: choices && withEntered(mergeRequest, entered ?? {}, choices),
    branches,
    project: pathOf(project),
    refusals,
    base: mergeRequestPath(project, found.iid)
  })
}
