import { created, EVERYBODY } from '../../../access/actors.js'
import { administer } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'
import type { Asking } from '../../../access/world.js'
import { makeMirror } from './make-mirrors.js'

const aPushMirror = async ({ project }: Asking) => ({
  params: { mirror_id: (await makeMirror(project, 'push')).id },
  payload: {}
})
const aPullMirror = async ({ project }: Asking) => {
  await makeMirror(project, 'pull')
  return { payload: {} }
}
const aHookCall = async ({ project }: Asking) => ({
  params: { id: project.id },
  headers: { 'x-gitstead-token': (await makeMirror(project, 'pull')).token }
})
const payload = { url: 'https://git.example.org/a.git' }
const master = administer('master')

export const access: ResourceAccess = {
  instance: {
    'POST /api/v3/projects/:id/mirror/pull/hook': { expected: created(EVERYBODY), specimen: aHookCall }
  },
  project: {
    'GET /api/v3/projects/:id/remote_mirrors': { expected: master },
    'POST /api/v3/projects/:id/remote_mirrors': { expected: administer('master', 201), specimen: () => ({ payload }) },
    'GET /api/v3/projects/:id/remote_mirrors/:mirror_id': { expected: master, specimen: aPushMirror },
    'PUT /api/v3/projects/:id/remote_mirrors/:mirror_id': { expected: master, specimen: aPushMirror },
    'DELETE /api/v3/projects/:id/remote_mirrors/:mirror_id': { expected: master, specimen: aPushMirror },
    'POST /api/v3/projects/:id/remote_mirrors/:mirror_id/sync': {
      expected: administer('master', 201),
      specimen: aPushMirror
    },
    'GET /api/v3/projects/:id/mirror/pull': { expected: master, specimen: aPullMirror },
    'PUT /api/v3/projects/:id/mirror/pull': { expected: master, specimen: aPullMirror },
    'DELETE /api/v3/projects/:id/mirror/pull': { expected: master, specimen: aPullMirror },
    'POST /api/v3/projects/:id/mirror/pull': { expected: administer('master', 201), specimen: aPullMirror }
  }
}
