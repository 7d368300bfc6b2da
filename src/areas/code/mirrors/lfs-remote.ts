// Where the LFS of a remote is, and what opens it: the password of the mirror, or what the server answers over SSH.

import { parseStored } from '../../../lib/stored-json.js'
import type { Gateway } from '../../projects/imports/egress-proxy.js'
import { type Action, actionOf, type LfsOperation } from '../../projects/imports/lfs/batch.js'
import { type LfsServer, lfsServerOf } from '../../projects/imports/lfs/client.js'
import { MirrorProblem } from './mirror-problem.js'
import type { MirrorAddress } from './mirror-url.js'
import { askOverSsh, type SshServer } from './ssh-door.js'

/** The LFS of a remote that git reaches by HTTP. */
export const lfsOverHttp = ({ url }: MirrorAddress, username: string, password: string): LfsServer =>
  lfsServerOf({ url: new URL(url), username, password })

/** Asks the server for an address and a token. Null when it has no LFS to pull from. Throws MirrorProblem when it takes none. */
export async function lfsOverSsh(
  gateway: Gateway,
  server: SshServer,
  { operation, seen }: { readonly operation: LfsOperation; readonly seen: (key: string) => void }
): Promise<LfsServer | null> {
  const answer = await askOverSsh(gateway, server, { command: 'git-lfs-authenticate', word: operation, seen })
  const action: Action | null = actionOf(parseStored(answer ?? 'null', null))
  if (!action && operation === 'upload')
    throw new MirrorProblem('lfs_failed', 'the server does not take files of LFS over SSH')
  if (!action) return null
  const { href: endpoint, header } = action
  endpoint.pathname = endpoint.pathname.replace(/\/+$/, '')
  return { endpoint, header }
}
