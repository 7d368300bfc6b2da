// The record of a service.
import { Flag, IdOf, Moment, Nullable, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { EVENT_FLAGS, type EventFlag, KINDS } from './kinds.js'
import { propertiesOf, type Service as ServiceReading } from './services.queries.js'
import { fields } from './services.schema.js'

const heard = Object.fromEntries(
  EVENT_FLAGS.map(name => [name, Flag('whether it reacts to the events of hooks with this flag')])
) as { readonly [Name in EventFlag]: ReturnType<typeof Flag> }

export const Service = Type.Object(
  {
    id: Nullable(IdOf('the service; null until it is saved')),
    title: Text('the display name'),
    created_at: Nullable(Moment('when it was first saved; null before')),
    updated_at: Nullable(Moment('when it last changed; null before it is saved')),
    active: Flag('whether it is active'),
    ...heard,
    properties: Type.Object(fields, {
      title: 'ServiceProperties',
      description: 'The stored fields of a service.'
    })
  },
  { title: 'Service', description: 'An integration of a project with another program, or with mail.' }
)

export function viewService(service: ServiceReading) {
  const { row, slug } = service
  const kind = KINDS[slug]
  const properties = propertiesOf(service)
  const events: readonly EventFlag[] = kind.events
  return {
    id: row?.id ?? null,
    title: properties.title || kind.title,
    created_at: row?.created_at ?? null,
    updated_at: row?.updated_at ?? null,
    active: row?.active === 1,
    push_events: events.includes('push_events'),
    issues_events: events.includes('issues_events'),
    merge_requests_events: events.includes('merge_requests_events'),
    tag_push_events: events.includes('tag_push_events'),
    note_events: events.includes('note_events'),
    build_events: events.includes('build_events'),
    pipeline_events: events.includes('pipeline_events'),
    properties
  }
}
