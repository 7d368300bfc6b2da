// What a directory reads first: what works here, and which attributes there are (RFC 7643, 5 to 7).
import { publicUrl } from '../../../config.js'
import { LARGEST_BULK, MOST_OPERATIONS } from './bulk.js'
import { GROUP } from './group-resource.js'
import { MOST_IN_LIST } from './lists.js'
import { USER } from './user-resource.js'

const CONFIGURATION = 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'
const RESOURCE_TYPE = 'urn:ietf:params:scim:schemas:core:2.0:ResourceType'
const SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Schema'

const place = (path: string) => `${publicUrl()}/scim/v2/${path}`
const unsupported = { supported: false }

export const viewConfiguration = () => ({
  schemas: [CONFIGURATION],
  patch: { supported: true },
  bulk: { supported: true, maxOperations: MOST_OPERATIONS, maxPayloadSize: LARGEST_BULK },
  filter: { supported: true, maxResults: MOST_IN_LIST },
  changePassword: unsupported,
  sort: { supported: true },
  etag: { supported: true },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'Bearer token',
      description: 'A token of `gitstead scim tokens create`',
      specUri: 'https://www.rfc-editor.org/info/rfc6750',
      primary: true
    }
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: place('ServiceProviderConfig') }
})

const resourceType = (name: 'User' | 'Group', schema: string, description: string) => ({
  schemas: [RESOURCE_TYPE],
  id: name,
  name,
  endpoint: `/${name}s`,
  description,
  schema,
  meta: { resourceType: 'ResourceType', location: place(`ResourceTypes/${name}`) }
})

export const viewResourceTypes = () => [
  resourceType('User', USER, 'An account that the directory manages'),
  resourceType('Group', GROUP, 'A group of the directory')
]

interface Limits {
  readonly [characteristic: string]: unknown
}

const attribute = (name: string, description: string, limits: Limits = {}) => ({
  name,
  type: 'string',
  multiValued: false,
  description,
  required: false,
  caseExact: false,
  mutability: 'readWrite',
  returned: 'default',
  uniqueness: 'none',
  ...limits
})

const reference = (to: string, limits: Limits = {}) =>
  attribute('$ref', 'The address of the resource', {
    type: 'reference',
    referenceTypes: [to],
    caseExact: true,
    ...limits
  })

const READ_ONLY = { mutability: 'readOnly' }

const EXTERNAL_ID = attribute('externalId', 'The id in the directory', { caseExact: true })

const USER_SCHEMA = [
  attribute('userName', 'The name in the directory', { required: true, uniqueness: 'server' }),
  EXTERNAL_ID,
  attribute('name', 'The parts of the name', {
    type: 'complex',
    subAttributes: [
      attribute('formatted', 'The whole name'),
      attribute('givenName', 'The given name'),
      attribute('familyName', 'The family name')
    ]
  }),
  attribute('displayName', 'The name that others see'),
  attribute('active', 'False blocks the account', { type: 'boolean' }),
  // Not specified: RFC 7643 does not require an address, but an account needs one. A userName that is an address is enough.
  attribute('emails', 'The address of the account; of several, the primary one', {
    type: 'complex',
    multiValued: true,
    required: true,
    subAttributes: [
      attribute('value', 'The address', { required: true, uniqueness: 'server' }),
      attribute('type', 'Such as work'),
      attribute('primary', 'Whether it is the primary address', { type: 'boolean' })
    ]
  }),
  attribute('groups', 'The groups of the directory that the user is in', {
    ...READ_ONLY,
    type: 'complex',
    multiValued: true,
    subAttributes: [
      attribute('value', 'The id of the group', READ_ONLY),
      reference('Group', READ_ONLY),
      attribute('display', 'The name of the group', READ_ONLY),
      attribute('type', 'Always direct', READ_ONLY)
    ]
  })
]

const GROUP_SCHEMA = [
  attribute('displayName', 'The name of the group', { required: true, uniqueness: 'server' }),
  EXTERNAL_ID,
  attribute('members', 'The users in the group', {
    type: 'complex',
    multiValued: true,
    subAttributes: [
      attribute('value', 'The id of the user', { mutability: 'immutable', required: true }),
      reference('User', { mutability: 'immutable' }),
      attribute('display', 'The userName of the user', READ_ONLY),
      attribute('type', 'Always User', { mutability: 'immutable' })
    ]
  })
]

const schema = (id: string, name: string, description: string, attributes: readonly object[]) => ({
  schemas: [SCHEMA],
  id,
  name,
  description,
  attributes,
  meta: { resourceType: 'Schema', location: place(`Schemas/${id}`) }
})

export const viewSchemas = () => [
  schema(USER, 'User', 'An account that the directory manages', USER_SCHEMA),
  schema(GROUP, 'Group', 'A group of the directory', GROUP_SCHEMA)
]
