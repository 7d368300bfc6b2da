import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { askerOf } from '../../../access/actor.js'
import { ProjectParams } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { readLabel, readLabels } from './label-readings.js'
import {
  changeLabelSubscription,
  createLabel,
  deleteLabel,
  requireLabel,
  requireOwnLabel,
  updateLabel
} from './labels.js'
import { LabelBody, LabelChange, LabelName, LabelParams } from './labels.schema.js'
import { Label, viewLabel } from './labels.view.js'

export const labelRoutes: FastifyPluginAsyncTypebox = async app => {
  const tags = ['Labels']
  const one = { tags, params: ProjectParams, response: { 200: Label } }

  app.get(
    '/projects/:id/labels',
    {
      config: { can: 'label.read', kept: true },
      schema: {
        tags,
        summary: 'List the labels of a project',
        description: 'Sorted by title, including the labels of its group.',
        params: ProjectParams,
        response: { 200: Type.Array(Label) }
      }
    },
    async ({ project, actor }) => (await readLabels(project, actor)).map(viewLabel)
  )

  app.post(
    '/projects/:id/labels',
    {
      config: { can: 'label.write' },
      schema: {
        tags,
        summary: 'Create a label',
        params: ProjectParams,
        body: LabelBody,
        response: { 201: Label },
        errors: [409]
      }
    },
    async ({ project, body, actor }, reply) =>
      reply.code(201).send(viewLabel(await readLabel(project, await createLabel(project, body), actor)))
  )

  app.put(
    '/projects/:id/labels',
    {
      config: { can: 'label.write' },
      schema: {
        ...one,
        summary: 'Change a label',
        description: 'Labels of the group cannot be changed here.',
        body: LabelChange
      }
    },
    async ({ project, body, actor }) => viewLabel(await readLabel(project, await updateLabel(project, body), actor))
  )

  app.delete(
    '/projects/:id/labels',
    {
      config: { can: 'label.write' },
      schema: {
        ...one,
        summary: 'Delete a label',
        description: 'Labels of the group cannot be deleted here.',
        querystring: LabelName
      }
    },
    async ({ project, query, actor }) => {
      const reading = await readLabel(project, await requireOwnLabel(project, query.name), actor)
      await deleteLabel(reading.label)
      return viewLabel(reading)
    }
  )

  const subscription = { ...one, params: LabelParams, errors: [304 as const] }

  app.post(
    '/projects/:id/labels/:label_id/subscription',
    {
      config: { can: 'label.read' },
      schema: { ...subscription, response: { 201: Label }, summary: 'Subscribe to a label' }
    },
    async ({ project, params, actor }, reply) => {
      const label = await requireLabel(project, params.label_id)
      await changeLabelSubscription(project, label, askerOf(actor).id, true)
      return reply.code(201).send(viewLabel(await readLabel(project, label, actor)))
    }
  )

  app.delete(
    '/projects/:id/labels/:label_id/subscription',
    { config: { can: 'label.read' }, schema: { ...subscription, summary: 'End the subscription to a label' } },
    async ({ project, params, actor }) => {
      const label = await requireLabel(project, params.label_id)
      await changeLabelSubscription(project, label, askerOf(actor).id, false)
      return viewLabel(await readLabel(project, label, actor))
    }
  )
}
