import { FETCH, write } from '../access/expectations.js'
import type { ResourceAccess } from '../access/resource.js'

const flush = () => ({ payload: '0000', headers: { 'content-type': 'application/x-git-request' } })

export const access: ResourceAccess = {
  project: {
    'GET /:namespace/:project/info/refs': {
      expected: FETCH,
      specimen: () => ({ query: { service: 'git-upload-pack' } })
    },
    'POST /:namespace/:project/git-upload-pack': { expected: FETCH, specimen: flush },
    'POST /:namespace/:project/git-receive-pack': { expected: write(200), specimen: flush }
  }
}
