// Signs the tokens of a build for `id_tokens` of the CI file. They are created when the build is described to its
// runner, and never stored. A build of a fork belongs to the fork, and its tokens say so.
import { randomUUID, sign } from 'node:crypto'
import type { CiIdToken, CiVariable } from '../../../ci/config-types.js'
import { expand } from '../../../ci/variables.js'
import { publicUrl } from '../../../config.js'
import { type SigningKey, signingKey } from './signing-key.js'

/** The identity of a build in a token. Ids are texts, because verifiers compare them as texts. */
export interface Identity {
  readonly namespaceId: number
  readonly namespacePath: string
  readonly projectId: number
  readonly projectPath: string
  /** The user who started the build; null when a trigger token started it. */
  readonly user: { readonly id: number; readonly login: string; readonly email: string } | null
  readonly pipelineId: number
  readonly pipelineSource: string
  readonly buildId: number
  readonly ref: string
  readonly tag: boolean
  readonly refProtected: boolean
  readonly sha: string
  readonly environment: string | null
  readonly runnerId: number
  /** The time limit of the build in seconds. */
  readonly timeout: number
}

export const CLAIMS = [
  ...['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti', 'namespace_id', 'namespace_path', 'project_id', 'project_path'],
  ...['user_id', 'user_login', 'user_email', 'pipeline_id', 'pipeline_source', 'job_id', 'ref', 'ref_type', 'ref_path'],
  ...['ref_protected', 'environment', 'sha', 'runner_id', 'runner_environment']
]

/** Seconds. Not specified: a token cannot be revoked, so no token is valid for longer. */
const LONGEST_LIFE = 86_400
/** Characters of an audience after its variables are replaced. */
const LONGEST_AUDIENCE = 1000

/** Returns the tokens of a build as variables. `variables` are those that an audience may contain. */
export async function signedTokens(
  tokens: readonly CiIdToken[],
  identity: Identity,
  variables: readonly CiVariable[]
): Promise<CiVariable[]> {
  if (tokens.length === 0) return []
  const key = await signingKey()
  const claims = claimsOf(identity)
  return tokens.map(({ name, audiences }) => {
    const [first = '', ...others] = audiences.map(each => expand(each, variables).slice(0, LONGEST_AUDIENCE))
    const aud = others.length === 0 ? first : [first, ...others]
    return { key: name, value: signed({ ...claims, aud, jti: randomUUID() }, key), raw: true }
  })
}

function claimsOf(identity: Identity) {
  const { ref, tag, user, environment } = identity
  const refType = tag ? 'tag' : 'branch'
  const now = Math.floor(Date.now() / 1000)
  return {
    iss: publicUrl(),
    sub: `project_path:${identity.projectPath}:ref_type:${refType}:ref:${ref}`,
    iat: now,
    // Clocks differ.
    nbf: now - 5,
    exp: now + Math.min(identity.timeout, LONGEST_LIFE),
    namespace_id: String(identity.namespaceId),
    namespace_path: identity.namespacePath,
    project_id: String(identity.projectId),
    project_path: identity.projectPath,
    ...(user && { user_id: String(user.id), user_login: user.login, user_email: user.email }),
    pipeline_id: String(identity.pipelineId),
    pipeline_source: identity.pipelineSource,
    job_id: String(identity.buildId),
    ref,
    ref_type: refType,
    ref_path: `refs/${tag ? 'tags' : 'heads'}/${ref}`,
    ref_protected: String(identity.refProtected),
    ...(environment !== null && { environment }),
    sha: identity.sha,
    runner_id: identity.runnerId,
    runner_environment: 'self-hosted'
  }
}

function signed(claims: object, { header, privateKey }: SigningKey): string {
  const text = `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`
  return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`
}
