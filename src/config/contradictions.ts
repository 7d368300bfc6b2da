// Rules about settings that only make sense together.
import type { Problem, ValuesOf } from '../lib/rules.js'
import { ldapProblems } from './ldap.js'
import { oidcProblems } from './oidc.js'
import { scimProblems } from './scim.js'
import type { SETTINGS } from './shape.js'

/** Returns the contradictions between settings that each fit their own rule. */
export function contradictionsIn({ runner, identity, ...files }: ValuesOf<typeof SETTINGS>): Problem[] {
  return [
    ...dockerProblems(runner),
    ...bucketProblems(files),
    ...passwordProblems(identity),
    ...nameProblems(identity),
    ...ldapProblems(identity.ldap),
    ...scimProblems(identity.scim, [identity.oidc, identity.ldap]),
    ...oidcProblems(identity.oidc, identity.ldap)
  ]
}

function passwordProblems({ passwords }: ValuesOf<typeof SETTINGS>['identity']): Problem[] {
  if (passwords.local || passwords.local_for.length > 0) return []
  const path = 'identity.passwords.local_for'
  const why = 'nobody could sign in while the provider is away'
  return [{ path, text: `${path} must name an administrator when identity.passwords.local is false: ${why}` }]
}

/** Sessions, identities and memberships have these words in the place of a provider. */
const RESERVED = ['password', 'passkey', 'scim']

function nameProblems({ oidc, ldap }: ValuesOf<typeof SETTINGS>['identity']): Problem[] {
  return Object.entries({ oidc, ldap }).flatMap(([kind, entries]) =>
    RESERVED.filter(name => Object.hasOwn(entries, name)).map(name => {
      const path = `identity.${kind}.${name}`
      return { path, text: `${path} cannot have this name: choose another one` }
    })
  )
}

function bucketProblems({
  storage,
  artifacts,
  uploads
}: Pick<ValuesOf<typeof SETTINGS>, 'storage' | 'artifacts' | 'uploads'>): Problem[] {
  const found: Problem[] = []
  const hasBucket = storage.s3.bucket !== null || artifacts.s3.bucket !== null
  const add = (path: string, why: string) => void found.push({ path, text: `${path} ${why}` })
  if (storage.s3.bucket !== null && artifacts.s3.bucket !== null) {
    add('artifacts.s3.bucket', 'is the former name of storage.s3.bucket, which is set too: keep only storage.s3')
  }
  if (!hasBucket) {
    const wanting = Object.entries(storage).flatMap(([kind, place]) => (place === 's3' ? [`storage.${kind}`] : []))
    for (const path of wanting) add(path, 'is s3, but storage.s3.bucket names no bucket')
    if (uploads.bucket) add('uploads.bucket', 'is true, but storage.s3.bucket names no bucket')
  }
  if (storage.growing_traces === 'database' && (!hasBucket || storage.traces === 'folder')) {
    add(
      'storage.growing_traces',
      'is database, but then ended traces need a bucket: set storage.s3.bucket, and storage.traces to s3'
    )
  }
  if (uploads.bucket && storage.uploads === 'folder') {
    add('uploads.bucket', 'is the former name of storage.uploads: s3, but storage.uploads is folder')
  }
  return found
}

function dockerProblems(runner: ValuesOf<typeof SETTINGS>['runner']): Problem[] {
  const { socket, tls } = runner.docker
  if (!socket.startsWith('tcp:')) return []
  return Object.entries(tls).flatMap(([key, file]) => {
    const path = `runner.docker.tls.${key}`
    const why = 'anyone who reaches an engine by TCP without certificates is root on its machine'
    return file === null ? [{ path, text: `${path} must be a file when runner.docker.socket is tcp://: ${why}` }] : []
  })
}
