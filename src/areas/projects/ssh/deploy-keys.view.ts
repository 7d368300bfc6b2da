import { Flag, IdOf, Moment, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import type { DeployKeyLink } from './deploy-keys.js'
import type { DeployKeyRow, ListedDeployKeyRow } from './deploy-keys.queries.js'

export const DeployKey = Type.Object(
  {
    id: IdOf('the deploy key'),
    title: Text('the name of the key'),
    key: Text('the public key, one line as in `authorized_keys`'),
    created_at: Moment('when it was added'),
    can_push: Flag('whether it may push; otherwise it only reads')
  },
  { title: 'DeployKey', description: 'A key that gives SSH access to the repositories of its projects.' }
)

export const viewDeployKey = (row: DeployKeyRow) => ({
  id: row.id,
  title: row.title,
  key: row.public_key,
  created_at: row.created_at,
  can_push: row.can_push === 1
})

/** Decided: DELETE returns the full record. */
export const RemovedDeployKey = Type.Object(
  {
    id: IdOf('the link of the key and the project'),
    deploy_key_id: IdOf('the deploy key'),
    project_id: IdOf('the project'),
    created_at: Moment('when the project got the key'),
    updated_at: Moment('the same as `created_at`')
  },
  { title: 'RemovedDeployKey', description: 'The removed link of a deploy key and a project.' }
)

export const viewRemovedDeployKey = (link: DeployKeyLink) => ({
  id: link.id,
  deploy_key_id: link.deploy_key_id,
  project_id: link.project_id,
  created_at: link.created_at,
  updated_at: link.updated_at
})

/** Returns the view for the command line. */
export const viewDeployKeyInList = (row: ListedDeployKeyRow) => ({
  ...viewDeployKey(row),
  public: row.is_public === 1,
  fingerprint: `SHA256:${row.fingerprint}`,
  last_used_at: row.last_used_at,
  projects: row.projects === null ? [] : row.projects.split('\n')
})
