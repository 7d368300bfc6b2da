// The link of a fork to its source, as the database has it.
import { IdOf, Moment } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import type { ForkLink } from '../projects/fork-links.js'

export const ForkRelation = Type.Object(
  {
    id: IdOf('the link'),
    forked_to_project_id: IdOf('the fork'),
    forked_from_project_id: IdOf('the source of the fork'),
    created_at: Moment('when the link was created'),
    updated_at: Moment('when the link was last changed')
  },
  { title: 'ForkRelation', description: 'The link of a fork to its source project.' }
)

export const viewForkLink = (link: ForkLink) => ({
  id: link.id,
  forked_to_project_id: link.forked_to_project_id,
  forked_from_project_id: link.forked_from_project_id,
  created_at: link.created_at,
  updated_at: link.updated_at
})
