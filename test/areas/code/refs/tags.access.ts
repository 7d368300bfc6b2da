import { READ_REPOSITORY, write } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'
import type { Asking } from '../../../access/world.js'

/** Each actor creates and deletes a tag of its own. */
const own = ({ actor }: Asking) => ({ params: { tag_name: `by-${actor}` } })
const notes = (asking: Asking) => ({ ...own(asking), payload: { description: 'new' } })

export const access: ResourceAccess = {
  project: {
    'GET /api/v3/projects/:id/repository/tags': { expected: READ_REPOSITORY },
    'POST /api/v3/projects/:id/repository/tags': {
      expected: write(201),
      specimen: ({ actor }) => ({ payload: { tag_name: `by-${actor}`, ref: 'master' } })
    },
    'GET /api/v3/projects/:id/repository/tags/:tag_name': {
      expected: READ_REPOSITORY,
      specimen: () => ({ params: { tag_name: 'v1' } })
    },
    'POST /api/v3/projects/:id/repository/tags/:tag_name/release': { expected: write(201), specimen: notes },
    'PUT /api/v3/projects/:id/repository/tags/:tag_name/release': { expected: write(200), specimen: notes },
    'DELETE /api/v3/projects/:id/repository/tags/:tag_name': { expected: write(200), specimen: own }
  }
}
