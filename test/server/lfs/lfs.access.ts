import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { storeObject } from '../../../src/areas/projects/lfs/objects.js'
import { execute, row } from '../../../src/db/connect/sql.js'
import { FETCH, write } from '../../access/expectations.js'
import type { ResourceAccess } from '../../access/resource.js'
import type { Asking } from '../../access/world.js'

const bytes = Buffer.from('large')
const oid = createHash('sha256').update(bytes).digest('hex')
const headers = { 'content-type': 'application/vnd.git-lfs+json' }
const asks = (payload: object) => ({ payload: JSON.stringify(payload), headers })

const stored = async ({ project }: Asking) => {
  await storeObject(project.id, { oid, size: bytes.length }, () => Readable.from([bytes]))
  return { params: { oid } }
}

let made = 0

const locked = async ({ project, user }: Asking) => {
  const path = `locked-${++made}`
  await execute(
    'insert into lfs_locks (project_id, path, path_hash, user_id, created_at) values (?, ?, sha2(?, 256), ?, now(3))',
    [project.id, path, path, user.id]
  )
  const lock = await row<{ id: number }>('select max(id) as id from lfs_locks')
  return { params: { lock: lock?.id ?? 0 }, ...asks({}) }
}

export const access: ResourceAccess = {
  project: {
    'POST /:namespace/:project/info/lfs/objects/batch': {
      expected: FETCH,
      specimen: () => asks({ operation: 'download', objects: [{ oid, size: bytes.length }] })
    },
    'GET /:namespace/:project/info/lfs/objects/:oid': { expected: FETCH, specimen: stored },
    'PUT /:namespace/:project/info/lfs/objects/:oid': {
      expected: write(200),
      specimen: () => ({
        params: { oid },
        payload: bytes,
        query: { size: bytes.length },
        headers: { 'content-type': 'application/octet-stream' }
      })
    },
    'POST /:namespace/:project/info/lfs/objects/verify': {
      expected: write(200),
      specimen: async asking => ({ ...(await stored(asking)), ...asks({ oid, size: bytes.length }) })
    },
    'GET /:namespace/:project/info/lfs/locks': { expected: FETCH },
    'POST /:namespace/:project/info/lfs/locks': {
      expected: write(201),
      specimen: () => asks({ path: `made-${++made}` })
    },
    'POST /:namespace/:project/info/lfs/locks/verify': { expected: write(200), specimen: () => asks({}) },
    'POST /:namespace/:project/info/lfs/locks/:lock/unlock': { expected: write(200), specimen: locked }
  }
}
