import { statuses } from '../access/actors.js'
import { FETCH, write } from '../access/expectations.js'
import type { ResourceAccess } from '../access/resource.js'

const flush = () => ({ payload: '0000', headers: { 'content-type': 'application/x-git-request' } })

const lfs = {
  expected: statuses({ others: 501 }),
  specimen: () => ({ params: { namespace: 'some', project: 'thing.git' } })
}

export const access: ResourceAccess = {
  // The answer is the same for everybody and every path, even for paths that do not exist.
  instance: {
    'POST /:namespace/:project/info/lfs/objects/batch': lfs,
    'GET /:namespace/:project/info/lfs/locks': lfs,
    'POST /:namespace/:project/info/lfs/locks': lfs,
    'POST /:namespace/:project/info/lfs/locks/verify': lfs
  },
  project: {
    'GET /:namespace/:project/info/refs': {
      expected: FETCH,
      specimen: () => ({ query: { service: 'git-upload-pack' } })
    },
    'POST /:namespace/:project/git-upload-pack': { expected: FETCH, specimen: flush },
    'POST /:namespace/:project/git-receive-pack': { expected: write(200), specimen: flush }
  }
}
