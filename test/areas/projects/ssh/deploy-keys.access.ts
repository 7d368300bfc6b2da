import { addDeployKey, addPublicKey } from '../../../../src/areas/projects/ssh/deploy-keys.js'
import { ADMINISTRATOR } from '../../../access/actors.js'
import { administer } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'
import type { Asking } from '../../../access/world.js'
import { someOrigin } from '../../../helpers/factory.js'
import { newKey } from '../../../helpers/ssh-keys.js'

const body = () => ({ title: 'deploy', key: newKey() })
const aKey = () => ({ payload: body() })

async function ownKey({ project }: Asking) {
  const { id } = await addDeployKey(project, body(), someOrigin)
  return { params: { key_id: id } }
}

async function publicKey() {
  const { id } = await addPublicKey(body(), someOrigin)
  return { params: { key_id: id } }
}

const below = (path: string) => ({
  [`GET ${path}`]: { expected: administer('master') },
  [`GET ${path}/:key_id`]: { expected: administer('master'), specimen: ownKey },
  [`POST ${path}`]: { expected: administer('master', 201), specimen: aKey },
  [`POST ${path}/:key_id/enable`]: { expected: administer('master', 201), specimen: publicKey },
  [`DELETE ${path}/:key_id`]: { expected: administer('master'), specimen: ownKey },
  [`DELETE ${path}/:key_id/disable`]: { expected: administer('master'), specimen: ownKey }
})

export const access: ResourceAccess = {
  instance: { 'GET /api/v3/deploy_keys': { expected: ADMINISTRATOR } },
  project: { ...below('/api/v3/projects/:id/deploy_keys'), ...below('/api/v3/projects/:id/keys') }
}
