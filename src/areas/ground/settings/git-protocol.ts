// The setting enabled_git_access_protocol: the protocols that git may use.
import { applicationSettings } from './settings.queries.js'

export type GitProtocol = 'http' | 'ssh'

/** What git shows when its protocol is switched off. */
export const PROTOCOL_OFF: { readonly [Protocol in GitProtocol]: string } = {
  http: 'Git over HTTP is switched off: use SSH',
  ssh: 'Git over SSH is switched off: use HTTP'
}

const OTHER = { http: 'ssh', ssh: 'http' } as const

/** Returns whether the settings allow a protocol. Servers call it for each request or connection; it reads one row. */
export async function gitProtocolAllowed(protocol: GitProtocol): Promise<boolean> {
  return (await applicationSettings()).enabled_git_access_protocol !== OTHER[protocol]
}
