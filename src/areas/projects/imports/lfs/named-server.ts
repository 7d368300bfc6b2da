// The file `.lfsconfig` of the default branch: there a repository names the server that has its files in LFS, if it is not its own.
// Everybody who may push can write it. So that server gets the credentials of no other one, and the address rules apply.
import { readConfigFile } from '../../../../git/repository/config-file.js'
import type { LfsServer } from './client.js'

/** What a clone, which names its source `origin`, obeys. */
const KEYS = ['lfs.url', 'remote.origin.lfsurl']

/** Returns the server that a commit names; `own`, the server of the repository, when it names none by http or https. */
export async function namedServer(
  repository: string,
  commit: string | null | undefined,
  own: LfsServer | null
): Promise<LfsServer | null> {
  if (!commit) return own
  const settings = await readConfigFile(repository, commit, '.lfsconfig')
  const text = KEYS.map(key => settings.get(key)).find(value => value !== undefined)
  if (text === undefined || !URL.canParse(text)) return own
  const endpoint = new URL(text)
  if (!/^https?:$/.test(endpoint.protocol)) return own
  endpoint.username = endpoint.password = endpoint.search = endpoint.hash = ''
  endpoint.pathname = endpoint.pathname.replace(/\/+$/, '')
  return { endpoint, header: own?.endpoint.origin === endpoint.origin ? own.header : {} }
}
