// The labels of a project.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { askerOf } from '../../../access/actor.js'
import { may } from '../../../access/authorize.js'
import { readLabels } from '../../../areas/planning/labels/label-readings.js'
import {
  changeLabelSubscription,
  createLabel,
  deleteLabel,
  requireLabel,
  updateLabel,
  versionOfLabel
} from '../../../areas/planning/labels/labels.js'
import type { LabelRow } from '../../../areas/planning/labels/labels.queries.js'
import { NotFound, Stale } from '../../../errors.js'
import { type Static, Type } from '../../../lib/type.js'
import { show } from '../page-routes.js'
import { projectPath } from '../place.js'
import { refusalsOf } from '../refusals.js'
import { unlessDone } from './once.js'

/** Labels on a page. */
const LABELS = 100

const LabelsQuery = Type.Object({ page: Type.Optional(Type.Integer({ minimum: 1 })) })
const LabelId = Type.Object({ label: Type.Integer() })
const LabelForm = Type.Object({
  name: Type.Optional(Type.String()),
  color: Type.Optional(Type.String({ maxLength: 64 })),
  description: Type.Optional(Type.String()),
  priority: Type.Optional(Type.String({ pattern: '^\\d{0,10}$' })),
  version: Type.Optional(Type.String({ maxLength: 64 }))
})
type LabelForm = Static<typeof LabelForm>

export const labelPages: FastifyPluginAsyncTypebox = async app => {
  const all = '/:namespace/:project/labels'
  const one = `${all}/:label`
  const write = { can: 'label.write' as const }

  app.get(all, { config: { can: 'label.read' }, schema: { querystring: LabelsQuery } }, async (request, reply) =>
    showList(request, reply)
  )

  app.post(all, { config: write, schema: { body: LabelForm } }, async (request, reply) => {
    const { name = '', ...values } = valuesOf(request.body)
    try {
      await createLabel(request.project, { name, ...values })
      return reply.redirect(pathOf(request), 303)
    } catch (error) {
      return showList(request, reply.code(400), { entered: request.body, refusals: refusalsOf(error) })
    }
  })

  app.get(`${one}/edit`, { config: write, schema: { params: LabelId } }, async (request, reply) =>
    showForm(request, reply, await ownLabel(request))
  )

  app.post(`${one}/edit`, { config: write, schema: { params: LabelId, body: LabelForm } }, async (request, reply) => {
    const label = await ownLabel(request)
    const { name, ...values } = valuesOf(request.body)
    try {
      const change = { name: label.title, new_name: name ?? '', ...values }
      await updateLabel(request.project, change, request.body.version)
      return reply.redirect(pathOf(request), 303)
    } catch (error) {
      const isStale = error instanceof Stale
      const refusals = isStale ? undefined : refusalsOf(error)
      return showForm(request, reply.code(isStale ? 409 : 400), label, { entered: request.body, refusals, isStale })
    }
  })

  app.post(`${one}/delete`, { config: write, schema: { params: LabelId } }, async (request, reply) => {
    await deleteLabel(await ownLabel(request))
    return reply.redirect(pathOf(request), 303)
  })

  for (const [name, subscribed] of [['subscribe', true] as const, ['unsubscribe', false] as const]) {
    app.post(
      `${one}/${name}`,
      { config: { can: 'label.read' }, schema: { params: LabelId } },
      async (request, reply) => {
        const { project, actor, params } = request
        const label = await requireLabel(project, String(params.label))
        await unlessDone(changeLabelSubscription(project, label, askerOf(actor).id, subscribed))
        return reply.redirect(pathOf(request), 303)
      }
    )
  }
}

const pathOf = ({ project }: FastifyRequest) => `${projectPath(project)}/labels`

/** Labels of the group cannot be changed in a project. */
async function ownLabel({ project, params }: FastifyRequest): Promise<LabelRow> {
  const label = await requireLabel(project, String((params as { label: number }).label))
  if (label.project_id !== project.id) throw new NotFound('Label')
  return label
}

const valuesOf = ({ priority, version: _, color = '', description = '', ...values }: LabelForm) => ({
  ...values,
  color,
  description,
  priority: priority ? Number(priority) : null
})

interface Refused {
  readonly entered?: LabelForm
  readonly refusals?: Readonly<Record<string, string>> | undefined
  readonly isStale?: boolean
}

async function showList(request: FastifyRequest, reply: FastifyReply, refused: Refused = {}): Promise<FastifyReply> {
  const { project, actor, query } = request
  const { page = 1 } = query as { page?: number }
  const all = await readLabels(project, actor)
  return show(request, reply, 'planning/labels', {
    title: 'Labels',
    list: { items: all.slice((page - 1) * LABELS, page * LABELS), total: all.length, page, perPage: LABELS },
    mayWrite: may(actor, 'label.write', project),
    base: pathOf(request),
    projectPath: projectPath(project),
    values: refused.entered ?? { color: '#428BCA' },
    ...refused
  })
}

/** Shows the form of a label, with what was entered if it was refused. */
const showForm = (request: FastifyRequest, reply: FastifyReply, label: LabelRow, refused: Refused = {}) =>
  show(request, reply, 'planning/label', {
    title: 'Edit a label',
    label,
    base: pathOf(request),
    values: { name: label.title, ...label, ...refused.entered },
    version: refused.entered && !refused.isStale ? refused.entered.version : versionOfLabel(label),
    ...refused
  })
