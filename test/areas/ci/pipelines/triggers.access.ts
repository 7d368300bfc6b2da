import { created, EVERYBODY } from '../../../access/actors.js'
import { administer, withBuilds } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'
import type { Asking } from '../../../access/world.js'
import { makeTrigger } from './make-triggers.js'

const aTrigger = async ({ project }: Asking) => ({ params: { token: await makeTrigger(project) } })
/** The caller of a trigger sends only its token. */
const aCall = async ({ project }: Asking) => ({
  params: { id: project.id, ref: 'master' },
  payload: { token: await makeTrigger(project), ref: 'master' }
})

export const access: ResourceAccess = {
  instance: {
    'POST /api/v3/projects/:id/trigger/builds': { expected: created(EVERYBODY), specimen: aCall },
    'POST /api/v3/projects/:id/ref/:ref/trigger/builds': { expected: created(EVERYBODY), specimen: aCall }
  },
  project: {
    'GET /api/v3/projects/:id/triggers': { expected: withBuilds(administer('master')) },
    'GET /api/v3/projects/:id/triggers/:token': { expected: withBuilds(administer('master')), specimen: aTrigger },
    'POST /api/v3/projects/:id/triggers': { expected: withBuilds(administer('master', 201)) },
    'DELETE /api/v3/projects/:id/triggers/:token': { expected: withBuilds(administer('master')), specimen: aTrigger }
  }
}
