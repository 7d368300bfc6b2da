// The setting enabled_git_access_protocol: by which protocols git may come.
import { applicationSettings } from './settings.queries.js'

export type GitProtocol = 'http' | 'ssh'

/** What git shows when its protocol is switched off. */
export const PROTOCOL_OFF: { readonly [Protocol in GitProtocol]: string } = {
  http: 'Git over HTTP is switched off: use SSH',
  ssh: 'Git over SSH is switched off: use HTTP'
}

const OTHER = { http: 'ssh', ssh: 'http' } as const

/** Whether the settings let git use a protocol now. It reads one row: servers ask at each request or connection. */
export async function gitProtocolAllowed(protocol: GitProtocol): Promise<boolean> {
  return (await applicationSettings()).enabled_git_access_protocol !== OTHER[protocol]
}
