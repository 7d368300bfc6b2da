import { Readable } from 'node:stream'
import { storeUpload } from '../../../../src/areas/projects/uploads/uploads.js'
import { READ_PROJECT, SEE_PROJECT } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'
import { formOf } from './form.js'

export const access: ResourceAccess = {
  project: {
    'POST /api/v3/projects/:id/uploads': { expected: SEE_PROJECT(201), specimen: () => formOf('a.txt', 'x') },
    'GET /:namespace/:project/uploads/:secret/:name': {
      expected: READ_PROJECT,
      specimen: async ({ project }) => {
        const { secret, name } = await storeUpload(project, { name: 'a.png', stream: Readable.from(['x']) })
        const path = project.path.split('/')[1] ?? ''
        return { params: { secret, name, project: path } }
      }
    }
  }
}
