// What happened in a project, as a page with a plot and as a feed.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { may } from '../../../access/authorize.js'
import { readEventLines } from '../../../areas/reach/events/event-lines.js'
import { countProjectEvents, type DayCount, listProjectEvents } from '../../../areas/reach/events/events.queries.js'
import { Paging } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { show } from '../page-routes.js'
import { projectPath } from '../place.js'
import { sendFeed } from './feed.js'
import { type Bar, barPlot } from './plot.js'

const ActivityQuery = Type.Object(Paging)
const DAY_MS = 86_400_000
/** Days that the plot shows. */
const DAYS = 84

export const activityPages: FastifyPluginAsyncTypebox = async app => {
  const read = { config: { can: 'project.read' as const } }

  app.get(
    '/:namespace/:project/activity',
    { ...read, schema: { querystring: ActivityQuery } },
    async (request, reply) => {
      const reader = readerOf(request)
      const [page, counts] = await Promise.all([
        listProjectEvents(request.project, request.query, reader),
        countProjectEvents(request.project, new Date(firstDay()), reader)
      ])
      const events = { ...page, items: await readEventLines(page.items) }
      return show(request, reply, 'projects/activity', {
        title: 'Activity',
        events,
        plot: barPlot(`Events on each of the last ${DAYS} days`, barsOf(counts)),
        days: DAYS,
        feed: `${projectPath(request.project)}/activity.atom`
      })
    }
  )

  app.get('/:namespace/:project/activity.atom', read, async (request, reply) => {
    const { project } = request
    const page = await listProjectEvents(project, {}, readerOf(request))
    return sendFeed(reply, {
      title: `${project.namespace_name} / ${project.name}`,
      page: `${projectPath(project)}/activity`,
      events: await readEventLines(page.items)
    })
  })
}

const readerOf = ({ project, actor }: FastifyRequest) => ({ code: may(actor, 'repository.read', project), actor })

/** The first of the days, as a time in UTC. */
const firstDay = (): number => Math.floor(Date.now() / DAY_MS) * DAY_MS - (DAYS - 1) * DAY_MS

function barsOf(counts: readonly DayCount[]): Bar[] {
  const known = new Map(counts.map(({ day, count }) => [day, count]))
  return Array.from({ length: DAYS }, (_, at) => {
    const day = new Date(firstDay() + at * DAY_MS).toISOString().slice(0, 10)
    return { label: day, count: known.get(day) ?? 0 }
  })
}
