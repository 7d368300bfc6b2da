// The setting enabled_git_access_protocol: the protocols that git may use.
import { storedSettings } from './settings.queries.js'
import type { Settings } from './settings.table.js'

export type GitProtocol = 'http' | 'ssh'

/** What git shows when its protocol is switched off. */
export const PROTOCOL_OFF: { readonly [Protocol in GitProtocol]: string } = {
  http: 'Git over HTTP is switched off: use SSH',
  ssh: 'Git over SSH is switched off: use HTTP'
}

const OTHER = { http: 'ssh', ssh: 'http' } as const

/** Returns whether settings, as the database stores them, allow a protocol. Both are allowed by default. */
export function allowsProtocol(stored: string | null, protocol: GitProtocol): boolean {
  const { enabled_git_access_protocol: only } = JSON.parse(stored ?? '{}') as Partial<Settings>
  return only !== OTHER[protocol]
}

/** Returns whether the settings allow a protocol. Servers call it for each request or connection; it reads one row. */
export async function gitProtocolAllowed(protocol: GitProtocol): Promise<boolean> {
  return allowsProtocol(await storedSettings(), protocol)
}
